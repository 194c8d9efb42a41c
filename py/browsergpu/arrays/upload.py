"""Uploads of NumPy arrays to the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.x64 import check_x64, overflowed
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import DEFAULTS, TYPES, ElementType, of_numpy
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.tensors import transfers
from browsergpu.engine.tensors.device_array import Storage

#: The types by NumPy's names. The names of wider types are not among them.
_BY_NAME = {kind.name: kind for kind in TYPES}


def element_type(op: str, dtype: Any) -> ElementType:
    """Return the type for a dtype: NumPy's, its name, or a Python class.

    int is int64 (see ``set_default_int``), float is float32, and complex is complex64. 64-bit
    floats are demoted or refused; see ``set_x64``.
    """
    if dtype is int or dtype is float or dtype is complex:
        return DEFAULTS[dtype]  # np.dtype(int) has 32 bits in a page
    if type(dtype) is str and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    given = checks.numpy_dtype(op, "dtype", dtype)
    found = of_numpy(given)
    if found is None:
        raise InvalidType(op, "dtype", given, "bool, integers, floats or complex numbers")
    check_x64(op, "dtype", given)
    return found


def on_host(value: Any) -> tuple[np.ndarray, ElementType | None]:
    """Convert numbers and lists to a NumPy array, and return the GPU type if it is not NumPy's.

    Integers in lists have the default type.
    """
    data = np.asarray(value)
    if data.dtype.kind not in "iu" or _has_dtype(value):
        return data, None
    default = DEFAULTS[int]
    # NumPy makes uint64 of integers from 2^63 on.
    return data, None if data.dtype.kind == "u" and default.bits == 64 else default


def _has_dtype(value: Any) -> bool:
    """Return whether numbers have a dtype. The first element of a list decides."""
    while isinstance(value, list | tuple):
        if not value:
            return False
        value = value[0]
    return not isinstance(value, int | range)


def fitted(data: np.ndarray, kind: ElementType | None = None) -> tuple[np.ndarray, ElementType]:
    """Return data as its own type or as ``kind``, and the type.

    Raises InvalidArgument for integers outside the type's range.
    """
    op = "asarray"
    own = of_numpy(data.dtype)
    if own is None:
        raise InvalidType(op, "data", data.dtype, "bool, integers, floats or complex numbers")
    target = own if kind is None else kind
    if data.dtype.kind in "iu" and target.kind in "iu" and data.size:
        bounds = np.iinfo(target.numpy)
        if data.dtype.itemsize > target.numpy.itemsize or data.dtype.kind != target.kind:
            low, high = int(data.min()), int(data.max())
            if low < bounds.min or high > bounds.max:
                worst = high if high > bounds.max else low
                raise InvalidArgument(
                    op, "data", worst, f"values from {bounds.min} to {bounds.max} ({target.name})"
                )
    with np.errstate(over="ignore", invalid="ignore"):
        ready = data.astype(target.numpy, copy=False)
    if (target.kind in "fc" and data.dtype.itemsize > target.numpy.itemsize) or target.bits == 16:
        # Checked by value, as WebAssembly has no floating-point exceptions.
        lost = np.isinf(ready) & np.isfinite(data) if target.kind in "fc" else np.False_
        if lost.any():
            overflowed(op, data[lost].flat[0], target)
    return ready, target


def uploaded(tracer: Tracer, data: np.ndarray, kind: ElementType | None = None) -> Node:
    """Copy a NumPy array to the GPU, as its own type or as ``kind``.

    Raises InvalidArgument for integers outside the type's range.
    """
    op = "asarray"
    ready, target = fitted(data, kind)
    ready = np.asarray(ready, target.device_numpy, order="C")
    device = tracer.device
    device.check_open(op)
    buffer = device.memory.get_buffer("array", ready.nbytes)
    storage = Storage(device, buffer)
    if ready.nbytes:
        transfers.write(device, buffer, 0, ready.reshape(-1).data.cast("B"))
    return stored(target, data.shape, storage)
