"""The gradient of attention: its scores are computed again, some queries at a time, so that no
matrix of all queries and keys is kept.

Source: Dao et al., "FlashAttention", arXiv 2205.14135, appendix B.4."""

from __future__ import annotations

from math import sqrt
from typing import Any

from browsergpu.array.array import Array
from browsergpu.array.functions import (
    creation,
    data_types,
    elementwise,
    manipulation,
    statistics,
)
from browsergpu.array.functions.linear import matmul
from browsergpu.array.functions.networks.activations import softmax
from browsergpu.array.functions.networks.padding import pad
from browsergpu.core.checks import product

#: Scores computed at a time: of each head, and of all together, what one binding holds on every
#: device, in float32.
_MOST_OF_A_HEAD = 1 << 20
_MOST = 1 << 25


def of_attention(
    g: Array, y: Array, query: Array, key: Array, value: Array, attn_mask: Any, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """By query, key, value and attn_mask."""
    q, k, v, own, made = (
        data_types.astype(x, "float32", copy=False) for x in (query, key, value, g, y)
    )
    if enable_gqa:
        k, v = _for_heads(k, query.shape[-3]), _for_heads(v, query.shape[-3])
    factor = 1 / sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    along: Any = statistics.sum(own * made, axis=-1, keepdims=True)
    rows, keys = query.shape[-2], key.shape[-2]
    together = _rows(rows, keys, product(g.shape[:-2]))
    parts: list[tuple[Any, ...]] = []
    for first in range(0, rows, together):
        last = min(first + together, rows)
        seen = min(last, keys) if is_causal else keys
        these = slice(first, last)
        masked = _scores(q[..., these, :] * factor, k[..., :seen, :], attn_mask, first, is_causal)
        shares = softmax(masked)
        given = own[..., these, :]
        slopes = shares * (
            matmul(given, manipulation.matrix_transpose(v[..., :seen, :])) - along[..., these, :]
        )
        turned = manipulation.matrix_transpose(slopes)
        behind = [0, 0, 0, keys - seen]
        parts.append((
            matmul(slopes, k[..., :seen, :]) * factor,
            pad(matmul(turned, q[..., these, :]) * factor, behind),
            pad(matmul(manipulation.matrix_transpose(shares), given), behind),
            _of_mask(slopes, attn_mask, keys - seen),
        ))  # fmt: skip
    of_query, of_key, of_value, of_mask = _together(parts, attn_mask)
    return (
        of_query,
        _of_heads(of_key, key.shape, enable_gqa),
        _of_heads(of_value, value.shape, enable_gqa),
        of_mask,
    )


def _rows(rows: int, keys: int, heads: int) -> int:
    """How many queries come together."""
    most = min(_MOST_OF_A_HEAD, _MOST // max(heads, 1))
    return max(1, min(rows, most // max(keys, 1)))


def _scores(q: Any, k: Any, mask: Any, first: int, is_causal: bool) -> Any:
    """Of queries from the ``first`` on, with -infinity where a key is not seen."""
    found: Any = matmul(q, manipulation.matrix_transpose(k))
    rows, seen = found.shape[-2:]
    if mask is not None:
        if mask.ndim > 1 and mask.shape[-2] != 1:
            mask = mask[..., first : first + rows, :]
        if mask.ndim and mask.shape[-1] != 1:
            mask = mask[..., :seen]
        if mask.dtype.kind == "b":
            found = elementwise.where(mask, found, float("-inf"))
        else:
            found = found + mask
    if is_causal:
        numbers = creation.arange(first, first + rows, dtype="int32", device=q.device)
        places = creation.arange(seen, dtype="int32", device=q.device)
        is_seen = elementwise.less_equal(places, manipulation.expand_dims(numbers, axis=-1))
        found = elementwise.where(is_seen, found, float("-inf"))
    return found


def _of_mask(slopes: Any, mask: Any, behind: int) -> Any:
    """For all keys, added up where the mask is broadcast."""
    if mask is None or mask.dtype.kind == "b":
        return None
    extents = (1,) * (slopes.ndim - mask.ndim) + mask.shape
    whole = pad(slopes, [0, behind])
    axes = tuple(
        n for n, (extent, own) in enumerate(zip(extents, whole.shape, strict=True)) if extent < own
    )
    return statistics.sum(whole, axis=axes, keepdims=True) if axes else whole


def _together(parts: list[tuple[Any, ...]], mask: Any) -> tuple[Any, ...]:
    """One behind the other along the queries, or added up."""
    of_queries, of_keys, of_values, of_masks = zip(*parts, strict=True)
    of_mask = None
    if of_masks[0] is not None:
        by_query = mask.ndim > 1 and mask.shape[-2] != 1
        of_mask = _joined(of_masks) if by_query else _sum(of_masks)
    return _joined(of_queries), _sum(of_keys), _sum(of_values), of_mask


def _joined(parts: Any) -> Any:
    return manipulation.concat(parts, axis=-2) if len(parts) > 1 else parts[0]


def _sum(parts: Any) -> Any:
    return sum(parts[1:], parts[0])


def _for_heads(x: Array, heads: int) -> Any:
    """Each head as often as there are queries' heads for it."""
    *lead, own, rows, columns = x.shape
    apart = manipulation.reshape(x, (*lead, own, 1, rows, columns))
    many = manipulation.broadcast_to(apart, (*lead, own, heads // own, rows, columns))
    return manipulation.reshape(many, (*lead, heads, rows, columns))


def _of_heads(x: Any, shape: Any, is_grouped: bool) -> Any:
    """The sums of the heads that were one."""
    if not is_grouped:
        return x
    *lead, heads, rows, columns = x.shape
    apart = manipulation.reshape(x, (*lead, shape[-3], heads // shape[-3], rows, columns))
    return statistics.sum(apart, axis=-3)
