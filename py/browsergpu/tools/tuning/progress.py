"""How far a long measurement is."""

from __future__ import annotations

import sys
from collections.abc import Callable

#: Takes how many steps are done, how many there are, and what comes next.
Progress = Callable[[int, int, str], object]

_WIDTH = 32


def show_progress(done: int, total: int, what: str) -> None:
    """Writes it over one line of standard error, which ends with the last step."""
    end = "\n" if done == total else ""
    sys.stderr.write(f"\rtune: {done} of {total}  {what:<{_WIDTH}}{end}")
    sys.stderr.flush()
