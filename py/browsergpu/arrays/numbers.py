"""Python and NumPy scalars as operands."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, copysign, floor, inf, isinf, nextafter
from struct import pack, unpack
from typing import Any

import numpy as np

from browsergpu.arrays.x64 import overflowed
from browsergpu.engine.core.element_types import FLOAT16, ElementType, of_numpy

#: Scalar types that take the dtype of the array beside them.
PYTHON = (bool, int, float, complex)
#: The same as a set.
PYTHON_TYPES = frozenset(PYTHON)
#: The smallest numbers that round to infinity.
_FLOAT16_LIMIT = 65520.0
_FLOAT32_LIMIT = 2.0**128 - 2.0**103


def python_number(value: Any) -> Any:
    """Return a Python bool, int, float or complex, or None for anything else.

    NumPy scalars have their own dtype; see :func:`typed_number`.
    """
    if type(value) in PYTHON_TYPES:
        return value
    if isinstance(value, np.generic):
        return None
    for kind in PYTHON:
        if isinstance(value, kind):
            made: Any = kind
            return made(value)
    return None


def typed_number(value: Any) -> tuple[ElementType, Any] | None:
    """Return the type and value of a NumPy scalar, or None for anything else.

    64-bit floats have the type that they are demoted to.
    """
    if not isinstance(value, np.generic):
        return None
    kind = of_numpy(value.dtype)
    return None if kind is None else (kind, value.item())


def words_of(value: Any, kind: ElementType) -> tuple[int, ...]:
    """Encode a number as the words that kernels take for a type.

    Raises OverflowError for an integer outside the type's range.
    """
    if kind.computed == "f":
        return (_float_word(value, kind),)
    if kind.computed == "c":
        return _float_word(value.real, kind), _float_word(value.imag, kind)
    if kind.computed == "b":
        return (int(bool(value)),)
    number = int(value)
    bounds = np.iinfo(kind.numpy)
    if not bounds.min <= number <= bounds.max:
        raise OverflowError(f"Python integer {number} out of bounds for {kind.name}")
    low = number & 0xFFFFFFFF
    return (low, number >> 32 & 0xFFFFFFFF) if kind.computed in "IU" else (low,)


def overflows(value: Any, kind: ElementType) -> bool:
    """Return whether a finite Python number becomes infinite in a float or complex type."""
    limit = _FLOAT16_LIMIT if kind is FLOAT16 else _FLOAT32_LIMIT
    if isinstance(value, complex):
        return overflows(value.real, kind) or overflows(value.imag, kind)
    return abs(value) >= limit and not (isinstance(value, float) and isinf(value))


def bounds_of_float(number: float) -> tuple[int, int]:
    """Return the smallest integers that compare as >= and as > a float.

    As in NumPy, integers are rounded to float64 for the comparison.
    """
    if isinf(number):
        outside = int(copysign(2.0**65, number))  # outside every integer type's range
        return outside, outside
    if abs(number) < 2.0**53:
        return ceil(number), floor(number) + 1
    least = (int(number) + int(nextafter(number, -inf))) // 2
    while float(least) < number:
        least += 1
    above = (int(number) + int(nextafter(number, inf))) // 2
    while float(above) <= number:
        above += 1
    return least, above


def _float_word(value: float, kind: ElementType) -> int:
    if overflows(value, kind):
        overflowed("number", value, kind)
    if value == 0:  # the cache would confuse 0.0 and -0.0, which are equal
        return 0x80000000 if copysign(1.0, value) < 0 else 0
    return _known_float_word(value, kind)


@lru_cache(maxsize=1024)
def _known_float_word(value: float, kind: ElementType) -> int:
    if kind is FLOAT16:
        with np.errstate(over="ignore"):
            value = float(np.float16(value))
    try:
        word: int = unpack("<I", pack("<f", value))[0]
    except OverflowError:
        word = 0x7F800000 if value > 0 else 0xFF800000
    return word
