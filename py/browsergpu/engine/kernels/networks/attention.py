"""Scaled dot-product attention without a stored matrix of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.family import Variant
from browsergpu.engine.kernels.elements.fill import fill

_GENERAL = "attention"  # the kernel that supports every problem
SMALLEST_SCALE = 2.0**-120  # times log2(e) it is still normal; subnormal numbers may count as 0
FEW_ROWS = 16_384  # of all batches and heads
TILED = (32, 64, 128)  # head_dims of the fast kernels

Dispatches = tuple[tuple[tuple[int, int, int], tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of q, k and v: a row holds the heads of one position of one batch.

    Attributes
    ----------
    q_row, kv_row : int
        Elements between the starts of two rows.
    k_first, v_first : int
        First elements of k and v.

    The output has no gaps between rows.
    """

    q_row: int
    kv_row: int
    k_first: int = 0
    v_first: int = 0

    @property
    def is_aligned(self) -> bool:
        """Whether rows begin at multiples of a vec4u, also in float16."""
        return (self.q_row | self.kv_row | self.k_first | self.v_first) % 8 == 0


def packed(heads: int, head_dim: int) -> Layout:
    """The layout of q, k and v as parts of one projection: [batch, seq, 3, heads, head_dim]."""
    width = heads * head_dim
    return Layout(3 * width, 3 * width, width, 2 * width)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionPlan:
    """A validated problem. Element counts of q and o, and of k and v, exclude gaps between rows."""

    query_elements: int
    key_elements: int
    z: int
    heads: int
    seq_q: int
    seq_kv: int
    head_dim: int
    scale: float
    causal: bool
    layout: Layout
    size_class: str

    def able(self, variant: Variant) -> bool:
        """Return whether a variant supports the problem without a mask."""
        if variant.kernel == _GENERAL:
            return True
        return variant.traits["head_dim"] == self.head_dim and self.layout.is_aligned

    def dispatches(self, rows: int, columns: int, *, paired: bool) -> Dispatches:
        """Return grids and parameters for workgroups that compute rows × columns of o.

        Paired workgroups compute two such blocks of rows if the attention is causal.
        """
        count = blocks(self.seq_q, rows)
        if paired and self.causal:
            count = blocks(count, 2)
        grid_x, grid_y, _ = fold(count * blocks(self.head_dim, columns))
        at = self.layout
        return tuple(
            (
                (grid_x, grid_y, count),
                (self.seq_q, self.seq_kv, self.head_dim, self.heads, at.q_row, at.kv_row,
                 at.k_first, at.v_first, first, int(self.causal), self.scale),
            )
            for first, count in layers(self.z)
        )  # fmt: skip


@remembered
def plan_attention(
    batch: Any,
    heads: Any,
    seq_q: Any,
    seq_kv: Any,
    head_dim: Any,
    scale: Any,
    causal: Any,
    layout: Layout | None = None,
) -> AttentionPlan:
    """Validate the arguments of ``WasmBackend.attention`` except the buffers.

    Without a layout, arrays are contiguous: [batch, heads, seq, head_dim].
    """
    op = "attention"
    z = checks.integer(op, "batch", batch) * checks.integer(op, "heads", heads)
    seq_q = checks.integer(op, "seq_q", seq_q)
    seq_kv = checks.integer(op, "seq_kv", seq_kv)
    head_dim = checks.integer(op, "head_dim", head_dim)
    factor = checks.real(op, "scale", scale)
    if factor <= 0:
        raise InvalidArgument(op, "scale", scale, "a finite number above 0 (it multiplies)")
    masked = checks.flag(op, "causal", causal)
    rows = "few" if z * seq_q <= FEW_ROWS else "many"
    return AttentionPlan(
        z * seq_q * head_dim,
        z * seq_kv * head_dim,
        z,
        1 if layout is None else heads,
        seq_q,
        seq_kv,
        head_dim,
        max(factor, SMALLEST_SCALE),
        masked,
        Layout(head_dim, head_dim) if layout is None else layout,
        f"{head_dim} {rows}{' causal' if masked else ''}" if head_dim in TILED else "other",
    )


@dataclass(frozen=True, slots=True)
class Mask:
    """A mask that is broadcast to [outer, inner, seq_q, seq_kv].

    It has the extent of inner and a stride for each dimension, which is 0 if the dimension is
    broadcast.
    """

    slot: Slot
    kind: Literal["float", "bool"]
    inner_count: int
    strides: tuple[int, int, int, int]


def attention(
    build: Build,
    q: Slot,
    k: Slot,
    v: Slot,
    o: Slot,
    plan: AttentionPlan,
    mask: Mask | None = None,
) -> None:
    """Add o = softmax(scale q kᵀ, mask) v, which is zero if there are no keys.

    o must be a different buffer from all others. Without a mask, q, k and v may be one buffer.
    """
    if plan.query_elements == 0 or plan.key_elements == 0:
        fill(build, o, 0.0, plan.query_elements)
        return
    if mask is None:
        variant = build.facts.variants.choose("attention", plan.size_class, plan.able)
        if variant.kernel != _GENERAL:
            _whole_rows(build, plan, variant, q, k, v, o)
            return
        configuration, limits = "", q  # bound, but not read
        mask_fields: tuple[int, ...] = (1, 0, 0, 0, 0)
    else:
        configuration, limits = mask.kind, mask.slot
        mask_fields = (mask.inner_count, *mask.strides)
    for grid, fields in plan.dispatches(32, 64, paired=False):
        build.dispatch(_GENERAL, configuration, grid, (q, k, v, limits, o), *fields, *mask_fields)


def takes_halves(facts: Facts, plan: AttentionPlan) -> bool:
    """Return whether :func:`attention_f16` supports a problem, so that arrays can stay float16."""
    return plan.key_elements == 0 or _of_halves(facts, plan).kernel != _GENERAL


def _of_halves(facts: Facts, plan: AttentionPlan) -> Variant:
    return facts.variants.choose("attention_f16", plan.size_class, plan.able)


def attention_f16(build: Build, q: Slot, k: Slot, v: Slot, o: Slot, plan: AttentionPlan) -> None:
    """Add :func:`attention` of float16 arrays without a mask, if ``takes_halves`` allows it."""
    if plan.query_elements == 0 or plan.key_elements == 0:
        fill(build, o, 0.0, -(-plan.query_elements // 2))
        return
    _whole_rows(build, plan, _of_halves(build.facts, plan), q, k, v, o)


def _whole_rows(
    build: Build, plan: AttentionPlan, variant: Variant, q: Slot, k: Slot, v: Slot, o: Slot
) -> None:
    """Add the dispatches of a kernel whose workgroups compute whole rows of o."""
    for grid, fields in plan.dispatches(variant.traits["rows"], plan.head_dim, paired=True):
        build.dispatch(variant.kernel, variant.configuration, grid, (q, k, v, o), *fields)
