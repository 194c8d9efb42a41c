"""Arrays without values: of a shape and a dtype, by which every operation says what it would give.

They need no GPU. ``browsergpu.dask`` describes chunks by them.
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
from browsergpu.core import checks
from browsergpu.core.errors import NoAdapter
from browsergpu.core.turns import exclusive
from browsergpu.device.device import Device
from browsergpu.functions import creation


@cache
def nowhere() -> Tracer:
    """The tracer of the device without a GPU."""
    return tracer_of(Device.of_nothing())


@exclusive
def stand_in(shape: Any, dtype: Any = np.float32) -> Array:
    """An array without values."""
    op, tracer = "stand_in", nowhere()
    extents = checks.dimensions(op, "shape", shape)
    return Array(apply.full_node(tracer, extents, element_type(op, dtype), 0), tracer)


def has_values(x: Array) -> bool:
    """Whether an array has values, on a GPU or on the host."""
    return x.device.has_values or on_host(x.node) is not None


def here() -> Tracer:
    """The tracer that new arrays are made on, for what describes one or comes from another process:
    where there is no GPU, that without values."""
    try:
        return context.current()
    except NoAdapter:
        return nowhere()


@exclusive
def beside(device: Device, given: Any, dtype: Any = None) -> Array:
    """``browsergpu.asarray`` on a device; where that has no GPU, the values stay on the host."""
    if device.has_values:
        return creation.asarray(given, dtype=dtype, device=device)
    data, own = host_data(given)
    if dtype is not None or own is None:
        own = element_type("asarray", data.dtype if dtype is None else dtype)
    uploaded(nowhere(), data, own)  # says whether they fit
    return Array(pending_upload(nowhere(), data.astype(own.numpy)), nowhere())


def asarray(given: Any, dtype: Any = None) -> Array:
    """``browsergpu.asarray``, which keeps the values on the host where there is no GPU."""
    if isinstance(given, Array):
        return given if dtype is None else given.astype(dtype, copy=False)
    return beside(here().device, given, dtype)


def full(shape: Any, number: Any, dtype: Any) -> Array:
    """``browsergpu.full``, which needs no GPU where there are no elements, and keeps the values on
    the host where there is none."""
    extents = tuple(shape) if checks.is_several(shape) else (shape,)
    if 0 in extents:
        return stand_in(extents, dtype)
    tracer = here()
    if tracer.device.has_values:
        return creation.full(extents, number, dtype=dtype, device=tracer.device)
    return asarray(np.full(extents, number), dtype)


@exclusive
def unpickled(data: np.ndarray) -> Array:
    """An array that another process had; it is uploaded when it is needed."""
    tracer = here()
    return Array(pending_upload(tracer, data), tracer)
