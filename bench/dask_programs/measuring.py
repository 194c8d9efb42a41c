"""What a program returns, and how its time is taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """Seconds of a run, its rate in ``unit``, and the sizes it used."""

    seconds: float
    rate: float
    unit: str
    sizes: dict[str, Any]


def timed(repeats: int, call: Callable[[], Any]) -> float:
    """Return the median seconds of ``repeats`` calls, after one that warms up."""
    call()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return median(found)
