"""Bit packing and counting, greatest common divisors and least common multiples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics

#: By bits, the steps of Euclid's algorithm for the worst case, consecutive Fibonacci numbers.
_GCD_STEPS = {8: 13, 16: 24, 32: 47, 64: 93}


def _powers(op: str, bitorder: str) -> np.ndarray:
    """Return the bit positions of a byte, from 0 to 7, in the given order."""
    if bitorder not in ("big", "little"):
        raise InvalidArgument(op, "bitorder", bitorder, "'big' or 'little'")
    places = np.arange(8, dtype=np.uint8)
    return places[::-1].copy() if bitorder == "big" else places


def _to_last_axis(op: str, a: Array, axis: int | None) -> tuple[Array, int]:
    """Move an axis to the end, or flatten the array. Return the array and the axis."""
    if axis is None:
        return manipulation.reshape(a, (-1,)), 0
    at = shapes.axis(op, "axis", axis, a.ndim)
    return manipulation.moveaxis(a, at, -1), at


def packbits(a: Array, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack integers or bools as bits into uint8, as ``numpy.packbits``."""
    op = "packbits"
    powers = _powers(op, bitorder)
    if a.dtype.kind not in "iub":
        raise InvalidType(op, "a", a.dtype, "integers or bools")
    rows, at = _to_last_axis(op, a, axis)
    bits = (rows != 0).astype(np.uint32)
    lack = -rows.shape[-1] % 8
    if lack:
        zeros = creation.zeros((*rows.shape[:-1], lack), dtype=np.uint32, device=a.device)
        bits = manipulation.concat([bits, zeros], axis=-1)
    eights = manipulation.reshape(bits, (*rows.shape[:-1], bits.shape[-1] // 8, 8))
    weights = creation.asarray((1 << powers.astype(np.uint32)), device=a.device)
    found = statistics.sum(eights * weights, axis=-1, dtype=np.uint32).astype(np.uint8)
    return manipulation.moveaxis(found, -1, at)


def unpackbits(
    a: Array, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Unpack the bits of uint8 elements into uint8, as ``numpy.unpackbits``."""
    op = "unpackbits"
    powers = _powers(op, bitorder)
    if a.dtype != np.uint8:
        raise InvalidType(op, "a", a.dtype, "uint8")
    rows, at = _to_last_axis(op, a, axis)
    places = creation.asarray(powers, device=a.device)
    bits = elementwise.bitwise_and(elementwise.bitwise_right_shift(rows[..., None], places), 1)
    n = 8 * rows.shape[-1]
    found = manipulation.reshape(bits, (*rows.shape[:-1], n))
    if count is not None:
        number = checks.integer(op, "count", count, -n)
        wanted = number if number >= 0 else n + number
        found = found[..., :wanted]
        if wanted > n:
            zeros = creation.zeros((*rows.shape[:-1], wanted - n), dtype=np.uint8, device=a.device)
            found = manipulation.concat([found, zeros], axis=-1)
    return manipulation.moveaxis(found, -1, at)


def _magnitudes(op: str, name: str, x: Array) -> Array:
    """Return absolute values as uint32 or uint64, which also hold the magnitude of the minimum."""
    if x.dtype.kind not in "iub":
        raise InvalidType(op, name, x.dtype, "integers")
    unsigned = np.uint64 if x.dtype.itemsize == 8 else np.uint32
    if x.dtype.kind != "i":
        return x.astype(unsigned, copy=False)
    wide = x if x.dtype.itemsize == 8 else x.astype(np.int32, copy=False)
    return elementwise.abs(wide).astype(unsigned)


def _bitwise_count(x: Array, /) -> Array:
    """Count the 1 bits of the absolute values as uint8, as ``numpy.bitwise_count``."""
    sizes = _magnitudes("bitwise_count", "x", x)
    if sizes.dtype.itemsize == 8:
        words = (sizes, elementwise.bitwise_right_shift(sizes, 32))
        low, high = (_ones(word.astype(np.uint32)) for word in words)
        both: Array = low + high
        return both.astype(np.uint8)
    return _ones(sizes).astype(np.uint8)


def _ones(found: Array) -> Array:
    """Count the 1 bits of uint32 elements."""
    shift = 1
    for mask in (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF):
        odd = elementwise.bitwise_and(elementwise.bitwise_right_shift(found, shift), mask)
        found = elementwise.bitwise_and(found, mask) + odd
        shift *= 2
    return found


def _integers(op: str, x1: Any, x2: Any) -> tuple[Array, Array, np.dtype[Any]]:
    """Return the absolute values of two operands, and the dtype of the result.

    One operand may be a number.
    """
    given = []
    for name, own, other in (("x1", x1, x2), ("x2", x2, x1)):
        if not isinstance(own, Array):
            kind = own.dtype if isinstance(own, np.generic) else other.dtype
            if kind.kind == "b" and not isinstance(own, bool | np.bool_):
                kind = np.dtype(np.int64)
            if isinstance(own, float | complex | np.inexact):
                raise InvalidType(op, name, own, "integers")
            own = creation.asarray(own, dtype=kind, device=other.device)
        given.append(own)
    kind = np.result_type(*(x.dtype for x in given))
    if kind.kind == "f" and all(x.dtype.kind in "iu" for x in given):  # int64 and uint64
        expected = f"a dtype that has a common integer type with {given[0].dtype}"
        raise InvalidType(op, "x2", given[1].dtype, expected)
    one, other = (_magnitudes(op, name, x) for name, x in zip(("x1", "x2"), given, strict=True))
    wide = np.result_type(one.dtype, other.dtype)
    kind = np.dtype(np.int8) if kind.kind == "b" else kind
    return one.astype(wide, copy=False), other.astype(wide, copy=False), kind


def _divisor(own: Array, other: Array, bits: int) -> Array:
    for _ in range(_GCD_STEPS[bits]):
        rest = elementwise.remainder(own, elementwise.maximum(other, 1))
        is_found = other == 0
        own, other = elementwise.where(is_found, own, other), elementwise.where(is_found, 0, rest)
    return own


def _gcd(x1: Any, x2: Any, /) -> Array:
    """Return the greatest common divisors of integers, as ``numpy.gcd``."""
    own, other, kind = _integers("gcd", x1, x2)
    return _divisor(own, other, 8 * kind.itemsize).astype(kind)


def _lcm(x1: Any, x2: Any, /) -> Array:
    """Return the least common multiples of integers, as ``numpy.lcm``."""
    own, other, kind = _integers("lcm", x1, x2)
    divisor = elementwise.maximum(_divisor(own, other, 8 * kind.itemsize), 1)
    found: Array = elementwise.floor_divide(own, divisor) * other
    return found.astype(kind)


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.bitwise_count: _bitwise_count,
    np.gcd: _gcd,
    np.lcm: _lcm,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.packbits: packbits,
    np.unpackbits: unpackbits,
}
