"""Kernels that work on the rows of an array: softmax, layer norm, cross entropy, gathers.

All arrays are contiguous float32 (indices and targets int32); sizes are checked by the caller,
and none is 0. No output is an input.
"""

from __future__ import annotations

from struct import pack, unpack

from browsergpu.device import Device
from browsergpu.dtypes import DType
from browsergpu.grids import blocks, fold
from browsergpu.kernels import HELD
from browsergpu.memory import Allocation
from browsergpu.ops import elementwise
from browsergpu.ops.cuts import cut_lanes, power_of_two
from browsergpu.ops.moments import chunk_moments
from browsergpu.ops.remembered import remembered

_THREADS = 256
_cut = remembered(cut_lanes)
#: The words that stand for a row of an embedding that is not there; 0 for whole numbers.
MISSING = {DType.F32: unpack("<I", pack("<f", float("nan")))[0], DType.F16: 0x7E007E00}


@remembered
def _held(rows: int, length: int, least: int) -> tuple[int, int, str, bool] | None:
    """How rows are held in registers: the workgroups, the threads of a row, the configuration, and
    whether rows are whole vec4s. None for rows that are too long. A thread holds ``least`` vec4s,
    or more where a workgroup would not hold the row, or fewer where they do."""
    if length > 4 * HELD[-1] * _THREADS:
        return None
    lanes = min(_THREADS, power_of_two(blocks(length, 4 * least)))
    held = next(h for h in HELD if length <= 4 * h * lanes)
    return blocks(rows, _THREADS // lanes), lanes, str(held), length % 4 == 0


def softmax(
    device: Device, x: Allocation, y: Allocation, outer: int, length: int, inner: int
) -> None:
    """y[o, j, i] = softmax over j of x[o, j, i]."""
    # Measured on an H200: 3.2 TB/s in place of 2.6 with 4 vec4s, of words 2.6 in place of 2.8.
    held = _held(outer, length, 8 if length % 4 == 0 else 4) if inner == 1 else None
    if held is not None:
        groups, lanes, configuration, aligned = held
        device.recorder.dispatch(
            device.pipeline("softmax_rows_aligned" if aligned else "softmax_rows", configuration),
            *fold(groups), x.id, y.id, outer, length, 1, 0, 0, lanes,
        )  # fmt: skip
        return
    cut = _cut(outer, length, inner, _THREADS)
    if cut.chunks > 1:
        parts, _chunks = _softmax_in_parts(device, "softmax", x, y, outer, length, inner)
        device.memory.return_buffer(parts)
        return
    device.recorder.dispatch(
        device.pipeline("softmax_columns"), *fold(cut.workgroups), x.id, y.id, *cut.fields
    )


def _softmax_in_parts(
    device: Device, op: str, x: Allocation, y: Allocation, outer: int, length: int, inner: int
) -> tuple[Allocation, int]:
    """y = softmax of x; returns a new buffer of (maximum, sum) for each [outer, chunks, inner], and
    the number of chunks."""
    cut = _cut(outer, length, inner, _THREADS)
    grid = fold(cut.workgroups)
    parts = device.memory.get_buffer(op, 8 * cut.outputs, "softmax parts")
    dispatch = device.recorder.dispatch
    try:
        dispatch(device.pipeline("softmax_parts"), *grid, x.id, parts.id, *cut.fields)
        dispatch(device.pipeline("softmax_apply"), *grid, x.id, parts.id, y.id, *cut.fields)
    except BaseException:
        device.memory.return_buffer(parts)
        raise
    return parts, cut.chunks


def layer_norm(
    device: Device,
    x: Allocation,
    gamma: Allocation,
    beta: Allocation,
    y: Allocation,
    rows: int,
    length: int,
    eps: float,
    residual: Allocation | None = None,
    summed: Allocation | None = None,
) -> None:
    """y[r] = (v[r] - mean) / sqrt(variance + eps) * gamma + beta, biased variance, where v is x, or
    x + residual, which ``summed`` then becomes."""
    held = _held(rows, length, 4)
    if held is None:
        _long_layer_norm(device, x, gamma, beta, y, rows, length, eps, residual, summed)
        return
    groups, lanes, configuration, aligned = held
    other = x if residual is None else residual
    fields = rows, length, 0, 0, lanes, int(residual is not None), eps
    if summed is None:
        device.recorder.dispatch(
            device.pipeline("layer_norm_aligned" if aligned else "layer_norm", configuration),
            *fold(groups), x.id, other.id, gamma.id, beta.id, y.id, *fields,
        )  # fmt: skip
        return
    device.recorder.dispatch(
        device.pipeline("layer_norm_sum_aligned" if aligned else "layer_norm_sum", configuration),
        *fold(groups), x.id, other.id, gamma.id, beta.id, y.id, summed.id, *fields,
    )  # fmt: skip


def _long_layer_norm(
    device: Device,
    x: Allocation,
    gamma: Allocation,
    beta: Allocation,
    y: Allocation,
    rows: int,
    length: int,
    eps: float,
    residual: Allocation | None,
    summed: Allocation | None,
) -> None:
    if residual is not None:
        n = rows * length
        total = device.memory.get_buffer("layer_norm", 4 * n) if summed is None else summed
        try:
            elementwise.binary(device, "add", x, residual, total, n)
            _long_layer_norm(device, total, gamma, beta, y, rows, length, eps, None, None)
        finally:
            if summed is None:
                device.memory.return_buffer(total)
        return
    found, cut = chunk_moments(device, "layer_norm", x, rows, length)
    try:
        device.recorder.dispatch(
            device.pipeline("layer_norm_long"), *fold(rows * cut.chunks),
            x.id, found.id, gamma.id, beta.id, y.id,
            rows, length, cut.fields[3], cut.chunks, _THREADS, 0, eps,
        )  # fmt: skip
    finally:
        device.memory.return_buffer(found)


def cross_entropy(
    device: Device,
    logits: Allocation,
    targets: Allocation,
    loss: Allocation,
    probs: Allocation,
    rows: int,
    classes: int,
) -> None:
    """loss[r] = -log softmax(logits[r])[targets[r]] and probs = softmax(logits)."""
    held = _held(rows, classes, 4)
    if held is not None:
        groups, lanes, configuration, aligned = held
        # Where logits are read as vec4s, the one of a row's target is still read by itself.
        again = (logits.id,) if aligned else ()
        device.recorder.dispatch(
            device.pipeline("cross_entropy_aligned" if aligned else "cross_entropy", configuration),
            *fold(groups), logits.id, targets.id, loss.id, probs.id, *again,
            rows, classes, 0, lanes,
        )  # fmt: skip
        return
    parts, chunks = _softmax_in_parts(device, "cross_entropy", logits, probs, rows, classes, 1)
    try:
        device.recorder.dispatch(
            device.pipeline("cross_entropy_long"), *fold(rows),
            logits.id, targets.id, parts.id, loss.id, rows, classes, chunks, _THREADS,
        )  # fmt: skip
    finally:
        device.memory.return_buffer(parts)


def embedding(
    device: Device,
    indices: Allocation,
    weight: Allocation,
    y: Allocation,
    rows: int,
    words: int,
    entries: int,
    dtype: DType,
) -> None:
    """y[r] = weight[indices[r]], rows of whole words, which hold elements of ``dtype``."""
    vectors = words % 4 == 0
    elements = words // 4 if vectors else words
    device.recorder.dispatch(
        device.pipeline("embedding_vectors" if vectors else "embedding"),
        *fold(blocks(rows * elements, _THREADS)), indices.id, weight.id, y.id,
        rows, elements, entries, MISSING.get(dtype, 0),
    )  # fmt: skip
