"""Whole-number arithmetic modulo 2^32, for i32 and u32 alike."""

from __future__ import annotations

from browsergpu.device.device import Device
from browsergpu.core.grids import blocks, fold
from browsergpu.gpu.memory import Allocation

_CHUNK = 256  # elements that one thread adds up


def binary(device: Device, op: str, a: Allocation, b: Allocation, y: Allocation, n: int) -> None:
    """y[i] = a[i] op b[i] for i < n; y is neither a nor b, n is not 0."""
    grid = fold(blocks(n, device.workgroup_sizes.elementwise))
    device.recorder.dispatch(device.pipeline("integer", op), *grid, a.id, b.id, y.id, n)


def total(
    device: Device, x: Allocation, y: Allocation, outer: int, length: int, inner: int
) -> None:
    """y[o, i] = sum over j of x[o, j, i]; y is not x, no size is 0."""
    source = x
    while True:
        chunks = blocks(length, _CHUNK)
        outputs = outer * chunks * inner
        threads = device.workgroup_sizes.reduction
        target = y
        try:
            if chunks > 1:
                target = device.memory.get_buffer("reduce_sum", 4 * outputs)
            device.recorder.dispatch(
                device.pipeline("sum_integer"), *fold(blocks(outputs, threads)),
                source.id, target.id, outer, length, inner, _CHUNK, chunks,
            )  # fmt: skip
        except BaseException:
            if target is not y:
                device.memory.return_buffer(target)
            raise
        finally:
            if source is not x:
                device.memory.return_buffer(source)
        if chunks == 1:
            return
        source, length = target, chunks
