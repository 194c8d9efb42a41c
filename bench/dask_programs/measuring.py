"""The result of a program, and its timing."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """Seconds of a run, its rate in ``unit``, and its sizes."""

    seconds: float
    rate: float
    unit: str
    sizes: dict[str, Any]


def timed(repeats: int, call: Callable[[], Any]) -> float:
    """Return the median seconds of ``repeats`` calls, after one warm-up call."""
    call()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return median(found)
