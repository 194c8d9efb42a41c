"""The input numbers of all pages, the same in Python and in JavaScript.

An array is a repeated block of pseudo-random numbers in [-0.5, 0.5), or a permutation of its
indices. Each element depends only on its index, so reference values need no array. page/data.mjs
makes the same numbers.
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
    """An input array of an operation.

    Its elements are random numbers times ``scale`` plus ``offset``, or all ``value``. An array of
    "i32" is a permutation of its indices, and its size is a power of two. The array has ``repeat``
    copies along the first axis. A page makes one copy and repeats it on the GPU.
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
        """The number of elements in all copies."""
        return prod(self.shape)

    def at(self, index: Any) -> Any:
        """Return the elements at flat indices, as float64."""
        i = np.asarray(index, np.int64)
        if self.value is not None:
            return np.full(i.shape, self.value)
        if self.dtype == "i32":
            return _permuted(np.atleast_1d(i), self.size).astype(np.float64).reshape(i.shape)
        number = self.scale * _random(i % (self.size // self.repeat) % PERIOD, self.salt)
        number += self.offset
        return number.astype(self._numpy).astype(np.float64)

    def place_of(self, index: int) -> int:
        """Return the position of the element ``index`` in an "i32" array."""
        return _place_of(index, self.size)

    @property
    def _numpy(self) -> Any:
        return np.float16 if self.dtype == "f16" else np.float32

    def row(self, first: int, count: int, step: int = 1) -> Any:
        """Return ``count`` elements, starting at a flat index."""
        return self.at(first + step * np.arange(count))

    def copy(self) -> Any:
        """Return one copy as an array."""
        n = self.size // self.repeat
        shape = (self.shape[0] // self.repeat, *self.shape[1:])
        if self.value is not None:
            return np.full(shape, self.value, self._numpy)
        if self.dtype == "i32":
            starts = range(0, n, PERIOD)  # in pieces, since Pyodide's memory is small
            pieces = [_permuted(np.arange(i, min(i + PERIOD, n)), n) for i in starts]
            return np.concatenate(pieces).reshape(shape)
        block = self.scale * _block(self.salt, min(n, PERIOD)) + self.offset
        once = block.astype(self._numpy)
        return np.resize(once, n).reshape(shape)


@lru_cache(4)
def _block(salt: int, n: int) -> Any:
    return _random(np.arange(n), salt)


def _random(index: Any, salt: int) -> Any:
    """Return a number in [-0.5, 0.5) for each index, from 24 bits of a hash. It is never 0."""
    with np.errstate(over="ignore"):
        x = index.astype(_U32) + _U32(salt * 0x9E3779B1 & 0xFFFFFFFF)
        for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
            x = (x ^ x >> _U32(shift)) * _U32(factor)
    x ^= x >> _U32(15)
    return (x >> _U32(8) | _U32(1)).astype(np.float64) / 2**24 - 0.5


_FACTORS = (0x9E3779B1, 0x85EBCA6B)


def _permuted(index: Any, size: int) -> Any:
    """Return the permuted index of each index below ``size``, as int32."""
    shift = _U32(size.bit_length() // 2)
    x = index.astype(_U32)
    x ^= x >> shift
    for factor in _FACTORS:
        x = x * _U32(factor) & _U32(size - 1)
        x ^= x >> shift
    return x.astype(np.int32)


def _place_of(index: int, size: int) -> int:
    """Return the index that _permuted maps to ``index``, by its inverse steps."""
    shift = size.bit_length() // 2
    x = index ^ index >> shift
    for factor in reversed(_FACTORS):
        x = x * pow(factor, -1, size) % size
        x ^= x >> shift
    return x
