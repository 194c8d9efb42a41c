"""Scaled dot-product attention."""

from __future__ import annotations

from math import sqrt

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import narrowed
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.views import strided
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import BOOL, FLOAT16
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.networks.attention import Layout, plan_attention
from browsergpu.engine.tensors import attention
from browsergpu.functions import manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.attention_gradients import of_attention, repeat_heads
from browsergpu.functions.nn.padding import padded
from browsergpu.functions.operands import array


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
    """Return ``softmax(scale * query @ key.mT) @ value`` without storing the scores.

    Parameters
    ----------
    query : Array
        Shape [..., S, D], float32 or float16. Leading axes of all three arrays broadcast.
    key : Array
        Shape [..., T, D], float32 or float16.
    value : Array
        Shape [..., T, V], float32 or float16.
    attn_mask : Array, optional
        Broadcasts to [..., S, T]. Floats are added to the scores. With bools, queries see only the
        keys that are True. It can be combined with ``is_causal``.
    is_causal : bool, optional
        Whether query i sees only the first i + 1 keys.
    scale : float, optional
        A positive factor. ``1 / sqrt(D)`` by default.
    enable_gqa : bool, optional
        Whether several heads of ``query`` share a head of ``key`` and ``value``. Heads are the
        third axis from the end.

    Returns
    -------
    Array
        Shape [..., S, V], of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If shapes do not fit, ``scale`` is not positive, or the mask broadcasts over more than two
        groups of leading axes.
    InvalidType
        If an operand does not consist of floats, or the mask of floats or bools.

    Notes
    -----
    The computation is in float32. Queries that see no key give 0, and contribute to no gradient.
    """
    op = "scaled_dot_product_attention"
    given = (("query", query), ("key", key), ("value", value))
    q, k, v = (_sequence(op, name, x) for name, x in given)
    if checks.flag(op, "enable_gqa", enable_gqa):
        k, v = (_repeat_heads(op, name, x, q) for name, x in (("key", k), ("value", v)))
    if k.shape[-1] != q.shape[-1]:
        raise _wrong(op, "key", k, f"{q.shape[-1]} elements on its last axis, as query has")
    if v.shape[-2] != k.shape[-2]:
        raise _wrong(op, "value", v, f"{k.shape[-2]} rows, as key has")
    lead = shapes.broadcast(op, shapes.broadcast(op, q.shape[:-2], k.shape[:-2]), v.shape[:-2])
    factor = 1 / sqrt(max(q.shape[-1], 1)) if scale is None else checks.real(op, "scale", scale)
    if factor <= 0:
        raise InvalidArgument(op, "scale", scale, "a number above 0")
    width = max(q.shape[-1], v.shape[-1])
    mask = _mask(op, attn_mask, (*lead, q.shape[-2], k.shape[-2]))
    causal = checks.flag(op, "is_causal", is_causal)
    if mask is None and q.shape[:-2] == k.shape[:-2] == v.shape[:-2] and k.shape == v.shape:
        found = _of_rows(op, q, k, v, factor, causal=causal)
        if found is not None:
            return found
    q, k, own = (_broadcast_padded(x, lead, width) for x in (q, k, v))
    made = inputs.room(op, q, inputs.common(q, k, own), q.shape)
    first, second, third, result = (inputs.memory(x) for x in (q, k, own, made))
    limits = inputs.memory_of(mask)
    plan, spread = attention.plan(op, first, second, third, limits, factor, causal=causal)
    if made.size:
        attention.attention(q.device, op, plan, first, second, third, result, limits, spread)
    return made if v.shape[-1] == width else made[..., : v.shape[-1]]


def _of_rows(op: str, q: Array, k: Array, v: Array, factor: float, *, causal: bool) -> Array | None:
    """Compute attention without copies, if each row in memory holds all heads of a position.

    The heads of a linear layer's result have this memory layout, and the result gets it too. Return
    None for other arrays, and for float16 that the kernels do not read.
    """
    kinds = {x.node.kind for x in (q, k, v)}
    if len(kinds) > 1 or q.ndim not in (3, 4) or not q.size or not k.size:
        return None
    *lead, rows, width = q.shape
    batch, heads = lead if len(lead) == 2 else (1, *lead)
    second, third = k.node.in_memory(), v.node.in_memory()
    row, other = inputs.row_of(second, batch), inputs.row_of(third, batch)
    if row is None or row != other:
        return None
    is_late = q.node.trace is not None
    own = None if is_late or q.node.offset else inputs.row_of(q.node, batch)
    step = heads * width if own is None else own
    layout = Layout(step, row, second.offset, third.offset)
    plan = plan_attention(batch, heads, rows, k.shape[-2], width, factor, causal, layout)
    if not attention.takes(q.device, plan, is_half=second.kind is FLOAT16):
        return None
    if own is None:  # as after a product with a scale. A copy of q is less than copies of k and v.
        q = _with_rows(q)
    first = q.node.in_memory()
    made = inputs.room(op, q, first.kind, (batch, rows, heads, width))
    queries, keys, values = (inputs.whole_memory(x) for x in (first, second, third))
    attention.attention(q.device, op, plan, queries, keys, values, inputs.memory(made))
    if len(lead) == 2:
        return manipulation.permute_dims(made, (0, 2, 1, 3))
    return manipulation.permute_dims(made.reshape((rows, heads, width)), (1, 0, 2))


def _with_rows(x: Array) -> Array:
    """Return an array [..., heads, positions, width] whose rows hold all heads of a position."""
    order = (*range(x.ndim - 3), x.ndim - 2, x.ndim - 3, x.ndim - 1)
    return manipulation.permute_dims(apply.packed(manipulation.permute_dims(x, order)), order)


def _wrong(op: str, name: str, x: Array, expected: str) -> InvalidArgument:
    return InvalidArgument(op, name, x, expected)


def _sequence(op: str, name: str, x: Array) -> Array:
    found = inputs.floats(op, name, x)
    if found.ndim < 2:
        raise _wrong(op, name, found, "have at least 2 axes")
    return found


def _repeat_heads(op: str, name: str, x: Array, query: Array) -> Array:
    """Repeat each head for the query heads that share it."""
    if x.ndim < 3 or query.ndim < 3 or not x.shape[-3] or query.shape[-3] % x.shape[-3]:
        raise _wrong(op, name, x, f"a divisor of query's heads, {query.shape}, on the axis -3")
    repeated: Array = repeat_heads(x, query.shape[-3])
    return repeated


def _broadcast_padded(x: Array, lead: Shape, width: int) -> Array:
    """Broadcast the leading axes, pad rows with zeros to ``width``, and copy into one block."""
    if x.shape[-1] < width:
        x = padded(x, [(0, 0)] * (x.ndim - 1) + [(0, width - x.shape[-1])], 0.0)
    shape = (*lead, *x.node.shape[-2:])
    return apply.packed(x if x.node.shape == shape else strided.spread(x, shape))


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
