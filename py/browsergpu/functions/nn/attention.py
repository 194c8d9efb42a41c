"""Attention of queries to keys."""

from __future__ import annotations

from math import sqrt

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import narrowed
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.views import strided
from browsergpu.core import checks, shapes
from browsergpu.core.element_types import BOOL
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.shapes import Shape
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.attention_gradients import of_attention
from browsergpu.functions.nn.padding import padded
from browsergpu.functions.operands import array
from browsergpu.tensors import attention


@narrowed("query", "key", "value")
@differentiable(joint=(("query", "key", "value", "attn_mask"), of_attention))
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """softmax(scale q kᵀ) v of queries [.., S, D], keys [.., T, D] and values [.., T, V]: [.., S,
    V], without a matrix of scores. Leading axes are broadcast; the scale is 1 / √D if none is
    given.

    Where ``is_causal``, query i sees the first i + 1 keys. ``attn_mask`` broadcasts to [.., S, T]:
    floats are added to the scores, and keys whose bool is False are not seen; both may be given.
    Queries that see no key become 0, and have no part in any gradient. With ``enable_gqa`` the
    third axis from the end of key and value has a divisor of the heads that query has there, each
    for several of them. Floats, computed in float32. Raises InvalidArgument where the mask is
    broadcast over more than two groups of leading axes.
    """
    op = "scaled_dot_product_attention"
    given = (("query", query), ("key", key), ("value", value))
    q, k, v = (_sequence(op, name, x) for name, x in given)
    if checks.flag(op, "enable_gqa", enable_gqa):
        k, v = (_heads(op, name, x, q) for name, x in (("key", k), ("value", v)))
    if k.shape[-1] != q.shape[-1]:
        raise _wrong(op, "key", k, f"{q.shape[-1]} elements on its last axis, as query has")
    if v.shape[-2] != k.shape[-2]:
        raise _wrong(op, "value", v, f"{k.shape[-2]} rows, as key has")
    lead = shapes.broadcast(op, shapes.broadcast(op, q.shape[:-2], k.shape[:-2]), v.shape[:-2])
    factor = 1 / sqrt(max(q.shape[-1], 1)) if scale is None else checks.real(op, "scale", scale)
    if factor <= 0:
        raise InvalidArgument(op, "scale", scale, "a number above 0")
    width = max(q.shape[-1], v.shape[-1])
    q, k, own = (_spread(x, lead, width) for x in (q, k, v))
    mask = _mask(op, attn_mask, (*lead, q.shape[-2], k.shape[-2]))
    causal = checks.flag(op, "is_causal", is_causal)
    made = inputs.room(op, q, inputs.common(q, k, own), q.shape)
    first, second, third, result = (inputs.memory(x) for x in (q, k, own, made))
    limits = inputs.memory_of(mask)
    plan, spread = attention.plan(op, first, second, third, limits, factor, causal=causal)
    if made.size:
        attention.attention(q.device, op, plan, first, second, third, result, limits, spread)
    return made if v.shape[-1] == width else made[..., : v.shape[-1]]


def _wrong(op: str, name: str, x: Array, expected: str) -> InvalidArgument:
    return InvalidArgument(op, name, x, expected)


def _sequence(op: str, name: str, x: Array) -> Array:
    found = inputs.floats(op, name, x)
    if found.ndim < 2:
        raise _wrong(op, name, found, "have at least 2 axes")
    return found


def _heads(op: str, name: str, x: Array, query: Array) -> Array:
    """Each head as often as there are queries' heads for it."""
    if x.ndim < 3 or query.ndim < 3 or not x.shape[-3] or query.shape[-3] % x.shape[-3]:
        raise _wrong(op, name, x, f"a divisor of query's heads, {query.shape}, on the axis -3")
    *lead, heads, rows, columns = x.shape
    each = query.shape[-3] // heads
    apart = x.reshape((*lead, heads, 1, rows, columns))
    many = strided.spread(apart, (*lead, heads, each, rows, columns))
    return many.reshape((*lead, heads * each, rows, columns))


def _spread(x: Array, lead: Shape, width: int) -> Array:
    """An array for each leading index, packed, with zeros behind rows that are less wide."""
    if x.shape[-1] < width:
        x = padded(x, [(0, 0)] * (x.ndim - 1) + [(0, width - x.shape[-1])], 0.0)
    return apply.packed(strided.spread(x, (*lead, *x.shape[-2:])))


def _mask(op: str, mask: Array | None, shape: Shape) -> Array | None:
    name = "attn_mask"
    if mask is None:
        return None
    kind = array(op, name, mask).node.kind
    if kind is not BOOL and kind.kind != "f":
        raise InvalidType(op, name, mask, "bool, float32 or float16")
    rank, extents = len(shape), (1,) * (len(shape) - mask.ndim) + mask.shape
    if len(extents) != rank or any(m not in (1, n) for m, n in zip(extents, shape, strict=True)):
        raise _wrong(op, name, mask, f"a shape that broadcasts to {shape}")
    return apply.packed(mask)
