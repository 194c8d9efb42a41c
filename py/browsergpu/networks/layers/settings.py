"""What several layers check of their arguments."""

from __future__ import annotations

from typing import Any

from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument


def each_axis(op: str, name: str, value: Any, rank: int, minimum: int) -> tuple[int, ...]:
    """One whole number for each axis, given as one for all of them or so many."""
    if checks.is_several(value):
        return checks.dimensions(op, name, value, rank, minimum)
    return (checks.integer(op, name, value, minimum),) * rank


def extents(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Whole numbers of at least 1, given as one or as several."""
    given = value if checks.is_several(value) else (value,)
    return checks.dimensions(op, name, given, minimum=1)


def share(op: str, name: str, value: Any) -> float:
    """A number from 0 to 1."""
    found = checks.real(op, name, value)
    if not 0 <= found <= 1:
        raise InvalidArgument(op, name, value, "a number from 0 to 1")
    return found
