"""Arithmetic of two arrays that are broadcast to one shape."""

from __future__ import annotations

from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.kernels import BROADCAST_RANKS
from browsergpu.memory import Allocation
from browsergpu.ops.remembered import remembered
from browsergpu.ops.strided import gather
from browsergpu.shapes import Shape, broadcast_strides, merged

_LARGEST = BROADCAST_RANKS[-1]


@remembered
def _plan(a_shape: Shape, b_shape: Shape, shape: Shape) -> tuple[int, tuple[int, ...]] | None:
    """The rank to compile for and the kernel's extents and strides, None for too many axes."""
    extents, a, b = merged(
        shape, broadcast_strides(a_shape, shape), broadcast_strides(b_shape, shape)
    )
    if len(extents) > _LARGEST:
        return None
    unused = _LARGEST - len(extents)
    fields = (*(*extents, *(1,) * unused)[1:], *a, *(0,) * unused, *b, *(0,) * unused)
    return min(rank for rank in BROADCAST_RANKS if rank >= len(extents)), fields


def broadcast(
    device: Device,
    op: str,
    a: Allocation,
    a_shape: Shape,
    b: Allocation,
    b_shape: Shape,
    y: Allocation,
    shape: Shape,
    n: int,
) -> None:
    """y = a op b for words; y is neither a nor b, and has n > 0 elements."""
    plan = _plan(a_shape, b_shape, shape)
    if plan is not None:
        rank, fields = plan
        device.recorder.dispatch(
            device.pipeline("broadcast", f"{op}_{rank}"),
            *fold(blocks(n, device.workgroup_sizes.elementwise)), a.id, b.id, y.id, n, *fields,
        )  # fmt: skip
        return
    # Operands that alternate too often over the axes are first brought to the full shape.
    whole = device.memory.get_buffer(op, 4 * n), device.memory.get_buffer(op, 4 * n)
    try:
        for buffer, own, target in ((a, a_shape, whole[0]), (b, b_shape, whole[1])):
            gather(device, op, buffer, broadcast_strides(own, shape), target, shape)
        broadcast(device, op, whole[0], (n,), whole[1], (n,), y, (n,), n)
    finally:
        for buffer in whole:
            device.memory.return_buffer(buffer)
