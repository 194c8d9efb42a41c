"""Functions that Dask calls with chunks: sizes, tokens, conversion to NumPy, percentiles."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from dask.base import normalize_token
from distributed.worker import thread_state

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.pending_upload import on_host
from browsergpu.arrays.views.aliases import take_node
from browsergpu.engine.core.errors import OutOfMemory
from browsergpu.engine.core.turns import TURN
from browsergpu.functions import creation
from browsergpu.functions.meta import has_values


def held_bytes(chunk: Array) -> int:
    """Return the bytes that a chunk occupies.

    A worker calls this function when a task ends, first in the task's thread. That call computes
    recorded operations and gives a view its own memory. Dask then counts the real memory, and other
    threads have nothing to compute. For a long list of arrays, Dask calls the function only for a
    sample. The other arrays may stay views, which count as their own elements.
    """
    if not chunk.device.has_values or on_host(chunk.node) is not None:
        return chunk.nbytes
    if hasattr(thread_state, "key"):
        # Dask expects no errors here; the next use of the chunk raises it.
        with suppress(OutOfMemory), TURN:
            whole = apply.packed(chunk)
            take_node(chunk, (apply.copied(whole) if is_part(whole) else whole).node)
            chunk.node.in_memory()
            chunk.tracer.evaluate()  # the trace keeps the task's inputs alive
    if chunk.node.trace or is_part(chunk):
        return chunk.nbytes
    return chunk.node.storage.buffer.capacity


def is_part(chunk: Array) -> bool:
    """Return whether a computed chunk is less than half of its buffer."""
    return 2 * chunk.node.kind.device_bytes(chunk.size) < chunk.node.storage.buffer.nbytes


def token(chunk: Array) -> Any:
    """Return a token that is equal for equal values. Reads them."""
    if has_values(chunk):
        return "browsergpu", normalize_token(chunk.detach().numpy())
    return "browsergpu without values", chunk.shape, str(chunk.dtype)


def to_numpy(chunk: Array, **_: Any) -> np.ndarray:
    """Copy a chunk to the host."""
    return chunk.numpy()


def to_gpu(chunk: Any) -> Array:
    """Copy a chunk to the GPU of this process."""
    return chunk if isinstance(chunk, Array) else creation.asarray(chunk)


def percentiles(chunk: Array, q: Any, method: str = "linear") -> tuple[np.ndarray | None, int]:
    """Compute percentiles of a 1-d chunk on the GPU. Return them with the number of elements.

    The host merges the results of all chunks.
    """
    if not chunk.size:
        return None, 0
    shares = q.numpy() if isinstance(q, Array) else np.asarray(list(q))
    found: Array = np.percentile(chunk, shares, method=method)  # type: ignore[call-overload]
    return found.numpy(), chunk.size
