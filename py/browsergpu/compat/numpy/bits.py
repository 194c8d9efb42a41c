"""Bits of integers: packed, unpacked and counted; divisors and multiples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core import checks, shapes
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics

#: Steps of Euclid's algorithm that bring any two numbers of so many bits to their divisor: the
#: Fibonacci numbers take the most.
_STEPS = {8: 13, 16: 24, 32: 47, 64: 93}


def _powers(op: str, bitorder: str) -> np.ndarray:
    """The places of the 8 bits of a byte, from 0 on."""
    if bitorder not in ("big", "little"):
        raise InvalidArgument(op, "bitorder", bitorder, "'big' or 'little'")
    places = np.arange(8, dtype=np.uint8)
    return places[::-1].copy() if bitorder == "big" else places


def _last(op: str, a: Array, axis: int | None) -> tuple[Array, int]:
    """An array whose last axis is the one chosen, or all elements, and that axis."""
    if axis is None:
        return manipulation.reshape(a, (-1,)), 0
    at = shapes.axis(op, "axis", axis, a.ndim)
    return manipulation.moveaxis(a, at, -1), at


def packbits(a: Array, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack integers or bools as bits into bytes, as ``numpy.packbits``: uint8."""
    op = "packbits"
    powers = _powers(op, bitorder)
    if a.dtype.kind not in "iub":
        raise InvalidType(op, "a", a.dtype, "integers or bools")
    rows, at = _last(op, a, axis)
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
    """Return the bits of bytes, as ``numpy.unpackbits``: uint8."""
    op = "unpackbits"
    powers = _powers(op, bitorder)
    if a.dtype != np.uint8:
        raise InvalidType(op, "a", a.dtype, "uint8")
    rows, at = _last(op, a, axis)
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


def _sizes(op: str, name: str, x: Array) -> Array:
    """Sizes of integers: uint32 or uint64, which also has that of the least signed one."""
    if x.dtype.kind not in "iub":
        raise InvalidType(op, name, x.dtype, "integers")
    unsigned = np.uint64 if x.dtype.itemsize == 8 else np.uint32
    if x.dtype.kind != "i":
        return x.astype(unsigned, copy=False)
    wide = x if x.dtype.itemsize == 8 else x.astype(np.int32, copy=False)
    return elementwise.abs(wide).astype(unsigned)


def _bitwise_count(x: Array, /) -> Array:
    """The bits of the sizes of integers that are 1: uint8."""
    sizes = _sizes("bitwise_count", "x", x)
    if sizes.dtype.itemsize == 8:
        words = (sizes, elementwise.bitwise_right_shift(sizes, 32))
        low, high = (_ones(word.astype(np.uint32)) for word in words)
        both: Array = low + high
        return both.astype(np.uint8)
    return _ones(sizes).astype(np.uint8)


def _ones(found: Array) -> Array:
    """The bits of words that are 1."""
    shift = 1
    for mask in (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF):
        odd = elementwise.bitwise_and(elementwise.bitwise_right_shift(found, shift), mask)
        found = elementwise.bitwise_and(found, mask) + odd
        shift *= 2
    return found


def _integers(op: str, x1: Any, x2: Any) -> tuple[Array, Array, np.dtype[Any]]:
    """Sizes of two arrays of integers, of which one may be a number, and the dtype of what they
    come to."""
    given = []
    for name, own, other in (("x1", x1, x2), ("x2", x2, x1)):
        if not isinstance(own, Array):
            kind = own.dtype if isinstance(own, np.generic) else other.dtype
            if isinstance(own, float | complex | np.inexact):
                raise InvalidType(op, name, own, "integers")
            own = creation.asarray(own, dtype=kind, device=other.device)
        given.append(own)
    kind = np.result_type(*(x.dtype for x in given))
    if kind.kind == "f" and all(x.dtype.kind in "iu" for x in given):  # int64 and uint64
        raise InvalidType(op, "x2", given[1].dtype, f"a dtype that goes with {given[0].dtype}")
    one, other = (_sizes(op, name, x) for name, x in zip(("x1", "x2"), given, strict=True))
    wide = np.result_type(one.dtype, other.dtype)
    kind = np.dtype(np.int8) if kind.kind == "b" else kind
    return one.astype(wide, copy=False), other.astype(wide, copy=False), kind


def _divisor(own: Array, other: Array, bits: int) -> Array:
    for _ in range(_STEPS[bits]):
        rest = elementwise.remainder(own, elementwise.maximum(other, 1))
        is_found = other == 0
        own, other = elementwise.where(is_found, own, other), elementwise.where(is_found, 0, rest)
    return own


def _gcd(x1: Any, x2: Any, /) -> Array:
    """The greatest common divisors of integers."""
    own, other, kind = _integers("gcd", x1, x2)
    return _divisor(own, other, 8 * kind.itemsize).astype(kind)


def _lcm(x1: Any, x2: Any, /) -> Array:
    """The least common multiples of integers."""
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
