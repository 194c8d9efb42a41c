"""Scaled dot-product attention without a matrix of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from browsergpu import checks
from browsergpu.device import Device
from browsergpu.errors import InvalidArgument
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Allocation
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


@dataclass(frozen=True, slots=True)
class Mask:
    """A mask and how it is broadcast to [outer, inner, seq_q, seq_kv]: the extent of inner, and
    a stride for each dimension, 0 where it is broadcast."""

    buffer: Allocation
    kind: Literal["float", "bool"]
    inner_count: int
    strides: tuple[int, int, int, int]


def attention(
    device: Device,
    plan: AttentionPlan,
    q: Allocation,
    k: Allocation,
    v: Allocation,
    o: Allocation,
    mask: Mask | None = None,
) -> None:
    """o = softmax(scale q kᵀ, mask) v, zeros where there are no keys; o is none of the others."""
    if not plan.dispatches:
        elementwise.fill(device, o, 0.0, plan.query_elements)
        return
    if mask is None:
        pipeline, mask_id = device.pipeline("attention"), q.id  # bound, but not read
        mask_fields: tuple[int, ...] = (1, 0, 0, 0, 0)
    else:
        pipeline, mask_id = device.pipeline("attention", mask.kind), mask.buffer.id
        mask_fields = (mask.inner_count, *mask.strides)
    for grid, fields in plan.dispatches:
        device.recorder.dispatch(
            pipeline, *grid, q.id, k.id, v.id, mask_id, o.id, *fields, *mask_fields
        )
