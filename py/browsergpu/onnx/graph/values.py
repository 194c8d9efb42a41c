"""Values of a graph: arrays on the GPU, NumPy arrays on the host, sequences and missing ones.

Arrays on the host derive from shapes and constants. All other numbers are on the GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.onnx.graph.narrow import Narrow, widened
from browsergpu.onnx.namespace import bg

#: Elements up to which a constant has a copy on the host.
MOST_ON_HOST = 1024


def on_host(*values: Any) -> bool:
    """Whether all values are NumPy arrays."""
    return all(isinstance(x, np.ndarray | np.generic) for x in values)


def namespace_of(*values: Any) -> Any:
    """Return NumPy if all values are on the host, else this package."""
    return np if on_host(*values) else bg


def to_gpu(x: Any) -> Any:
    """Return a host array on the GPU. Other values are returned as they are."""
    if isinstance(x, np.ndarray | np.generic):
        return bg.asarray(_native(np.asarray(x)))
    return x


def _native(x: np.ndarray) -> np.ndarray:
    wide = {"float64": np.float32, "complex128": np.complex64}.get(x.dtype.name)
    return x.astype(wide) if wide else x


def to_host(x: Any) -> Any:
    """Return an array of the GPU on the host, which waits."""
    if isinstance(x, Narrow):
        x = widened(x)
    return x.numpy() if isinstance(x, Array) else x


def operands(*values: Any) -> tuple[Any, ...]:
    """Return operands of an elementwise function: all on the host, or for the GPU.

    Beside arrays of the GPU, a single element of the host becomes a Python number, which keeps
    kernels free of uploads.
    """
    if on_host(*values):
        return values
    rank = max(x.ndim for x in values if not isinstance(x, np.ndarray | np.generic))
    return tuple(
        (x.item() if x.size == 1 and x.ndim <= rank and x.dtype.kind != "b" else to_gpu(x))
        if isinstance(x, np.ndarray | np.generic) else x
        for x in values
    )  # fmt: skip


def integers(x: Any) -> tuple[int, ...]:
    """Return the numbers of a host array."""
    return tuple(int(n) for n in np.asarray(x).reshape(-1))


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the first one. Raises ValueError if there is none."""
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis must be from {-rank} to {rank - 1}, got {axis}")
    return axis + rank if axis < 0 else axis
