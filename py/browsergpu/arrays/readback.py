"""Arrays on the host: NumPy arrays, Python numbers and text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from browsergpu.arrays.apply import packed
from browsergpu.arrays.indexing import gather
from browsergpu.arrays.lazy import host_number
from browsergpu.arrays.lazy.host_number import HostNumber
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.pending_upload import on_host
from browsergpu.arrays.value import Value
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import shown
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.gpu import platform
from browsergpu.engine.tensors import transfers

#: DLPack's device of host memory: kDLCPU, number 0.
HOST = (1, 0)


def numpy(x: Value) -> np.ndarray:
    """Copy an array to the host, as a NumPy array. Waits for the GPU."""
    device, trace = x.tracer.device, x.node.trace
    if type(trace) is HostNumber and host_number.is_here(x.tracer):
        device.check_open("numpy")
        return trace.data
    if device.graphs is not None and device.graphs.open is not None and x.node:
        device.graphs.open.before_read()  # here, as a coroutine does not know the user's line
    return platform.block_on(numpy_async(x), "numpy")


async def numpy_async(x: Value) -> np.ndarray:
    """Copy an array to the host: :func:`numpy` for callers that cannot block."""
    device = x.tracer.device
    device.check_open("numpy")
    node = _begun(x)
    if isinstance(node, np.ndarray):
        return node
    array = np.empty(node.shape, node.kind.device_numpy)
    if array.nbytes:
        await transfers.read(device, node.storage.buffer, 0, array.reshape(-1).data.cast("B"))
    return array.astype(node.kind.numpy, copy=False)


@exclusive
def _begun(x: Value) -> Node | np.ndarray:
    """Return a copy of a host array, or a node that only this read holds.

    Nothing writes to the memory of this node until the read ends.
    """
    known = on_host(x.node)
    if known is not None:
        return known.copy()
    found = packed(x).node.in_memory()
    return stored(found.kind, found.shape, found.storage)


@exclusive
def computed(x: Value) -> None:
    """Compute an array without waiting."""
    x.node.in_memory()


def dlpack(
    x: Value,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """Return a DLPack capsule that NumPy makes from a copy on the host. Waits for the GPU."""
    if stream is not None:
        raise InvalidArgument(
            "__dlpack__", "stream", stream, "None, because the data is copied to the host"
        )
    if dl_device is not None and (not isinstance(dl_device, tuple) or dl_device != HOST):
        got = shown(dl_device)
        raise BufferError(f"__dlpack__: dl_device must be {HOST}, the host, or None, got {got}.")
    if copy is False:
        raise BufferError(
            "__dlpack__: copy must be True or None, got False. GPU memory must be copied."
        )
    return numpy(x).__dlpack__(max_version=max_version, copy=copy)


def item(op: str, x: Value) -> Any:
    """Return the only element as a Python number. Raises ValueError for any other size."""
    node = x.node
    if type(node.trace) is HostNumber and host_number.is_here(x.tracer):
        x.tracer.device.check_open(op)
        return node.trace.number
    if checks.product(node.shape) != 1:
        raise InvalidArgument(op, "array", x, "an array of one element")
    x.tracer.element_reads.waited()
    return numpy(x).reshape(()).item()


def can_read(x: Value) -> bool:
    """Return whether the array can be read now.

    The caller must be able to wait and be outside of ``capture()`` blocks.
    """
    device = x.tracer.device
    in_block = device.graphs is not None and device.graphs.open is not None
    return device.has_values and not device.is_closed and not in_block and platform.can_block()


def printed(x: Value) -> str:
    """Return the array as NumPy prints it, or :func:`text` if it cannot be read."""
    if not can_read(x):
        return text(x)
    shown, is_short = _edges(x)
    values = numpy(shown)
    if not values.ndim:
        return str(values[()])
    return np.array2string(values, threshold=0 if is_short else sys.maxsize)


def text(x: Value) -> str:
    """Return the array's repr: elements, shape, dtype and device.

    For a large array only the edges are read. If Python cannot wait, no elements are shown.
    """
    node = x.node
    facts = f"shape={node.shape}, dtype={node.kind.name}, device={x.tracer.device.name!r}"
    if x.tracer.device.is_closed or not platform.can_block():
        return f"Array({facts})"
    shown, is_short = _edges(x)
    values = np.array2string(
        numpy(shown),
        separator=", ",
        prefix="Array(",
        threshold=0 if is_short else sys.maxsize,
    )
    return f"Array({values}, {facts})"


@exclusive
def _edges(x: Value) -> tuple[Value, bool]:
    """Return the shown elements of an array, and whether some are left out.

    Along each long axis these are the first and last elements, and one more for the ellipsis.
    """
    options = np.get_printoptions()
    edge = options["edgeitems"]
    if checks.product(x.node.shape) <= options["threshold"]:
        return x, False
    for axis, extent in enumerate(x.node.shape):
        if extent > 2 * edge + 1:
            at = np.r_[: edge + 1, extent - edge : extent]
            x = gather.by_arrays(x, [axis], [at], False)
    return x, True
