"""Attention and rotary positions."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def of_heads(x: Any, heads: int) -> Any:
    """Return [batch, heads, length, width] of [batch, length, heads width]."""
    batch, length, width = x.shape
    if heads < 1 or width % heads:
        raise ValueError(f"the number of heads must divide {width}, got {heads}")
    return x.reshape((batch, length, heads, width // heads)).transpose((0, 2, 1, 3))


def of_rows(x: Any) -> Any:
    """Return [batch, length, heads width] of [batch, heads, length, width]."""
    batch, heads, length, width = x.shape
    return x.transpose((0, 2, 1, 3)).reshape((batch, length, heads * width))


def allowed(
    queries: int, keys: int, offset: Any, is_causal: bool, left: int = -1, right: int = -1
) -> Any:
    """Return which keys a query sees. ``offset`` keys come before the queries.

    The result is [queries, keys], or [batch, 1, queries, keys] if ``offset`` is an array. None if
    all keys are seen.
    """
    if not is_causal and left < 0 and right < 0:
        return None
    is_plain = isinstance(offset, int)
    if is_plain and is_causal and left < 0 and offset >= keys - 1:
        return None
    i, j = np.arange(queries)[:, None], np.arange(keys)
    away: Any = i - j
    if is_plain:
        away = away + offset
        seen = np.ones(away.shape, bool)
        if is_causal:
            seen &= away >= 0
        if left >= 0:
            seen &= away <= left
        if right >= 0:
            seen &= -away <= right
        return bg.asarray(seen)
    far = bg.asarray(away) + offset.astype("int64", copy=False).reshape((-1, 1, 1, 1))
    found = bg.ones(far.shape, dtype="bool")
    if is_causal:
        found = far >= 0
    if left >= 0:
        found = bg.logical_and(found, far <= left)
    if right >= 0:
        found = bg.logical_and(found, -far <= right)
    return found


def combined(mask: Any, seen: Any) -> Any:
    """Return a mask and the keys that are seen as one mask."""
    if seen is None:
        return mask
    if mask is None:
        return seen
    if mask.dtype.kind == "b":
        return bg.logical_and(mask, seen)
    return bg.where(seen, mask, -np.inf)


def attend(
    q: Any, k: Any, v: Any, mask: Any, scale: float, softcap: float = 0.0, mode: int | None = None
) -> tuple[Any, Any]:
    """Return attention, and the scores that ``mode`` names or None.

    ``mode`` is 0 for the products, 1 after the softcap, 2 with the mask, and 3 for probabilities.
    """
    if q.shape[1] != k.shape[1]:
        each = q.shape[1] // k.shape[1]
        if mode is None and not softcap:
            found = _fused(q, k, v, mask, scale, True)
            return found, None
        k, v = bg.repeat(k, each, axis=1), bg.repeat(v, each, axis=1)
    if mode is None and not softcap:
        return _fused(q, k, v, mask, scale, False), None
    root = sqrt(abs(scale))
    scores = bg.matmul(q * root, bg.matrix_transpose(k) * (root if scale > 0 else -root))
    shown = scores
    if softcap:
        scores = bg.tanh(scores / softcap) * softcap
        shown = scores if mode != 0 else shown
    blocked = None
    if mask is not None:
        if mask.dtype.kind == "b":
            scores = bg.where(mask, scores, -np.inf)
            blocked = bg.logical_not(bg.any(mask, axis=-1, keepdims=True))
        else:
            scores = scores + mask
            blocked = bg.isneginf(bg.max(mask, axis=-1, keepdims=True))
        shown = scores if mode == 2 else shown
    if blocked is not None:
        scores = bg.where(blocked, 0, scores)
    shares = bg.nn.softmax(scores.astype("float32", copy=False), -1)
    if blocked is not None:
        shares = bg.where(blocked, 0, shares)
    shares = shares.astype(q.dtype, copy=False)
    return bg.matmul(shares, v), shares if mode == 3 else shown.astype(q.dtype, copy=False)


def _fused(q: Any, k: Any, v: Any, mask: Any, scale: float, is_grouped: bool) -> Any:
    own = mask
    blocked = None
    if own is not None:
        while own.ndim < 2:
            own = own[None]
        if own.dtype.kind == "f":
            blocked = bg.isneginf(bg.max(own, axis=-1, keepdims=True))
            own = (
                bg.maximum(own, -1e30).astype(q.dtype, copy=False)
                if own.dtype == np.float32
                else own
            )
        # The kernel's mask may vary along the batch or the heads.
        lead = own.shape[:-2]
        if len(lead) == 2 and lead[0] > 1 and lead[1] == 1:
            own = bg.broadcast_to(own, (lead[0], q.shape[1], *own.shape[-2:]))
        elif len(lead) in (1, 2) and lead[-1] > 1 and (len(lead) == 1 or lead[0] == 1):
            own = bg.broadcast_to(own, (q.shape[0], q.shape[1], *own.shape[-2:]))
    if scale <= 0:
        q, scale = q * scale, 1.0
    found = bg.nn.scaled_dot_product_attention(q, k, v, own, scale=scale, enable_gqa=is_grouped)
    return found if blocked is None else bg.where(blocked, 0, found)


@operator("Attention", since=23)
def attention(
    q: Any, k: Any, v: Any, attn_mask: Any = None, past_key: Any = None, past_value: Any = None,
    nonpad_kv_seqlen: Any = None, *, is_causal: int = 0, kv_num_heads: int | None = None,
    left_window_size: int = -1, q_num_heads: int | None = None, qk_matmul_output_mode: int = 0,
    right_window_size: int = -1, scale: float | None = None, softcap: float = 0.0,
    softmax_precision: int | None = None, node: Node,
) -> Any:  # fmt: skip
    """Return softmax(scale q @ k.T + mask) @ v, with a cache of keys and values."""
    is_flat = q.ndim == 3
    if is_flat:
        if q_num_heads is None or kv_num_heads is None:
            raise ValueError("q_num_heads and kv_num_heads must be given for inputs of 3 axes")
        q, k, v = of_heads(q, q_num_heads), of_heads(k, kv_num_heads), of_heads(v, kv_num_heads)
    offset: Any = 0
    if past_key is not None:
        offset = past_key.shape[2]
        k, v = bg.concatenate([past_key, k], 2), bg.concatenate([past_value, v], 2)
    queries, keys = q.shape[2], k.shape[2]
    mask = attn_mask
    if mask is not None and mask.shape[-1] < keys:
        pairs = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
        if mask.dtype.kind == "b":
            mask = bg.pad(mask.astype("uint8", copy=False), pairs) != 0
        else:
            mask = bg.pad(mask, pairs, constant_values=-np.inf)
    if nonpad_kv_seqlen is not None:
        offset = nonpad_kv_seqlen.astype("int64", copy=False) - queries
    seen = allowed(queries, keys, offset, bool(is_causal), left_window_size, right_window_size)
    if nonpad_kv_seqlen is not None:
        whole = bg.arange(keys) < nonpad_kv_seqlen.reshape((-1, 1, 1, 1))
        seen = whole if seen is None else bg.logical_and(seen, whole)
    mask = combined(mask, seen)
    factor = 1 / sqrt(q.shape[-1]) if scale is None else scale
    mode = qk_matmul_output_mode if node.wants(3) else None
    found, scores = attend(q, k, v, mask, factor, softcap, mode)
    return (of_rows(found) if is_flat else found), k, v, scores


def rotated(x: Any, cos: Any, sin: Any, position_ids: Any, interleaved: int, width: int) -> Any:
    """Rotate pairs of elements of [batch, heads, length, size] by the angles of their positions."""
    size = x.shape[-1]
    used = width or size
    if position_ids is not None:
        ids = position_ids.astype("int64", copy=False)
        cos, sin = bg.take(cos, ids, axis=0), bg.take(sin, ids, axis=0)
    cos, sin = bg.expand_dims(cos, 1), bg.expand_dims(sin, 1)
    cos, sin = (
        cos[..., : used // 2].astype(x.dtype, copy=False),
        sin[..., : used // 2].astype(x.dtype, copy=False),
    )
    turned, kept = x[..., :used], x[..., used:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., : used // 2], turned[..., used // 2 :]
    real, imag = cos * a - sin * b, sin * a + cos * b
    if interleaved:
        found = bg.stack([real, imag], -1).reshape(turned.shape)
    else:
        found = bg.concatenate([real, imag], -1)
    return found if used == size else bg.concatenate([found, kept], -1)


@operator("RotaryEmbedding", since=23)
def rotary_embedding(
    x: Any, cos_cache: Any, sin_cache: Any, position_ids: Any = None, *, interleaved: int = 0,
    num_heads: int = 0, rotary_embedding_dim: int = 0,
) -> Any:  # fmt: skip
    """Rotate pairs of elements by the angles of their positions."""
    is_flat = x.ndim == 3
    own = of_heads(x, num_heads) if is_flat else x
    found = rotated(own, cos_cache, sin_cache, position_ids, interleaved, rotary_embedding_dim)
    return of_rows(found) if is_flat else found


@operator("FlexAttention", domain="ai.onnx.preview")
def flex_attention(
    q: Any, k: Any, v: Any, *, scale: float | None = None,
    score_mod: Callable[..., Any] | None = None, prob_mod: Callable[..., Any] | None = None,
    softmax_precision: int | None = None,
) -> Any:  # fmt: skip
    """Return attention whose scores and probabilities graphs change."""
    if q.shape[1] != k.shape[1]:
        each = q.shape[1] // k.shape[1]
        k, v = bg.repeat(k, each, axis=1), bg.repeat(v, each, axis=1)
    factor = 1 / sqrt(q.shape[-1]) if scale is None else scale
    root = sqrt(factor)
    scores = bg.matmul(q * root, bg.matrix_transpose(k) * root).astype("float32", copy=False)
    if score_mod is not None:
        scores = score_mod(scores)[0]
    shares = bg.nn.softmax(scores, -1)
    if prob_mod is not None:
        shares = prob_mod(shares)[0]
    return bg.matmul(shares, v.astype("float32", copy=False)).astype(v.dtype, copy=False)


@operator("LinearAttention", since=27)
def linear_attention(
    query: Any, key: Any, value: Any, past_state: Any = None, decay: Any = None, beta: Any = None,
    *, chunk_size: int = 64, kv_num_heads: int, q_num_heads: int, scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> Any:  # fmt: skip
    """Return attention without softmax, from a state that each step changes."""
    if update_rule not in ("linear", "gated", "delta", "gated_delta"):
        raise ValueError(
            f"update_rule must be linear, gated, delta or gated_delta: {update_rule!r}"
        )
    for name, x, is_used in (
        ("decay", decay, "gated" in update_rule), ("beta", beta, "delta" in update_rule),
    ):  # fmt: skip
        if (x is not None) != is_used:
            how = "given" if is_used else "missing"
            raise ValueError(f"{name} must be {how} for update_rule {update_rule!r}")
    q, k, v = (
        of_heads(x, heads).astype("float32", copy=False)
        for x, heads in ((query, q_num_heads), (key, kv_num_heads), (value, kv_num_heads))
    )
    batch, _, length, width = k.shape
    state = past_state
    kind = query.dtype if past_state is None else past_state.dtype
    if state is None:
        state = bg.zeros((batch, kv_num_heads, width, v.shape[-1]), dtype="float32")
    state = state.astype("float32", copy=False)
    factor = scale or 1 / sqrt(width)
    gates = None if decay is None else of_heads(decay.astype("float32", copy=False), kv_num_heads)
    betas = None
    if beta is not None:
        betas = of_heads(beta.astype("float32", copy=False), beta.shape[-1])
    outputs = []
    for at in range(length):
        k_t, v_t = k[:, :, at], v[:, :, at]
        if gates is not None:
            state = state * bg.exp(gates[:, :, at])[..., None]
        if betas is not None:
            known = bg.matmul(k_t[..., None, :], state)[..., 0, :]
            v_t = betas[:, :, at] * (v_t - known)
        state = state + k_t[..., :, None] * v_t[..., None, :]
        each = q_num_heads // kv_num_heads
        read = state if each == 1 else bg.repeat(state, each, axis=1)
        outputs.append(bg.matmul(q[:, :, at][..., None, :], read)[..., 0, :] * factor)
    found = of_rows(bg.stack(outputs, 2))
    return found.astype(query.dtype, copy=False), state.astype(kind, copy=False)
