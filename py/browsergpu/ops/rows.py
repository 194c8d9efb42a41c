"""Kernels that work on the rows of an array: softmax, layer norm, cross entropy, gathers.

All arrays are contiguous float32 (indices and targets int32); sizes are checked by the caller,
and none is 0. No output is an input.
"""

from __future__ import annotations

from struct import pack, unpack

from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation

_THREADS = 256
_SHORT_ROW = 32  # rows up to here are quicker one a thread than one a workgroup
_NAN_BITS = unpack("<I", pack("<f", float("nan")))[0]


def softmax(
    device: Device, x: Allocation, y: Allocation, outer: int, length: int, inner: int
) -> None:
    """y[o, j, i] = softmax over j of x[o, j, i]."""
    if inner == 1 and length > _SHORT_ROW:
        pipeline, grid = device.pipeline("softmax_rows"), fold(outer)
    else:
        pipeline = device.pipeline("softmax_columns")
        grid = fold(blocks(outer * inner, _THREADS))
    device.recorder.dispatch(pipeline, *grid, x.id, y.id, outer, length, inner)


def layer_norm(
    device: Device,
    x: Allocation,
    gamma: Allocation,
    beta: Allocation,
    y: Allocation,
    rows: int,
    length: int,
    eps: float,
) -> None:
    """y[r] = (x[r] - mean) / sqrt(variance + eps) * gamma + beta, biased variance."""
    device.recorder.dispatch(
        device.pipeline("layer_norm"), *fold(rows), x.id, gamma.id, beta.id, y.id, rows, length, eps
    )


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
    device.recorder.dispatch(
        device.pipeline("cross_entropy"), *fold(rows),
        logits.id, targets.id, loss.id, probs.id, rows, classes,
    )  # fmt: skip


def embedding(
    device: Device,
    indices: Allocation,
    weight: Allocation,
    y: Allocation,
    rows: int,
    words: int,
    entries: int,
    *,
    floats: bool,
) -> None:
    """y[r] = weight[indices[r]], rows of whole words."""
    grid = fold(blocks(rows * words, _THREADS))
    device.recorder.dispatch(
        device.pipeline("embedding"), *grid, indices.id, weight.id, y.id,
        rows, words, entries, _NAN_BITS if floats else 0,
    )  # fmt: skip
