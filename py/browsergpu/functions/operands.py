"""Checks of array arguments."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidType


def array(op: str, name: str, x: Any) -> Array:
    """Return ``x`` if it is an array. Raises InvalidType otherwise."""
    if not isinstance(x, Array):
        raise InvalidType(op, name, x, "an array (asarray makes one)")
    return x
