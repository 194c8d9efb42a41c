"""Argument checks that several layers share."""

from __future__ import annotations

from typing import Any

from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument


def each_axis(op: str, name: str, value: Any, rank: int, minimum: int) -> tuple[int, ...]:
    """Return an integer for each axis, from one integer for all axes or a sequence."""
    if checks.is_several(value):
        return checks.dimensions(op, name, value, rank, minimum)
    return (checks.integer(op, name, value, minimum),) * rank


def extents(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Return integers of at least 1, from one integer or a sequence."""
    given = value if checks.is_several(value) else (value,)
    return checks.dimensions(op, name, given, minimum=1)


def share(op: str, name: str, value: Any) -> float:
    """Return a number from 0 to 1."""
    found = checks.real(op, name, value)
    if not 0 <= found <= 1:
        raise InvalidArgument(op, name, value, "a number from 0 to 1")
    return found
