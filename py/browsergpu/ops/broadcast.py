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
def _plan(a_shape: Shape, b_shape: Shape, shape: Shape) -> tuple[int, tuple[int, ...], bool] | None:
    """The rank to compile for, the kernel's extents and strides, and whether four elements can be
    taken at once. None for too many axes."""
    extents, a, b = merged(
        shape, broadcast_strides(a_shape, shape), broadcast_strides(b_shape, shape)
    )
    if len(extents) > _LARGEST:
        return None
    unused = _LARGEST - len(extents)
    fields = (*(*extents, *(1,) * unused)[1:], *a, *(0,) * unused, *b, *(0,) * unused)
    rank = min(rank for rank in BROADCAST_RANKS if rank >= len(extents))
    # The kernel looks for the innermost index in its rank's last place.
    wide = len(extents) == rank and extents[-1] % 4 == 0 and _is_wide(a) and _is_wide(b)
    return rank, fields, wide


def _is_wide(strides: tuple[int, ...]) -> bool:
    """Whether four neighbours of an operand are one element, or a vec4."""
    return strides[-1] == 0 or (strides[-1] == 1 and all(s % 4 == 0 for s in strides[:-1]))


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
        rank, fields, wide = plan
        threads = device.workgroup_sizes.elementwise
        device.recorder.dispatch(
            device.pipeline("broadcast_vectors" if wide else "broadcast", f"{op}_{rank}"),
            *fold(blocks(n, 4 * threads if wide else threads)), a.id, b.id, y.id, n, *fields,
        )  # fmt: skip
        return
    # Operands that alternate too often over the axes are first brought to the full shape.
    whole: list[Allocation] = []
    try:
        for buffer, own in ((a, a_shape), (b, b_shape)):
            whole.append(device.memory.get_buffer(op, 4 * n))
            gather(device, op, buffer, broadcast_strides(own, shape), whole[-1], shape)
        broadcast(device, op, whole[0], (n,), whole[1], (n,), y, (n,), n)
    finally:
        for buffer in whole:
            device.memory.return_buffer(buffer)
