"""The numbers that every page computes with, the same in Python and in JavaScript.

An array is a block of pseudo-random numbers in [-0.5, 0.5), repeated. Each of them is known from
its place alone, so that a reference value needs no array. page/data.mjs does the same.
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
    """An array that an operation gets: random numbers times ``scale``, or ``value`` throughout.

    Of ``repeat`` copies along the first axis, a page makes one and repeats it on the GPU.
    """

    shape: tuple[int, ...]
    salt: int = 0
    dtype: str = "f32"
    repeat: int = 1
    scale: float = 1.0
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
        number = self.scale * _random(i % (self.size // self.repeat) % PERIOD, self.salt)
        return number.astype(self._numpy).astype(np.float64)

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
        once = (self.scale * _block(self.salt, min(n, PERIOD))).astype(self._numpy)
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
