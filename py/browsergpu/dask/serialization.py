"""Serialization of arrays between processes and to disk, through NumPy arrays on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed.protocol.numpy import deserialize_numpy_ndarray, serialize_numpy_ndarray
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from browsergpu.arrays.array import Array
from browsergpu.arrays.pending_upload import on_host
from browsergpu.functions import meta


@dask_serialize.register(Array)  # type: ignore[untyped-decorator]
def serialize(x: Array) -> tuple[dict[str, Any], list[Any]]:
    """Return an array's header and frames. Waits for its values."""
    if not meta.has_values(x):
        return {"shape": x.shape, "without values": x.dtype.str}, []
    known = on_host(x.node)
    header, frames = serialize_numpy_ndarray(x.numpy() if known is None else known)
    return {"numpy": header}, frames


@dask_deserialize.register(Array)  # type: ignore[untyped-decorator]
def deserialize(header: dict[str, Any], frames: list[Any]) -> Array:
    """Restore an array. The first thread that computes with it uploads it."""
    if "numpy" not in header:
        return meta.stand_in(header["shape"], np.dtype(header["without values"]))
    return meta.unpickled(deserialize_numpy_ndarray(header["numpy"], frames))
