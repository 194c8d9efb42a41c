"""Gradients of attention.

Kernels compute those of attention without a mask. In other cases, scores are recomputed for some
queries at a time. No matrix of all queries and keys is stored.

Source: Dao et al., "FlashAttention", arXiv 2205.14135, appendix B.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.views import strided
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT16
from browsergpu.engine.core.shapes import Shape, contiguous_strides
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.networks import attention_gradients as gradient_kernels
from browsergpu.engine.kernels.networks.attention import Layout
from browsergpu.engine.kernels.networks.attention_gradients import GradientPlan
from browsergpu.engine.tensors import attention
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.activations import softmax

#: Most scores at a time, of each head and of all heads. All together fit one binding of every
#: device, in float32.
_MOST_OF_A_HEAD = 1 << 20
_MOST = 1 << 25


def of_attention(
    g: Array, y: Array, query: Array, key: Array, value: Array, attn_mask: Any, is_causal: bool,
    scale: float | None, enable_gqa: bool, needs: Sequence[bool],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients for query, key, value and attn_mask."""
    if attn_mask is None and not enable_gqa:
        found = _by_kernels(g, y, query, key, value, is_causal, scale)
        if found is not None:
            return found
    q, k, v, own, made = (
        data_types.astype(x, "float32", copy=False) for x in (query, key, value, g, y)
    )
    if enable_gqa:
        k, v = repeat_heads(k, query.shape[-3]), repeat_heads(v, query.shape[-3])
    mask = _with_all_axes(attn_mask, g.ndim)
    factor = 1 / sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    along: Any = statistics.sum(own * made, axis=-1, keepdims=True)
    lead, rows, keys = g.shape[:-2], q.shape[-2], k.shape[-2]
    shapes = [(*lead, *x.shape[-2:]) for x in (q, k, v)] + [() if mask is None else mask.shape]
    of_query, of_key, of_value, of_mask = (
        creation.zeros(shape, dtype="float32", device=g.device) if is_needed else None
        for shape, is_needed in zip(shapes, needs, strict=True)
    )
    together = _rows(rows, keys, product(lead))
    for first in range(0, rows, together):
        these = slice(first, min(first + together, rows))
        seen = slice(0, min(these.stop, keys) if is_causal else keys)
        limits = (..., _along(mask, -2, these), _along(mask, -1, seen))
        some, part, given = q[..., these, :], k[..., seen, :], own[..., these, :]
        limit = None if mask is None else mask[limits]
        scores = _scores(some * factor, part, limit, first, is_causal)
        shares = softmax(scores) if limit is None else shares_of(scores)
        values = manipulation.matrix_transpose(v[..., seen, :])
        slopes = shares * (matmul(given, values) - along[..., these, :])
        if of_query is not None:
            of_query[..., these, :] = matmul(slopes, part) * factor
        if of_key is not None:
            _add_rows(of_key, seen, matmul(manipulation.matrix_transpose(slopes), some) * factor)
        if of_value is not None:
            _add_rows(of_value, seen, matmul(manipulation.matrix_transpose(shares), given))
        if of_mask is not None:
            of_mask[limits] = of_mask[limits] + _sum_broadcast(slopes, of_mask.shape)
    return (
        of_query, _sum_heads(of_key, key.shape, enable_gqa),
        _sum_heads(of_value, value.shape, enable_gqa), of_mask,
    )  # fmt: skip


