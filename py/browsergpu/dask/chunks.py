"""What Dask asks of a chunk: its bytes, its token, itself as NumPy's and back, percentiles."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from dask.base import normalize_token
from distributed.worker import thread_state

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.unpickled import on_host
from browsergpu.arrays.views.aliases import take_node
from browsergpu.core.errors import OutOfMemory
from browsergpu.core.turns import TURN
from browsergpu.functions import creation
from browsergpu.functions.meta import has_values


def held_bytes(chunk: Array) -> int:
    """The bytes that a chunk holds. A worker asks for them when a task is done, first in the task's
    thread: what was only recorded is computed then, and what shows a part of other memory gets its
    own, so that what Dask counts is what there is, and other threads have nothing to compute."""
    if not chunk.device.has_values or on_host(chunk.node) is not None:
        return chunk.nbytes
    if hasattr(thread_state, "key"):
        # Dask asks no errors of this; whoever needs the chunk gets it.
        with suppress(OutOfMemory), TURN:
            take_node(chunk, apply.packed(chunk).node)
            chunk.node.in_memory()
            chunk.tape.evaluate()  # which holds on to what the task has read
    return chunk.nbytes if chunk.node.window else chunk.node.storage.buffer.capacity


def token(chunk: Array) -> Any:
    """The same for the same values. Reads them."""
    if has_values(chunk):
        return "browsergpu", normalize_token(chunk.detach().numpy())
    return "browsergpu without values", chunk.shape, str(chunk.dtype)


def to_numpy(chunk: Array, **_: Any) -> np.ndarray:
    """A chunk on the host."""
    return chunk.numpy()


def to_gpu(chunk: Any) -> Array:
    """A chunk on the GPU of the process."""
    return chunk if isinstance(chunk, Array) else creation.asarray(chunk)


def percentiles(chunk: Array, q: Any, method: str = "linear") -> tuple[np.ndarray | None, int]:
    """The percentiles of a chunk of one axis, which the GPU finds, and the number of its elements;
    the host puts those of all chunks together."""
    if not chunk.size:
        return None, 0
    shares = q.numpy() if isinstance(q, Array) else np.asarray(list(q))
    found: Array = np.percentile(chunk, shares, method=method)  # type: ignore[call-overload]
    return found.numpy(), chunk.size
