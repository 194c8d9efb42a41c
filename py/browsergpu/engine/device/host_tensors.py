"""Conversion of NumPy arrays and bytes to and from the device's tensor format."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, byte_count
from browsergpu.engine.device import host_memory


def to_device(op: str, name: str, data: Any, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Return a contiguous array of the tensor's shape with the bytes that the device holds.

    Arrays of either byte order are accepted. Raises InvalidArgument for a different shape, for
    float64, and for values that the dtype cannot hold.
    """
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
        if array.shape != shape:
            raise InvalidArgument(op, name, array, f"have shape {shape}")
        array = _converted(op, name, array, dtype)
    else:
        raw = host_memory.source_view(op, name, data).tobytes()
        expected = product(shape) * dtype.numpy.itemsize
        if len(raw) != expected:
            raise InvalidArgument(
                op,
                name,
                Description(byte_count(len(raw))),
                f"{byte_count(expected)}, for {shape} elements of {dtype}",
            )
        array = np.frombuffer(raw, dtype.numpy).reshape(shape)
    return np.asarray(array, dtype.device_numpy, order="C")


def _converted(op: str, name: str, array: np.ndarray, dtype: DType) -> np.ndarray:
    kind = array.dtype.newbyteorder("=")
    if kind == dtype.numpy:
        return array.astype(kind, copy=False)
    if kind == np.float64:
        raise InvalidArgument(
            op,
            name,
            array.dtype,
            f"{dtype.numpy}, as the GPU has no float64",
            f"Cast it with .astype(np.{dtype.numpy}).",
        )
    if kind.kind in "iu" and dtype.numpy.kind in "iu":
        bounds = np.iinfo(dtype.numpy)
        if array.size and (array.min() < bounds.min or array.max() > bounds.max):
            worst = array.max() if array.max() > bounds.max else array.min()
            raise InvalidArgument(
                op, name, worst, f"values from {bounds.min} to {bounds.max}, which {dtype} holds"
            )
        return array.astype(dtype.numpy)
    if kind == np.float16 and dtype is DType.F32:
        return array.astype(np.float32)
    raise InvalidArgument(
        op,
        name,
        array.dtype,
        f"an array of {dtype.numpy}",
        f"Cast it with .astype(np.{dtype.numpy}).",
    )


def from_device(array: np.ndarray, dtype: DType) -> np.ndarray:
    """Convert data read from the device to the host's dtype."""
    if array.dtype == dtype.numpy:
        return array
    return array.astype(dtype.numpy)