@exclusive
def _by_kernels(
    g: Array, y: Array, query: Array, key: Array, value: Array, is_causal: bool, scale: float | None
) -> tuple[Any, ...] | None:
    """Return the gradients without a mask, or None for arrays that the kernels do not support.

    If query, key and value are the thirds of a linear layer's result, the gradients are thirds of
    one array, too.
    """
    arrays = query, key, value, g, y
    *lead, rows, width = query.shape
    keys, many = key.shape[-2], product(tuple(lead))
    if any(type(x) in INTERCEPTED or x.dtype != query.dtype for x in arrays):
        return None
    if key.shape != (*lead, keys, width) or value.shape != key.shape or not many * rows * keys:
        return None
    factor = 1 / sqrt(max(width, 1)) if scale is None else float(scale)
    batch, heads = lead if len(lead) == 2 else (1, many)
    nodes = [x.node.in_memory() for x in arrays]
    kind = nodes[0].kind
    first, second, third = nodes[:3]
    steps = [inputs.row_of(one, batch) if len(lead) in (1, 2) else None for one in nodes]
    # Whether each row in memory holds all heads of a position.
    are_rows = None not in steps[:3] and steps[1] == steps[2] and not first.offset
    if are_rows:
        row = heads * width
        layout = Layout(steps[0], steps[1], second.offset, third.offset)  # type: ignore[arg-type]
        kept = [
            x if step == row and not x.node.offset else _in_rows(x)
            for x, step in zip((g, y), steps[3:], strict=True)
        ]
        views = tuple(inputs.whole_memory(x.node.in_memory()) for x in (*arrays[:3], *kept))
    else:
        heads, row, layout = 1, width, Layout(width, width)
        kept = [apply.packed(x) for x in arrays]
        views = tuple(inputs.memory(x) for x in kept)
    are_thirds = (
        first.storage is second.storage and first.storage is third.storage and rows == keys
        and layout == Layout(3 * row, 3 * row, row, 2 * row)
    )  # fmt: skip
    pitch = 3 * row if are_thirds else row
    at = (row, 2 * row) if are_thirds else (0, many * keys * width)
    plan = GradientPlan(
        many, heads, rows, keys, width, factor, bool(is_causal), layout, row, pitch, pitch, *at
    )
    if not gradient_kernels.takes(plan, is_half=kind is FLOAT16):
        return None
    op, size = "scaled_dot_product_attention", many * rows * width
    of_query = inputs.room(op, query, kind, (3 * size if are_thirds else size,))
    others = of_query if are_thirds else inputs.room(op, query, kind, (2 * many * keys * width,))
    results = inputs.memory(of_query), inputs.memory(others)
    attention.gradients(query.device, op, plan, *views, *results)  # type: ignore[call-arg]

    def part(whole: Array, count: int, offset: int) -> Array:
        shape = (*lead, count, width)
        own = (*(count * pitch, width)[2 - len(lead) :], pitch, 1)
        return strided.view(whole, shape, own if are_rows else contiguous_strides(shape), offset)

    return part(of_query, rows, 0), part(others, keys, at[0]), part(others, keys, at[1]), None


def _in_rows(x: Array) -> Array:
    """Copy an array so that each row in memory holds all heads of a position."""
    axes = (*range(x.ndim - 3), x.ndim - 2, x.ndim - 3, x.ndim - 1)
    return strided.permuted(apply.copied(strided.permuted(x, axes)), axes)


def shares_of(scores: Any) -> Array:
    """Return the softmax of masked scores.

    Queries that see no key have zeros, and no gradient is NaN.
    """
    is_blind = statistics.max(scores, axis=-1, keepdims=True) == float("-inf")
    shares = softmax(elementwise.where(is_blind, 0.0, scores))
    return elementwise.where(is_blind, 0.0, shares)


def _rows(rows: int, keys: int, heads: int) -> int:
    """Return how many queries are processed together."""
    most = min(_MOST_OF_A_HEAD, _MOST // max(heads, 1))
    return max(1, min(rows, most // max(keys, 1)))


def _with_all_axes(mask: Any, rank: int) -> Any:
    """Return a mask with all axes."""
    if mask is None:
        return None
    return manipulation.reshape(mask, ((1,) * (rank - mask.ndim) + mask.shape))


def _along(mask: Any, axis: int, part: slice) -> slice:
    """Return the part of a mask's axis, or the whole axis if it is broadcast."""
    return slice(None) if mask is None or mask.shape[axis] == 1 else part


def _scores(q: Any, k: Any, limit: Any, first: int, is_causal: bool) -> Any:
    """Return the scores of queries from ``first`` on, -infinity for keys that are not seen."""
    found: Any = matmul(q, manipulation.matrix_transpose(k))
    if limit is not None and limit.dtype.kind == "b":
        found = elementwise.where(limit, found, float("-inf"))
    elif limit is not None:
        found = found + limit
    if is_causal:
        rows, keys = (
            creation.arange(begin, begin + count, dtype="int32", device=q.device)
            for begin, count in zip((first, 0), found.shape[-2:], strict=True)
        )
        is_seen = elementwise.less_equal(keys, manipulation.expand_dims(rows, axis=-1))
        found = elementwise.where(is_seen, found, float("-inf"))
    return found


def _add_rows(whole: Array, rows: slice, part: Any) -> None:
    whole[..., rows, :] = whole[..., rows, :] + part


def _sum_broadcast(slopes: Any, shape: Shape) -> Any:
    """Sum over the axes along which a mask of this shape is broadcast."""
    axes = tuple(n for n, extent in enumerate(shape) if extent == 1)
    return statistics.sum(slopes, axis=axes, keepdims=True) if axes else slopes


def repeat_heads(x: Array, heads: int) -> Any:
    """Repeat each head for the query heads that share it."""
    *lead, own, rows, columns = x.shape
    apart = manipulation.reshape(x, (*lead, own, 1, rows, columns))
    many = manipulation.broadcast_to(apart, (*lead, own, heads // own, rows, columns))
    return manipulation.reshape(many, (*lead, heads, rows, columns))


def _sum_heads(x: Any, shape: Shape, is_grouped: bool) -> Any:
    """Sum the gradients of the heads that share a key or value head."""
    if x is None or not is_grouped:
        return x
    *lead, heads, rows, columns = x.shape
    apart = manipulation.reshape(x, (*lead, shape[-3], heads // shape[-3], rows, columns))
    return statistics.sum(apart, axis=-3)
