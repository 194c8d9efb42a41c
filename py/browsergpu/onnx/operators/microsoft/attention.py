"""Attention of optimised transformers, with caches and rotary positions."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.microsoft import DOMAIN
from browsergpu.onnx.operators.networks.attention import (
    allowed,
    attend,
    combined,
    of_heads,
    of_rows,
    rotated,
)
from browsergpu.onnx.registry import operator

#: The score of masked keys, from which their share is zero in float32.
_LARGEST_FILTER = -1000.0


def _positions(position_ids: Any, batch: int, length: int) -> Any:
    """Return the position of each element: given, or from one offset on."""
    ids = position_ids.astype("int64", copy=False)
    if ids.ndim == 2:
        return ids
    return bg.broadcast_to(ids.reshape((1, 1)) + bg.arange(length), (batch, length))


@operator("RotaryEmbedding", domain=DOMAIN)
def rotary_embedding(
    x: Any, position_ids: Any, cos_cache: Any, sin_cache: Any, *, interleaved: int = 0,
    is_packed_batching: int = 0, num_heads: int = 0, rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Any:  # fmt: skip
    """Rotate pairs of elements by the angles of their positions."""
    if is_packed_batching:
        raise ValueError("is_packed_batching must be 0")
    is_flat = x.ndim == 3
    width = rotary_embedding_dim or cos_cache.shape[-1] * 2
    heads = num_heads or (x.shape[-1] // width if is_flat else x.shape[1])
    own = of_heads(x, heads) if is_flat else x
    ids = _positions(position_ids, own.shape[0], own.shape[2])
    found = rotated(own, cos_cache, sin_cache, ids, interleaved, width) * scale
    return of_rows(found) if is_flat else found


def _check_filter(value: float) -> None:
    """Raise ValueError for a number that leaves masked keys a share. They have none here."""
    if value > _LARGEST_FILTER:
        raise ValueError(f"mask_filter_value must be at most {_LARGEST_FILTER}, got {value}")


def _padding(mask: Any, batch: int, keys: int) -> Any:
    """Return the keys that a mask leaves: of lengths, of keys, or of queries and keys."""
    if mask.ndim == 1:
        if mask.shape[0] != batch:
            raise ValueError(f"the mask must have shape [{batch}], got {mask.shape}")
        return bg.arange(keys) < mask.astype("int64", copy=False).reshape((-1, 1, 1, 1))
    seen = mask != 0
    return seen[:, None, None] if mask.ndim == 2 else seen[:, None]


def _joint_mask(padding: Any, bias: Any, seen: Any) -> Any:
    if padding is not None:
        seen = padding if seen is None else bg.logical_and(padding, seen)
    return combined(bias, seen)


@operator("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(
    query: Any, key: Any = None, value: Any = None, bias: Any = None, key_padding_mask: Any = None,
    attention_bias: Any = None, past_key: Any = None, past_value: Any = None,
    past_sequence_length: Any = None, cache_indirection: Any = None, *, num_heads: int,
    mask_filter_value: float = -10000.0, scale: float = 0.0, unidirectional: int = 0, node: Node,
) -> Any:  # fmt: skip
    """Return attention of several heads, with a cache of keys and values."""
    if past_sequence_length is not None or cache_indirection is not None:
        raise ValueError("past_sequence_length and cache_indirection are not available")
    _check_filter(mask_filter_value)
    parts = _of_inputs(query, key, value, bias, num_heads)
    q, k, v = parts
    offset = 0
    if past_key is not None:
        offset = past_key.shape[2]
        k, v = bg.concatenate([past_key, k], 2), bg.concatenate([past_value, v], 2)
    queries, keys = q.shape[2], k.shape[2]
    padding = None
    if key_padding_mask is not None:
        padding = _padding(key_padding_mask, q.shape[0], keys)
    seen = allowed(queries, keys, offset, bool(unidirectional))
    mask = _joint_mask(padding, attention_bias, seen)
    factor = scale or 1 / sqrt(q.shape[-1])
    found, scores = attend(q, k, v, mask, factor, 0.0, 2 if node.wants(3) else None)
    return of_rows(found), k, v, scores


def _of_inputs(query: Any, key: Any, value: Any, bias: Any, heads: int) -> list[Any]:
    """Return queries, keys and values as [batch, heads, length, width], with their biases."""
    if query.ndim == 5:  # [batch, length, heads, 3, width]
        if bias is not None:
            of_parts = bias.reshape((3, query.shape[2], query.shape[4]))
            query = query + of_parts.transpose((1, 0, 2))
        return [query[:, :, :, at].transpose((0, 2, 1, 3)) for at in range(3)]
    if bias is not None and key.ndim > 3:
        raise ValueError("bias must be missing with packed or projected keys")
    if key.ndim == 5:  # [batch, length, heads, 2, width]
        packed = [key[:, :, :, at].transpose((0, 2, 1, 3)) for at in range(2)]
        return [of_heads(query, heads), *packed]
    width = query.shape[-1]
    if bias is not None:
        query = query + bias[:width]
    if key.ndim == 4:  # of another sequence, projected already
        return [of_heads(query, heads), key, value]
    if bias is not None:
        key, value = key + bias[width : 2 * width], value + bias[2 * width :]
    return [of_heads(x, heads) for x in (query, key, value)]


@operator("Attention", domain=DOMAIN)
def attention(
    x: Any, weights: Any, bias: Any = None, mask_index: Any = None, past: Any = None,
    attention_bias: Any = None, past_sequence_length: Any = None, *, do_rotary: int = 0,
    mask_filter_value: float = -10000.0, num_heads: int, past_present_share_buffer: int = 0,
    qkv_hidden_sizes: list[int] | None = None, rotary_embedding_dim: int = 0, scale: float = 0.0,
    unidirectional: int = 0,
) -> Any:  # fmt: skip
    """Project an array to queries, keys and values, and return their attention."""
    if do_rotary or past_present_share_buffer or past_sequence_length is not None:
        raise ValueError("do_rotary and past_present_share_buffer must be 0")
    _check_filter(mask_filter_value)
    whole = bg.matmul(x, weights)
    whole = whole if bias is None else whole + bias
    sizes = qkv_hidden_sizes or [whole.shape[-1] // 3] * 3
    ends = [sizes[0], sizes[0] + sizes[1]]
    parts = whole[..., : ends[0]], whole[..., ends[0] : ends[1]], whole[..., ends[1] :]
    q, k, v = (of_heads(one, num_heads) for one in parts)
    offset = 0
    if past is not None:
        offset = past.shape[3]
        k, v = bg.concatenate([past[0], k], 2), bg.concatenate([past[1], v], 2)
    padding = None if mask_index is None else _padding(mask_index, q.shape[0], k.shape[2])
    seen = allowed(q.shape[2], k.shape[2], offset, bool(unidirectional))
    mask = _joint_mask(padding, attention_bias, seen)
    found, _ = attend(q, k, v, mask, scale or 1 / sqrt(q.shape[-1]))
    return of_rows(found), bg.stack([k, v])


@operator("GroupQueryAttention", domain=DOMAIN, host=("total_sequence_length",))
def group_query_attention(
    query: Any, key: Any, value: Any, past_key: Any, past_value: Any, seqlens_k: Any,
    total_sequence_length: Any, cos_cache: Any = None, sin_cache: Any = None,
    position_ids: Any = None, attention_bias: Any = None, head_sink: Any = None, *,
    do_rotary: int = 0, kv_num_heads: int, local_window_size: int = -1, num_heads: int,
    qk_output: int = 0, rotary_interleaved: int = 0, scale: float = 0.0, smooth_softmax: int = 0,
    softcap: float = 0.0,
) -> Any:  # fmt: skip
    """Return causal attention, whose query heads share keys and values, with a cache."""
    if head_sink is not None or smooth_softmax or qk_output:
        raise ValueError("head_sink, smooth_softmax and qk_output are not available")
    if key is None:  # packed into the query
        width = query.shape[-1] // (num_heads + 2 * kv_num_heads)
        first, second = num_heads * width, (num_heads + kv_num_heads) * width
        query, key, value = query[..., :first], query[..., first:second], query[..., second:]
    q, k, v = of_heads(query, num_heads), of_heads(key, kv_num_heads), of_heads(value, kv_num_heads)
    batch, length, total = q.shape[0], q.shape[2], int(np.asarray(total_sequence_length).item())
    kept = 0 if past_key is None else past_key.shape[2]
    is_first = length == total
    # The number of keys that come before the new ones, for each example.
    before = seqlens_k.astype("int64", copy=False).reshape(-1) + (1 - length)
    if is_first:
        before = bg.zeros(batch, dtype="int64")
    if do_rotary:
        ids = position_ids
        if ids is None:
            ids = bg.maximum(before, 0).reshape((-1, 1)) + bg.arange(length)
        width = cos_cache.shape[-1] * 2
        wide = ids.astype("int64", copy=False)
        q, k = (rotated(x, cos_cache, sin_cache, wide, rotary_interleaved, width)
                for x in (q, k))  # fmt: skip
    if kept == 0:
        keys, values = k, v
    elif kept + length == total and batch == 1:
        keys, values = bg.concatenate([past_key, k], 2), bg.concatenate([past_value, v], 2)
    else:
        extent = max(kept, total)
        keys = _written(past_key, k, before, extent)
        values = _written(past_value, v, before, extent)
    extent = keys.shape[2]
    if batch == 1 and extent == total:
        seen = allowed(length, extent, total - length, True, _left(local_window_size))
    else:
        seen = allowed(length, extent, before, True, _left(local_window_size))
    mask = combined(attention_bias, seen)
    found, _ = attend(q, keys, values, mask, scale or 1 / sqrt(q.shape[-1]), softcap)
    return of_rows(found), keys, values


def _left(window: int) -> int:
    """Return how many keys before its own a query sees: a window counts its own key."""
    return window - 1 if window > 0 else -1


def _written(past: Any, new: Any, before: Any, extent: int) -> Any:
    """Return a cache of ``extent`` places, with new elements from ``before`` on."""
    length = new.shape[2]
    if past.shape[2] < extent:
        past = bg.pad(past, [(0, 0), (0, 0), (0, extent - past.shape[2]), (0, 0)])
    away = bg.arange(extent) - before.reshape((-1, 1))
    index = bg.clip(away, 0, length - 1)[:, None, :, None]
    moved = bg.take_along_axis(new, bg.broadcast_to(index, past.shape), 2)
    is_new = bg.logical_and(away >= 0, away < length)[:, None, :, None]
    return bg.where(is_new, moved, past)
