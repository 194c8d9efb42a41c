"""Arrays without values, of which only shape and dtype are known.

They need no GPU. Every operation returns the shape and dtype of its result. ``browsergpu.dask``
describes chunks by them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from browsergpu.arrays import apply, context
from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.trace import Tracer, tracer_of
from browsergpu.arrays.pending_upload import on_host, pending_upload
from browsergpu.arrays.upload import element_type, uploaded
from browsergpu.arrays.upload import on_host as host_data
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import NoAdapter
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.device.device import Device
from browsergpu.functions import creation


@cache
def nowhere() -> Tracer:
    """Return the tracer of the device without a GPU."""
    return tracer_of(Device.of_nothing())


@exclusive
def stand_in(shape: Any, dtype: Any = np.float32) -> Array:
    """Return an array without values."""
    op, tracer = "stand_in", nowhere()
    extents = checks.dimensions(op, "shape", shape)
    return Array(apply.full_node(tracer, extents, element_type(op, dtype), 0), tracer)


def has_values(x: Array) -> bool:
    """Return whether an array has values, on a GPU or on the host."""
    return x.device.has_values or on_host(x.node) is not None


def here() -> Tracer:
    """Return the tracer for arrays of descriptions and other processes.

    It is the current one, or the one without values if there is no GPU.
    """
    try:
        return context.current()
    except NoAdapter:
        return nowhere()


@exclusive
def beside(device: Device, given: Any, dtype: Any = None) -> Array:
    """Return an array on a device. Without a GPU, the values stay on the host."""
    if device.has_values:
        return creation.asarray(given, dtype=dtype, device=device)
    data, own = host_data(given)
    if dtype is not None or own is None:
        own = element_type("asarray", data.dtype if dtype is None else dtype)
    uploaded(nowhere(), data, own)  # checks that the values fit the dtype
    return Array(pending_upload(nowhere(), data.astype(own.numpy)), nowhere())


def asarray(given: Any, dtype: Any = None) -> Array:
    """Return an array as ``browsergpu.asarray``. Without a GPU, the values stay on the host."""
    if isinstance(given, Array):
        return given if dtype is None else given.astype(dtype, copy=False)
    return beside(here().device, given, dtype)


def full(shape: Any, number: Any, dtype: Any) -> Array:
    """Return an array as ``browsergpu.full``.

    Empty arrays need no GPU. Without a GPU, the values stay on the host.
    """
    extents = tuple(shape) if checks.is_several(shape) else (shape,)
    if 0 in extents:
        return stand_in(extents, dtype)
    tracer = here()
    if tracer.device.has_values:
        return creation.full(extents, number, dtype=dtype, device=tracer.device)
    return asarray(np.full(extents, number), dtype)


@exclusive
def unpickled(data: np.ndarray) -> Array:
    """Return an array from another process. It is uploaded when it is needed."""
    tracer = here()
    return Array(pending_upload(tracer, data), tracer)
