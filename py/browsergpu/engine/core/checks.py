"""Argument checks, which run before anything reaches the GPU.

Each function returns the value as a plain Python object, such as an int or a tuple. For an invalid
value, it raises InvalidArgument, which names the operation, the argument, the expected value and
the given one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from math import isfinite, prod
from operator import index
from typing import Any, TypeVar

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument, InvalidType

E = TypeVar("E", bound=StrEnum)

LARGEST = 2**32 - 1  # shaders count in u32
LARGEST_FLOAT = 3.4028235e38  # of float32

# Each call of isinstance would take a microsecond to form a union of these.
_NOT_REAL = (bool, str, bytes)
_DTYPES = (str, type, np.dtype)


def integer(op: str, name: str, value: Any, minimum: int = 0, maximum: int = LARGEST) -> int:
    """Return an int within the bounds. Accepts NumPy integers, but not bools."""
    if type(value) is int and minimum <= value <= maximum:
        return value
    expected = f"an integer of at least {minimum}"
    if isinstance(value, bool):
        raise InvalidArgument(op, name, value, expected)
    try:
        number = index(value)
    except TypeError:
        raise InvalidArgument(op, name, value, expected) from None
    if number < minimum:
        raise InvalidArgument(op, name, value, expected)
    if number > maximum:
        raise InvalidArgument(op, name, value, f"an integer of at most {maximum}")
    return number


def real(op: str, name: str, value: Any) -> float:
    """Return a finite real number that float32 can hold."""
    if type(value) is float and -LARGEST_FLOAT <= value <= LARGEST_FLOAT:
        return value
    expected = "a finite real number within float32's range"
    if isinstance(value, _NOT_REAL) or not hasattr(value, "__float__"):
        raise InvalidArgument(op, name, value, expected)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(op, name, value, expected) from None
    if not isfinite(number) or abs(number) > LARGEST_FLOAT:
        raise InvalidArgument(op, name, value, expected)
    return number


def positive(op: str, name: str, value: Any) -> float:
    """Return a real number above 0."""
    number = real(op, name, value)
    if number <= 0:
        raise InvalidArgument(op, name, value, "a number above 0")
    return number


def nonnegative(op: str, name: str, value: Any) -> float:
    """Return a real number of at least 0, such as an epsilon."""
    number = real(op, name, value)
    if number < 0:
        raise InvalidArgument(op, name, value, "a number of at least 0")
    return number


def fraction(op: str, name: str, value: Any) -> float:
    """Return a real number from 0 to 1."""
    number = real(op, name, value)
    if not 0 <= number <= 1:
        raise InvalidArgument(op, name, value, "a number from 0 to 1")
    return number


def flag(op: str, name: str, value: Any) -> bool:
    """Return True or False. Accepts NumPy bools."""
    if value is True or value is False:
        return bool(value)
    if type(value).__name__ in ("bool", "bool_") and hasattr(value, "dtype"):
        return bool(value)
    raise InvalidArgument(op, name, value, "True or False")


def choice(op: str, name: str, value: Any, kind: type[E]) -> E:
    """Return a member of a string enum, from the member or its string. Dtypes may be NumPy's."""
    if type(value) is str:
        known = kind._value2member_map_.get(value)
        if known is not None:
            return known  # type: ignore[return-value]
    # For other types, the enum's own error would show the value, which reads an array.
    if isinstance(value, _DTYPES):
        try:
            return kind(value)  # type: ignore[arg-type] # which may know more than strings
        except ValueError:
            pass
    names = ", ".join(repr(member.value) for member in kind)
    raise InvalidArgument(op, name, value, f"one of {names}")


def numpy_dtype(op: str, name: str, value: Any) -> np.dtype[Any]:
    """Return the NumPy dtype for a name, class or dtype.

    Other types are not passed to NumPy. Its error would show the value, which reads a GPU array.
    """
    if isinstance(value, _DTYPES):
        try:
            return np.dtype(value)
        except TypeError:
            pass
    raise InvalidType(op, name, value, "a NumPy dtype")


def dimensions(
    op: str, name: str, value: Any, length: int | None = None, minimum: int = 0
) -> tuple[int, ...]:
    """Return a sequence of integers as a tuple, of the given length if any."""
    # Fast path for the common case, a tuple of ints.
    if type(value) is tuple and (length is None or len(value) == length):
        for item in value:
            if type(item) is not int or not minimum <= item <= LARGEST:
                break
        else:
            return value
    count = "" if length is None else f"{length} "
    expected = f"a sequence of {count}integers from {minimum} to {LARGEST}"
    if not is_several(value) or (isinstance(value, np.ndarray) and value.ndim != 1):
        raise InvalidArgument(op, name, value, expected)
    items = list(value)
    if length is not None and len(items) != length:
        raise InvalidArgument(op, name, value, expected)
    try:
        return tuple(integer(op, name, item, minimum) for item in items)
    except InvalidArgument:
        raise InvalidArgument(op, name, value, expected) from None


def each_axis(op: str, name: str, value: Any, rank: int, minimum: int = 0) -> tuple[int, ...]:
    """Return an integer for each of ``rank`` axes, from one integer for all axes or a sequence."""
    if is_several(value):
        return dimensions(op, name, value, rank, minimum)
    return (integer(op, name, value, minimum),) * rank


def is_several(value: Any) -> bool:
    """Return whether an argument is a sequence, such as several axes or extents.

    A GPU array does not count as a sequence, because reading its elements would wait for the GPU.
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return kind is not int and isinstance(value, Sequence) and not isinstance(value, str | bytes)


def pair(op: str, name: str, value: Any, minimum: int = 0) -> tuple[int, int]:
    """Return (vertical, horizontal) from two integers, or from one for both."""
    first, second = each_axis(op, name, value, 2, minimum)
    return first, second


def margins(op: str, name: str, value: Any, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of elements before and after each axis.

    ``value`` is one number, one for each axis, or a pair (before, after) for each axis.
    """
    if not is_several(value) or not any(map(is_several, value)):
        around = each_axis(op, name, value, rank)
        return around, around
    expected = f"an integer, {rank} integers or {rank} pairs (before, after)"
    if len(value) != rank or not all(map(is_several, value)):
        raise InvalidArgument(op, name, value, expected)
    pairs = [dimensions(op, name, one, 2) for one in value]
    return tuple([before for before, _ in pairs]), tuple([after for _, after in pairs])


def threads(op: str, name: str, value: Any) -> Any:
    """Return the number of threads of a workgroup given as (x, y, z).

    A value that is not a sequence is returned unchanged. Kernels number their threads linearly, so
    only the product matters.
    """
    is_triple = is_several(value) or isinstance(value, str | bytes)
    return product(dimensions(op, name, value, 3, 1)) if is_triple else value


#: Returns the number of elements of a shape. It is 1 for the empty shape.
product: Callable[[Sequence[int]], int] = prod
