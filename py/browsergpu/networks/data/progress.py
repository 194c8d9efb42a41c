"""A progress bar for loops."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from html import escape
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.gpu import platform
from browsergpu.functions import evaluation, manipulation

_SHOWN_EVERY = 0.25  # seconds
_TAKEN_EVERY = 0.02  # minimum seconds between two kept values
_MOST = 400  # maximum values of each name; then every other one is dropped
_WIDTH, _HEIGHT = 420, 90  # of the curve, in pixels


class progress:
    """Show the progress of a loop and its steps per second.

    Use it as ``for step in browsergpu.data.progress(1000):`` or ``for x, y in progress(loader)``. A
    notebook shows a bar, other environments a line of text. ``note(loss=loss)`` in the loop adds a
    value and its curve.

    Values stay on the GPU. At most 50 a second are kept. They are read together when the bar is
    updated, four times a second, and nothing else is waited for. If Python cannot block, the bar
    does not show values. A loop that ends early, by ``break``, an error or an interrupt, leaves the
    bar as it is.

    Parameters
    ----------
    steps : int or iterable
        The number of steps, or the iterable to loop over.

    Raises
    ------
    InvalidType
        If ``steps`` is neither an integer nor an iterable.
    """

    def __init__(self, steps: Any) -> None:
        op = "progress"
        if isinstance(steps, Iterable):
            self._steps: Iterable[Any] = steps
        elif isinstance(steps, int) and not isinstance(steps, bool):
            self._steps = range(checks.integer(op, "steps", steps))
        else:
            raise InvalidType(op, "steps", steps, "an integer or an iterable")
        #: Total number of steps. None if unknown.
        self.total = _length(self._steps)
        #: Number of completed steps.
        self.done = 0
        #: The values read so far, by name.
        self.values: dict[str, list[float]] = {}
        self._kept: dict[str, list[Any]] = {}  # values not read yet
        self._latest: dict[str, Any] = {}  # values not kept yet
        self._every = 1  # every n-th value is kept
        self._came = 0
        self._began = self._ended = self._taken = self._shown = 0.0
        self._handle: Any = None

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError(
                "progress: the iterable has no len(), so the number of steps is unknown"
            )
        return self.total

    def __iter__(self) -> Iterator[Any]:
        self._began = self._ended = perf_counter()
        self.done = 0
        self._show()
        try:
            for step in self._steps:
                yield step
                self.done += 1
                self._ended = perf_counter()
                if self._ended - self._shown > _SHOWN_EVERY:
                    self._show()
        finally:
            self._take()  # the last value is always kept
            self._show(is_last=True)

    def note(self, **values: Any) -> None:
        """Show numbers, or arrays of one element, by name. Does not wait."""
        self._latest = {name: _checked(name, value) for name, value in values.items()}
        if perf_counter() - self._taken >= _TAKEN_EVERY:
            self._came += 1
            if self._came % self._every == 0:
                self._take()
            self._taken = perf_counter()

    def _take(self) -> None:
        values, self._latest = self._latest, {}
        for name, value in values.items():
            self._kept.setdefault(name, []).append(_kept(value))

    def _read(self) -> None:
        if not platform.can_block():
            return
        for name, kept in self._kept.items():
            arrays = [x for x in kept if isinstance(x, Array)]
            read = iter(manipulation.stack(arrays).tolist() if arrays else ())
            own = self.values.setdefault(name, [])
            own += [next(read) if isinstance(x, Array) else x for x in kept]
            kept.clear()
        if any(len(own) > _MOST for own in self.values.values()):
            self._every *= 2
            self.values = {name: own[1::2] for name, own in self.values.items()}

    def _show(self, is_last: bool = False) -> None:
        self._shown = perf_counter()
        self._read()
        # IPython is imported already if it is in use, and the package does not need it.
        shell, display = (sys.modules.get(name) for name in ("IPython", "IPython.display"))
        if shell is not None and display is not None and shell.get_ipython() is not None:
            if self._handle is None:
                self._handle = display.display(self, display_id=True)
            else:
                self._handle.update(self)
        else:
            print(f"\r{self!r}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        # Start the interval after the update, whose time belongs to no step.
        self._shown = perf_counter()

    @property
    def rate(self) -> float:
        """Steps per second so far."""
        seconds = self._ended - self._began
        return self.done / seconds if seconds else 0.0

    def _facts(self) -> list[str]:
        of = "" if self.total is None else f"/{self.total}"
        facts = [f"{self.done}{of}", f"{self.rate:.3g} steps/s"]
        return facts + [f"{name} {own[-1]:.4g}" for name, own in self.values.items() if own]

    def __repr__(self) -> str:
        return ", ".join(self._facts())

    def _repr_html_(self) -> str:
        share = 0.0 if not self.total else self.done / self.total
        facts = " · ".join(map(escape, self._facts()))
        curves = "".join(_curve(name, own) for name, own in self.values.items() if len(own) > 1)
        bar = "" if self.total is None else f'<progress value="{share:.4f}" max="1"></progress> '
        return f"<div>{bar}<code>{facts}</code></div>{curves}"


def _length(steps: Any) -> int | None:
    """Return the number of steps, or None if it is not known."""
    try:
        return len(steps) if isinstance(steps, Sized) else None
    except TypeError:  # a loader of a dataset without a length
        return None


def _checked(name: str, value: Any) -> Any:
    if isinstance(value, Array) and value.size != 1:
        raise InvalidArgument("note", name, value, "a number")
    if isinstance(value, Array):
        return value
    if not isinstance(value, int | float | np.number) or isinstance(value, np.complexfloating):
        raise InvalidType("note", name, value, "a number")
    return float(value)


def _kept(value: Any) -> Any:
    """Return a copy of an array's value, since a replay may change the array."""
    if isinstance(value, Array):
        value = value.detach().reshape(()).astype(np.float32).copy()
        evaluation.eval(value)
    return value


def _curve(name: str, values: list[float]) -> str:
    """Return a polyline of values in SVG, labeled with the minimum and maximum."""
    finite = [value for value in values if isfinite(value)]
    if not finite:
        return ""
    least, most = min(finite), max(finite)
    span = most - least or 1.0
    step = _WIDTH / max(len(values) - 1, 1)
    points = " ".join(
        f"{n * step:.1f},{_HEIGHT - (value - least) / span * _HEIGHT:.1f}"
        for n, value in enumerate(values)
        if isfinite(value)
    )
    told = f"{escape(name)}: {least:.4g} to {most:.4g}"
    return (
        f'<svg viewBox="-2 -2 {_WIDTH + 4} {_HEIGHT + 4}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="{told}"><title>{told}</title><polyline points="{points}" '
        'fill="none" stroke="currentColor" stroke-width="1.5"></polyline></svg>'
    )
