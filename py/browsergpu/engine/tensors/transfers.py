"""Transfers between the host and any bytes of a buffer. WebGPU only moves whole words."""

from __future__ import annotations

from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.kernels.elements.fill import merge_word


def write(device: Device, buffer: Allocation, offset: int, view: memoryview) -> None:
    """Copy a C-contiguous view to ``offset`` of a buffer. Other bytes stay.

    The caller checks that it fits.
    """
    nbytes = view.nbytes
    if nbytes == 0:
        return
    if offset == 0 and nbytes == buffer.nbytes:  # bytes after the end of the last word
        _upload(device, buffer, 0, view, (nbytes + 3) & ~3)
        return
    data = view.cast("B") if view.ndim else memoryview(view.tobytes())
    head = min(-offset % 4, nbytes)
    if head:
        _merge(device, buffer, offset, data[:head])
    whole = (nbytes - head) & ~3
    if whole:
        _upload(device, buffer, offset + head, data[head : head + whole], whole)
    if head + whole < nbytes:
        _merge(device, buffer, offset + head + whole, data[head + whole :])


def _upload(device: Device, buffer: Allocation, at: int, view: memoryview, nbytes: int) -> None:
    graph = None if device.graphs is None else device.graphs.open
    if graph is None:
        device.recorder.write(buffer.id, at, view, nbytes)
    else:
        graph.constant(buffer, at, view, nbytes)


def _merge(device: Device, buffer: Allocation, offset: int, data: memoryview) -> None:
    """Write 1 to 3 bytes within one word."""
    shift = 8 * (offset % 4)
    mask = ((1 << 8 * len(data)) - 1) << shift
    value = int.from_bytes(data, "little") << shift
    device.launch("write", merge_word, (buffer,), late=(offset // 4, mask, value))


async def read(device: Device, buffer: Allocation, offset: int, view: memoryview) -> None:
    """Fill a writable C-contiguous view from ``offset`` of a buffer.

    The caller checks the range. Raises Unsupported in a block of ``capture()``.
    """
    nbytes = view.nbytes
    if nbytes == 0:
        return
    if device.graphs is not None and device.graphs.open is not None:
        device.graphs.open.before_read()
    if offset % 4 == 0:
        await device.faults.after(device.recorder.read(buffer.id, offset, view, (nbytes + 3) & ~3))
        return
    start = offset & ~3
    covered = bytearray((offset + nbytes + 3 & ~3) - start)
    await device.faults.after(
        device.recorder.read(buffer.id, start, memoryview(covered), len(covered))
    )
    view.cast("B")[:] = memoryview(covered)[offset - start : offset - start + nbytes]
