"""Bars of the progress of a download, and of the upload of weights."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.networks.data.progress import progress

_MIB = 1 << 20


class Bars(Shown):
    """Shows a bar for each name."""

    def __init__(self) -> None:
        self._what = ""
        self._bar: _Bar | None = None
        self._steps: Any = None

    def report(self, done: int, total: int | None, what: str) -> None:
        """Show a number of bytes."""
        if self._bar is None or what != self._what:
            self._finish()
            self._what, self._bar = what, _Bar(total, what)
            self._steps = iter(self._bar)
            next(self._steps)
        self._bar.size = done
        # A step is a MiB, and the bar ends after the last one.
        while self._bar.done < done // _MIB and next(self._steps, None) is not None:
            pass
        if done == total:
            self._finish()

    def _finish(self) -> None:
        if self._bar is not None:
            self._bar.done = self._bar.total or self._bar.done
            self._steps.close()
            self._bar = None


class _Bar(progress):
    """A bar of bytes, whose steps are MiB."""

    def __init__(self, total: int | None, what: str) -> None:
        super().__init__(iter(int, 1) if total is None else total // _MIB + 1)
        self._what, self._all, self.size = what, total, 0

    def _facts(self) -> list[str]:
        of = "" if self._all is None else f" of {self._all / _MIB:.1f}"
        return [self._what, f"{self.size / _MIB:.1f}{of} MiB", f"{self.rate:.3g} MiB/s"]
