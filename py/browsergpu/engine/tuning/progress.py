"""Progress of a long measurement."""

from __future__ import annotations

import sys
from collections.abc import Callable

#: Called with the number of completed steps, the total, and a description of the next step.
Progress = Callable[[int, int, str], object]

_WIDTH = 32


def show_progress(done: int, total: int, what: str) -> None:
    """Write the progress to one line of standard error, ended after the last step."""
    end = "\n" if done == total else ""
    sys.stderr.write(f"\rtune: {done} of {total}  {what:<{_WIDTH}}{end}")
    sys.stderr.flush()
