"""Tensors for one test, and comparison of results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from inside.comparison import assert_matches
from inside.gpu import random_array
from inside.tolerances import F16_U, Tolerance

DTYPES = {"f32": "f4", "f16": "f2", "i32": "i4", "u32": "u4", "bool": "?", "u8": "u1"}
FLOATS = ("f32", "f16")
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

# Every length that a kernel may treat specially: one thread, part of a vec4, of a word of halves or
# bytes, of a workgroup, and more than one workgroup.
LENGTHS = [1, 2, 3, 4, 5, 7, 255, 256, 257, 1021, 1025]


class Bench:
    """Creates tensors and frees them; see `on_bench`."""

    def __init__(self, tensors: Any) -> None:
        self.tensors = tensors
        self._handles: list[int] = []

    def new(self, shape: Any, dtype: str = "f32") -> int:
        """Return a tensor filled with a value that shows elements never written."""
        handle = self._alloc(shape, dtype)
        poison: Any = {"f32": np.nan, "f16": np.nan, "bool": True, "u8": 173}.get(dtype, -77)
        array = np.full(shape, poison, np.int32 if dtype == "u32" else DTYPES[dtype])
        self.tensors.write_tensor(handle, array.view(DTYPES[dtype]))
        return handle

    def up(self, array: ArrayLike, dtype: str | None = None) -> int:
        """Upload an array to a new tensor of its dtype."""
        array = np.asarray(array)
        handle = self._alloc(array.shape, dtype or NAMES[array.dtype])
        self.tensors.write_tensor(handle, array)
        return handle

    def get(self, handle: int) -> np.ndarray:
        """Return a tensor's contents."""
        array: np.ndarray = self.tensors.read_numpy(handle)
        return array

    def free(self) -> None:
        """Free all tensors."""
        while self._handles:
            self.tensors.free_tensor(self._handles.pop())

    def _alloc(self, shape: Any, dtype: str) -> int:
        handle: int = self.tensors.alloc_tensor(shape, dtype)
        self._handles.append(handle)
        return handle


@contextmanager
def on_bench(tensors: Any) -> Iterator[Bench]:
    """Tensors for one computation, also within a hypothesis example."""
    bench = Bench(tensors)
    try:
        yield bench
    finally:
        bench.free()


def floats(seed: int, *shape: int, dtype: str = "f32") -> np.ndarray:
    """Return random numbers, none near zero; `dtype` is a tensor's."""
    return random_array(seed, *shape, dtype=DTYPES[dtype])


def assert_close(actual: np.ndarray, expected: ArrayLike, tolerance: Tolerance) -> None:
    """Compare float32 or float16 results; float16 adds a rounding."""
    rtol, atol, why = tolerance
    if actual.dtype == np.float16:
        # pack2x16float may round in either direction, and below 2^-14 the step is 2^-24.
        rtol, atol = rtol + 2 * F16_U, atol + 2.0**-24
        why += ", stored as float16"
    assert_matches(actual, expected, rtol=rtol, atol=atol, why=why, dtype=actual.dtype)


def sent(backend: Any) -> dict[str, int]:
    """Return the counters of everything that has reached the GPU."""
    counters = backend.device.recorder.counters
    names = ("dispatches", "copies", "uploads", "readbacks", "pipelines_created")
    return {name: counters[name] for name in names}
