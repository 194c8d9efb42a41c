"""Buffers for one test, and the device's counters during the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

# A value that no op of these tests produces. Unlike NaN, it is visible in float16 and in messages.
SENTINEL = -777.25


class Scratch:
    """Buffers of a test; `on_gpu` frees them at the end."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._pointers: list[int] = []

    def alloc(self, nbytes: int) -> int:
        """Allocate a buffer; zero-sized arrays get the smallest one."""
        pointer = self.backend.alloc(max(nbytes, 4))
        self._pointers.append(pointer)
        return pointer

    def upload(self, array: np.ndarray) -> int:
        """Upload an array's bytes to a new buffer."""
        pointer = self.alloc(array.nbytes)
        if array.nbytes:
            self.backend.copy_htod(pointer, array)
        return pointer

    def filled(self, count: int, value: float = np.nan, dtype: DTypeLike = np.float32) -> int:
        """Return a buffer of `count` elements of one value. NaN shows elements never written."""
        return self.upload(np.full(count, value, dtype))

    def download(self, pointer: int, shape: Any, dtype: DTypeLike = np.float32) -> np.ndarray:
        """Return the first elements of a buffer."""
        result = np.full(shape, SENTINEL, dtype)
        if result.nbytes:
            self.backend.copy_dtoh(result, pointer)
        return result

    def free(self) -> None:
        """Free all buffers."""
        while self._pointers:
            self.backend.free(self._pointers.pop())


@contextmanager
def on_gpu(backend: Any) -> Iterator[Scratch]:
    """Buffers for one computation, also within a hypothesis example."""
    scratch = Scratch(backend)
    try:
        yield scratch
    finally:
        scratch.free()


def has_clock(device: Any) -> bool:
    """Return whether the device measures its own time; otherwise profiles use wall time."""
    return "timestamp-query" in device.features


def each_variant(device: Any, op: str) -> Iterator[str]:
    """Yield the names of an operation's variants on a device; each is active in its turn."""
    for variant in device.variants.available(op):
        with device.variants.only(op, variant.name):
            yield variant.name


@contextmanager
def only_variant(device: Any, op: str, name: str) -> Iterator[Any]:
    """Use only one variant of an operation. Skips the test if the device lacks it."""
    if name not in [variant.name for variant in device.variants.available(op)]:
        pytest.skip("this device does not have it")
    with device.variants.only(op, name) as forced:
        yield forced


def random_array(seed: int, *shape: int, dtype: DTypeLike = np.float32) -> np.ndarray:
    """Return random numbers of either sign, with magnitudes from 0.25 to 2."""
    generator = np.random.default_rng(seed)
    magnitude = generator.uniform(0.25, 2.0, shape)
    sign = generator.choice([-1.0, 1.0], shape)
    return (magnitude * sign).astype(dtype)


def whole_array(seed: int, *shape: int) -> np.ndarray:
    """Return random non-zero integers up to ±3: sums of up to 5 million of them are exact."""
    generator = np.random.default_rng(seed)
    values = np.array([-3, -2, -1, 1, 2, 3], np.float32)
    return values[generator.integers(0, values.size, shape)]
