"""The numbers that every page computes with, the same in Python and in JavaScript.

An array is a block of pseudo-random numbers in [-0.5, 0.5), repeated, or a permutation of its
places. Each element is known from its place alone, so that a reference value needs no array.
page/data.mjs does the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

PERIOD = 1_048_573  # a prime, so that the rows of a matrix differ
_U32 = np.uint32


@dataclass(frozen=True)
class Input:
    """An array that an operation gets: random numbers times ``scale`` plus ``offset``, or ``value``
    throughout. One of "i32" has its own places in another order; it has a power of two of them.

    Of ``repeat`` copies along the first axis, a page makes one and repeats it on the GPU.
    """

    shape: tuple[int, ...]
    salt: int = 0
    dtype: str = "f32"
    repeat: int = 1
    scale: float = 1.0
    offset: float = 0.0
    value: float | None = None

    @cached_property
    def size(self) -> int:
        """The number of its elements, all copies together."""
        return prod(self.shape)

    def at(self, index: Any) -> Any:
        """Its elements at flat indices, as float64."""
        i = np.asarray(index, np.int64)
        if self.value is not None:
            return np.full(i.shape, self.value)
        if self.dtype == "i32":
            return _permuted(np.atleast_1d(i), self.size).astype(np.float64).reshape(i.shape)
        number = self.scale * _random(i % (self.size // self.repeat) % PERIOD, self.salt)
        number += self.offset
        return number.astype(self._numpy).astype(np.float64)

    def place_of(self, index: int) -> int:
        """Where in an "i32" array an index stands."""
        return _place_of(index, self.size)

    @property
    def _numpy(self) -> Any:
        return np.float16 if self.dtype == "f16" else np.float32

    def row(self, first: int, count: int, step: int = 1) -> Any:
        """``count`` elements from a flat index on."""
        return self.at(first + step * np.arange(count))

    def copy(self) -> Any:
        """One copy as an array."""
        n = self.size // self.repeat
        shape = (self.shape[0] // self.repeat, *self.shape[1:])
        if self.value is not None:
            return np.full(shape, self.value, self._numpy)
        if self.dtype == "i32":
            starts = range(0, n, PERIOD)  # by pieces, as Pyodide's memory is small
            pieces = [_permuted(np.arange(i, min(i + PERIOD, n)), n) for i in starts]
            return np.concatenate(pieces).reshape(shape)
        block = self.scale * _block(self.salt, min(n, PERIOD)) + self.offset
        once = block.astype(self._numpy)
        return np.resize(once, n).reshape(shape)


@lru_cache(4)
def _block(salt: int, n: int) -> Any:
    return _random(np.arange(n), salt)


def _random(index: Any, salt: int) -> Any:
    """A number in [-0.5, 0.5) for each index, never 0: an integer hash, its upper 24 bits."""
    with np.errstate(over="ignore"):
        x = index.astype(_U32) + _U32(salt * 0x9E3779B1 & 0xFFFFFFFF)
        for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
            x = (x ^ x >> _U32(shift)) * _U32(factor)
    x ^= x >> _U32(15)
    return (x >> _U32(8) | _U32(1)).astype(np.float64) / 2**24 - 0.5


_FACTORS = (0x9E3779B1, 0x85EBCA6B)


def _permuted(index: Any, size: int) -> Any:
    """Another place for each of ``size`` places, as int32."""
    shift = _U32(size.bit_length() // 2)
    x = index.astype(_U32)
    x ^= x >> shift
    for factor in _FACTORS:
        x = x * _U32(factor) & _U32(size - 1)
        x ^= x >> shift
    return x.astype(np.int32)


def _place_of(index: int, size: int) -> int:
    """The place whose other place is ``index``: the steps of _permuted back."""
    shift = size.bit_length() // 2
    x = index ^ index >> shift
    for factor in reversed(_FACTORS):
        x = x * pow(factor, -1, size) % size
        x ^= x >> shift
    return x
