"""Sums, maxima, minima and means along an axis."""

from __future__ import annotations

from math import inf

from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.memory import Buffer

_THREADS = 256
_ROW_CHUNK = 64 * _THREADS  # elements that one workgroup reduces: 64 a thread, then a tree
_COLUMN_CHUNK = 256  # elements that one thread reduces
_SHORT_ROW = 32  # rows up to here are quicker one a thread than one a workgroup

_IDENTITIES = {"sum": 0.0, "mean": 0.0, "max": -inf, "min": inf}


def reduce(
    device: Device, op: str, x: Buffer, y: Buffer, outer: int, length: int, inner: int
) -> None:
    """y[o, i] = op over j of x[o, j, i]; no size is 0, and x is not y.

    Takes one pass, and another one for each time that the axis is longer than a chunk.
    """
    kernel_op = "sum" if op == "mean" else op
    mean_scale = 1.0 / length
    source = x
    partials: list[Buffer] = []
    while True:
        rows = inner == 1 and length > _SHORT_ROW
        chunk = _ROW_CHUNK if rows else _COLUMN_CHUNK
        chunks = blocks(length, chunk)
        last = chunks == 1
        count = outer * chunks * inner
        target = y if last else device.memory.take("reduce", 4 * count)
        grid = fold(count if rows else blocks(count, _THREADS))
        device.recorder.dispatch(
            device.pipeline("reduce_rows" if rows else "reduce_columns", kernel_op),
            *grid, source.id, target.id, outer, length, inner, chunk, chunks,
            _IDENTITIES[op], mean_scale if last and op == "mean" else 1.0,
        )  # fmt: skip
        if last:
            break
        partials.append(target)
        source, length = target, chunks
    for partial in partials:
        device.memory.give(partial)
