"""What functions check of the arrays that they are given."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.core.errors import InvalidType


def array(op: str, name: str, x: Any) -> Array:
    """An array. Raises InvalidType, a TypeError, for anything else."""
    if not isinstance(x, Array):
        raise InvalidType(op, name, x, "an array (asarray makes one)")
    return x
