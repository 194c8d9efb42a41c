"""Checks of operands that are the same whatever an API calls them by. Errors name the argument and
show what the user gave for it."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.view import View
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.shapes import Shape


def has_shape(op: str, name: str, x: View, shape: Shape) -> None:
    """Raises InvalidArgument unless an operand has a shape."""
    if x.shape != shape:
        raise InvalidArgument(op, name, x, f"have shape {shape}")


def has_axes(op: str, name: str, x: View, least: int, expected: str) -> None:
    """Raises InvalidArgument unless an operand has so many axes at least."""
    if len(x.shape) < least:
        raise InvalidArgument(op, name, x, expected)


def small_number(op: str, name: str, value: Any) -> float:
    """A real number of at least 0, as what keeps a divisor from 0 is."""
    small = checks.real(op, name, value)
    if small < 0:
        raise InvalidArgument(op, name, value, "a number of at least 0")
    return small
