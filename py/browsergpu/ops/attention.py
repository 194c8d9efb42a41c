"""Scaled dot-product attention without a matrix of scores."""

from __future__ import annotations

from browsergpu.device import Device
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Buffer

_ROWS = 32
_COLUMNS = 64


def attention(
    device: Device,
    q: Buffer,
    k: Buffer,
    v: Buffer,
    o: Buffer,
    batch_heads: int,
    seq_q: int,
    seq_kv: int,
    head_dim: int,
    scale: float,
    causal: bool,
) -> None:
    """o = softmax(scale q kᵀ, causal?) v; no size is 0."""
    column_blocks = blocks(head_dim, _COLUMNS)
    grid_x, grid_y, _ = fold(blocks(seq_q, _ROWS) * column_blocks)
    pipeline = device.pipeline("attention")
    for first, count in layers(batch_heads):
        device.recorder.dispatch(
            pipeline, grid_x, grid_y, count, q.id, k.id, v.id, o.id,
            seq_q, seq_kv, head_dim, column_blocks, first, int(causal), scale,
        )  # fmt: skip
