"""Mean and variance in one stable pass over the elements."""

from __future__ import annotations

from math import inf

from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation

_ROW_CHUNK = 16_384  # elements that one workgroup takes
_COLUMN_CHUNK = 256  # elements that one thread takes
_SHORT_ROW = 32  # rows up to here are quicker one a thread than one a workgroup


def moments(
    device: Device, op: str, x: Allocation, steps: list[tuple[int, int, int]]
) -> Allocation:
    """A new buffer of (count, mean, sum of squared deviations) for each output of the steps
    [outer, length, inner] -> [outer, inner], of which there is at least one; no size is 0."""
    source = x
    configuration = ""
    for outer, whole, inner in steps:
        length = whole
        while True:
            rows = inner == 1 and length > _SHORT_ROW
            chunk = _ROW_CHUNK if rows else _COLUMN_CHUNK
            chunks = blocks(length, chunk)
            outputs = outer * chunks * inner
            target = device.memory.get_buffer(op, 12 * outputs, "moments")
            threads = device.workgroup_sizes.reduction
            device.recorder.dispatch(
                device.pipeline("moments_rows" if rows else "moments_columns", configuration),
                *fold(outputs if rows else blocks(outputs, threads)), source.id, target.id,
                outer, length, inner, chunk, chunks,
            )  # fmt: skip
            if source is not x:
                device.memory.return_buffer(source)
            source, configuration, length = target, "merge", chunks
            if chunks == 1:
                break
    return source


def variance(
    device: Device,
    x: Allocation,
    y: Allocation,
    steps: list[tuple[int, int, int]],
    n: int,
    ddof: float,
) -> None:
    """y = the variance of x over the steps' axes, n values; y is not x."""
    count = 1
    for _, length, _ in steps:
        count *= length
    freedom = max(count - ddof, 0)
    found = moments(device, "variance", x, steps)
    device.recorder.dispatch(
        device.pipeline("variance"), *fold(blocks(n, device.workgroup_sizes.elementwise)),
        found.id, y.id, n, 1 / freedom if freedom else inf,
    )  # fmt: skip
    device.memory.return_buffer(found)
