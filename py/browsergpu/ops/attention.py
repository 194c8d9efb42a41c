"""Scaled dot-product attention without a matrix of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu import checks
from browsergpu.device import Device
from browsergpu.errors import InvalidArgument
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Buffer
from browsergpu.ops import elementwise
from browsergpu.ops.remembered import remembered

_ROWS = 32
_COLUMNS = 64


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """Elements of q and o, elements of k and v, and the dispatches: none where there are no
    keys."""

    query_elements: int
    key_elements: int
    dispatches: tuple[tuple[tuple[int, int, int], tuple[float, ...]], ...]


@remembered
def plan_attention(
    batch: Any, heads: Any, seq_q: Any, seq_kv: Any, head_dim: Any, scale: Any, causal: Any
) -> AttentionPlan:
    """Checks the arguments of ``ComputeBackend.attention`` that are not buffers."""
    op = "attention"
    z = checks.integer(op, "batch", batch) * checks.integer(op, "heads", heads)
    seq_q = checks.integer(op, "seq_q", seq_q)
    seq_kv = checks.integer(op, "seq_kv", seq_kv)
    head_dim = checks.integer(op, "head_dim", head_dim)
    factor = checks.real(op, "scale", scale)
    if factor <= 0:
        raise InvalidArgument(op, "scale", scale, "a finite number above 0 (it multiplies)")
    mask = int(checks.flag(op, "causal", causal))
    queries, keys = z * seq_q * head_dim, z * seq_kv * head_dim
    if queries == 0 or keys == 0:
        return AttentionPlan(queries, keys, ())
    column_blocks = blocks(head_dim, _COLUMNS)
    grid_x, grid_y, _ = fold(blocks(seq_q, _ROWS) * column_blocks)
    dispatches = tuple(
        (
            (grid_x, grid_y, count),
            (seq_q, seq_kv, head_dim, column_blocks, first, mask, factor),
        )
        for first, count in layers(z)
    )
    return AttentionPlan(queries, keys, dispatches)


def attention(
    device: Device, plan: AttentionPlan, q: Buffer, k: Buffer, v: Buffer, o: Buffer
) -> None:
    """o = softmax(scale q kᵀ, causal?) v, zeros where there are no keys; o is not q, k or v."""
    if not plan.dispatches:
        elementwise.fill(device, o, 0.0, plan.query_elements)
        return
    pipeline = device.pipeline("attention")
    for grid, fields in plan.dispatches:
        device.recorder.dispatch(pipeline, *grid, q.id, k.id, v.id, o.id, *fields)
