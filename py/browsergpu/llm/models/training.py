"""Attention of a whole sequence, with gradients. Generation uses kernels without them."""

from __future__ import annotations

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import activations
from browsergpu.functions.nn.attention import scaled_dot_product_attention


def rotated(x: Array, angles: Array, *, adjacent: bool) -> Array:
    """Return queries or keys [T, H, D] with rotary position embeddings, from position 0 on.

    ``angles`` and ``adjacent`` are those of ``functions.language.attention.rotate``.
    """
    width = 2 * angles.shape[1]
    own = angles[: x.shape[0], None]
    cosines, sines = own[..., 0], own[..., 1]
    if adjacent:
        first, second = x[..., 0:width:2], x[..., 1:width:2]
    else:
        first, second = x[..., : width // 2], x[..., width // 2 : width]
    pair = first * cosines - second * sines, second * cosines + first * sines
    if adjacent:
        turned = manipulation.stack(pair, axis=-1).reshape((*x.shape[:-1], width))
    else:
        turned = manipulation.concat(pair, axis=-1)
    return manipulation.concat([turned, x[..., width:]], axis=-1) if x.shape[-1] > width else turned


def shares(query: Array, keys: Array, scale: float, softcap: float, window: int) -> Array:
    """Return how much each token attends to each token, [H, T, T], for [T, H, D] and [T, G, D].

    ``scale``, ``softcap`` and ``window`` are those of
    ``functions.language.attention.cached_attention``.
    """
    q, k = (manipulation.permute_dims(one, (1, 0, 2)) for one in (query, keys))
    k = manipulation.repeat(k, q.shape[0] // k.shape[0], axis=0)
    scores = matmul(q, manipulation.matrix_transpose(k)) * scale
    if softcap:
        scores = softcap * elementwise.tanh(scores / softcap)
    return activations.softmax(elementwise.where(_seen(query, window), scores, -np.inf), -1)


def attention(
    query: Array, keys: Array, values: Array, scale: float, softcap: float, window: int
) -> Array:
    """Return the causal attention [T, H, D] of a sequence to itself.

    ``scale``, ``softcap`` and ``window`` are those of :func:`shares`.
    """
    q, k, v = (manipulation.permute_dims(one, (1, 0, 2)) for one in (query, keys, values))
    if softcap:
        v = manipulation.repeat(v, q.shape[0] // v.shape[0], axis=0)
        found = matmul(shares(query, keys, scale, softcap, window), v)
    else:
        mask = _seen(query, window)
        found = scaled_dot_product_attention(q, k, v, mask, scale=scale, enable_gqa=True)
    return manipulation.permute_dims(found, (1, 0, 2))


def _seen(query: Array, window: int) -> Array:
    """Return the keys that each query attends to, bool of shape [T, T]."""
    count = query.shape[0]
    at = np.arange(count)
    distance = at[:, None] - at[None]
    seen = (distance >= 0) & (distance < (window or count + 1))
    return creation.asarray(seen, device=query.device)
