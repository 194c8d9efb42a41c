"""Gradients of attention without a stored matrix of scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Cost,
    Fields,
    Kernel,
    KernelFamily,
    Work,
)
from browsergpu.engine.kernels.networks.attention import Layout

_SIDE = 64  # rows and columns of a block of scores
_LANES = 16  # threads along a row of a block
_MOST_COLUMNS = 2  # vec4s of a row for each thread


@dataclass(frozen=True, slots=True)
class GradientPlan:
    """A problem of nonempty arrays.

    Attributes
    ----------
    z, heads
        Batches times heads, and the heads whose rows share a row of memory.
    seq_q, seq_kv, head_dim, scale, causal
        As in ``AttentionPlan``.
    layout
        The layout of q, k and v.
    o_row
        Elements between the starts of two rows of the result and its gradient.
    d_q, d_kv
        The rows of the gradients for q, and for k and v.
    k_first, v_first
        The first elements of the gradients for k and v.
    """

    z: int
    heads: int
    seq_q: int
    seq_kv: int
    head_dim: int
    scale: float
    causal: bool
    layout: Layout
    o_row: int
    d_q: int
    d_kv: int
    k_first: int
    v_first: int

    def dispatches(self, rows: int, row: int, first: int, second: int) -> Iterator[Any]:
        """Yield grids and parameters of a kernel whose workgroups compute blocks of rows."""
        at = self.layout
        x, y, _ = fold(blocks(rows, _SIDE))
        for first_z, count in layers(self.z):
            yield (x, y, count), (
                self.seq_q, self.seq_kv, self.head_dim, self.heads, at.q_row, at.kv_row, at.k_first,
                at.v_first, self.o_row, row, first, second, first_z, int(self.causal), self.scale,
            )  # fmt: skip


def takes(plan: GradientPlan, *, is_half: bool) -> bool:
    """Return whether the kernels support a problem."""
    at = plan.layout
    whole = (
        plan.head_dim | at.q_row | at.kv_row | at.k_first | at.v_first | plan.o_row | plan.d_q
        | plan.d_kv | plan.k_first | plan.v_first
    )  # fmt: skip
    return whole % (8 if is_half else 4) == 0 and plan.head_dim <= 4 * _LANES * _MOST_COLUMNS


def gradients(
    build: Build,
    q: Slot,
    k: Slot,
    v: Slot,
    g: Slot,
    o: Slot,
    d_q: Slot,
    d_kv: Slot,
    plan: GradientPlan,
    *,
    is_half: bool,
) -> None:
    """Add the gradients for q, k and v of o, whose gradient is g.

    ``d_kv`` gets those for k and v. The outputs may be one buffer, and none of the inputs.
    """
    columns = blocks(plan.head_dim, 4 * _LANES)
    configuration = f"{columns}{' f16' if is_half else ''}"
    sums = build.temporary(8 * plan.z * plan.seq_q)
    for grid, fields in plan.dispatches(plan.seq_q, plan.d_q, 0, 0):
        build.dispatch("attention_sums", configuration, grid, (q, k, g, o, sums), *fields)
    for grid, fields in plan.dispatches(plan.seq_q, plan.d_q, 0, 0):
        build.dispatch(
            "attention_query_gradients", configuration, grid, (q, k, v, g, sums, d_q), *fields
        )
    for grid, fields in plan.dispatches(plan.seq_kv, plan.d_kv, plan.k_first, plan.v_first):
        build.dispatch(
            "attention_key_gradients", configuration, grid, (q, k, v, g, sums, d_kv), *fields
        )
    build.release(sums)


def _cost(products: int) -> Cost:
    """Return the cost of a kernel that computes this many products of the scores' size."""

    def work(f: Fields) -> Work:
        pairs = f["seq_q"] * f["seq_kv"]
        if f["causal"]:  # query i sees the first i + 1 keys
            short = min(f["seq_q"], f["seq_kv"])
            pairs = short * (short + 1) / 2 + (f["seq_q"] - short) * f["seq_kv"]
        return 2 * products * pairs * f["head_dim"], 16 * (f["seq_q"] + f["seq_kv"]) * f["head_dim"]

    return work


_PARAMS = params(
    "seq_q: u32", "seq_kv: u32", "head_dim: u32", "heads: u32", "q_row: u32", "kv_row: u32",
    "k_first: u32", "v_first: u32", "g_row: u32", "d_row: u32", "d_first: u32", "d_second: u32",
    "first_z: u32", "causal: u32", "scale: f32",
)  # fmt: skip
_Q, _K, _V, _G, _O = (Binding(at, name, READ) for at, name in enumerate("qkvgo"))
_SUMS, _D = Binding(5, "sums", READ), Binding(7, "d", WRITE)

FAMILY = KernelFamily(
    kernels=tuple(
        Kernel(
            name, "attention_gradients.wgsl", bound, _PARAMS, entry_point,
            {
                f"{columns}{' f16' if halves else ''}": {"COLUMNS": columns, "HALVES": halves}
                for columns in range(1, _MOST_COLUMNS + 1)
                for halves in (0, 1)
            },
            cost=_cost(products),  # counted as for float32
        )
        for name, entry_point, products, bound in (
            ("attention_sums", "main_sums", 1, (_Q, _K, _G, _O, Binding(6, "new_sums", WRITE))),
            ("attention_query_gradients", "main_queries", 3, (_Q, _K, _V, _G, _SUMS, _D)),
            ("attention_key_gradients", "main_keys", 4, (_Q, _K, _V, _G, _SUMS, _D)),
        )
    )
)  # fmt: skip
