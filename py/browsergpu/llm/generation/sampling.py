"""Selection of the next token on the GPU."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.nn import activations
from browsergpu.functions.ordering import sorting
from browsergpu.llm.generation.settings import Settings


def sample(
    logits: Array, settings: Settings, seen: Array | None, generator: Any, mask: Array | None = None
) -> Array:
    """Return a token, int32 of shape [1].

    The order is that of the package transformers: repetition penalty, mask, temperature, top_k,
    top_p, min_p.

    Parameters
    ----------
    logits : Array
        Shape [V].
    settings : Settings
        How to select.
    seen : Array, optional
        float32 of shape [V]: 1 for tokens that the repetition penalty applies to.
    generator : Generator
        Random numbers, for settings that are not greedy.
    mask : Array, optional
        float32 of shape [V]: 0 for allowed tokens, -∞ for others.
    """
    own = logits
    if seen is not None:
        penalty = settings.repetition_penalty
        lowered = elementwise.where(own > 0, own / penalty, own * penalty)
        own = elementwise.where(seen > 0, lowered, own)
    if mask is not None:
        own = own + mask
    if settings.is_greedy:
        return _int32(sorting.argmax(own, axis=-1, keepdims=True))
    own = own / settings.temperature
    order = None
    if settings.needs_order:
        order = sorting.argsort(own, descending=True)
        own = manipulation.take(own, order)
        own = _kept(own, settings)
    elif settings.min_p > 0:
        least = statistics.max(own) + log(settings.min_p)
        own = elementwise.where(own >= least, own, -np.inf)
    # The largest sum of a logit and Gumbel noise is a sample of the softmax.
    uniform = generator.random(own.shape)
    noise = -elementwise.log(-elementwise.log(uniform))
    chosen = sorting.argmax(own + noise, axis=-1, keepdims=True)
    if order is not None:
        chosen = manipulation.take(order, chosen)
    return _int32(chosen)


def _kept(own: Array, settings: Settings) -> Array:
    """Replace sorted logits that are not selected by -∞."""
    if settings.top_k:
        at = creation.arange(own.size, dtype=np.int32, device=own.device)
        own = elementwise.where(at < settings.top_k, own, -np.inf)
    if settings.top_p < 1:
        shares = activations.softmax(own, -1)
        before = sorting.cumulative_sum(shares) - shares
        # The first one is always kept.
        at = creation.arange(own.size, dtype=np.int32, device=own.device)
        own = elementwise.where((before < settings.top_p) | (at == 0), own, -np.inf)
    if settings.min_p > 0:
        own = elementwise.where(own >= own[0] + log(settings.min_p), own, -np.inf)
    return own


def log_probability(logits: Array, token: Array) -> Array:
    """Return the log probability of a token, of shape [1], from logits [V]."""
    return manipulation.take(activations.log_softmax(logits, -1), token)


def _int32(x: Array) -> Array:
    return x.astype(np.int32, copy=False)
