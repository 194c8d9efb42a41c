"""Selection of the next token on the GPU."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, elementwise, statistics
from browsergpu.functions.nn import activations
from browsergpu.functions.ordering import sorting
from browsergpu.llm.generation.settings import Settings


def sample(
    logits: Array, settings: Settings, seen: Array | None, generator: Any, mask: Array | None = None
) -> Array:
    """Return a token of each sequence, int32 of shape [S].

    The order is that of the package transformers: repetition penalty, mask, temperature, top_k,
    top_p, min_p.

    Parameters
    ----------
    logits : Array
        Shape [S, V].
    settings : Settings
        How to select.
    seen : Array, optional
        float32 of shape [S, V]: 1 for tokens that the repetition penalty applies to.
    generator : Generator
        Random numbers, for settings that are not greedy.
    mask : Array, optional
        float32 of shape [S, V]: 0 for allowed tokens, -∞ for others.
    """
    own = logits
    if seen is not None:
        penalty = settings.repetition_penalty
        lowered = elementwise.where(own > 0, own / penalty, own * penalty)
        own = elementwise.where(seen > 0, lowered, own)
    if mask is not None:
        own = own + mask
    if settings.is_greedy:
        return _int32(sorting.argmax(own, axis=-1))
    own = own / settings.temperature
    order = None
    if settings.needs_order:
        order = sorting.argsort(own, axis=-1, descending=True)
        own = sorting.take_along_axis(own, order, axis=-1)
        own = _kept(own, settings)
    elif settings.min_p > 0:
        least = statistics.max(own, axis=-1, keepdims=True) + log(settings.min_p)
        own = elementwise.where(own >= least, own, -np.inf)
    # The largest sum of a logit and Gumbel noise is a sample of the softmax.
    uniform = generator.random(own.shape)
    noise = -elementwise.log(-elementwise.log(uniform))
    chosen = sorting.argmax(own + noise, axis=-1, keepdims=True)
    if order is not None:
        chosen = sorting.take_along_axis(order, chosen, axis=-1)
    return _int32(chosen[:, 0])


def _kept(own: Array, settings: Settings) -> Array:
    """Replace sorted logits that are not selected by -∞."""
    if settings.top_k:
        at = creation.arange(own.shape[-1], dtype=np.int32, device=own.device)
        own = elementwise.where(at < settings.top_k, own, -np.inf)
    if settings.top_p < 1:
        shares = activations.softmax(own, -1)
        before = sorting.cumulative_sum(shares, axis=-1) - shares
        # The first one is always kept.
        at = creation.arange(own.shape[-1], dtype=np.int32, device=own.device)
        own = elementwise.where((before < settings.top_p) | (at == 0), own, -np.inf)
    if settings.min_p > 0:
        own = elementwise.where(own >= own[:, :1] + log(settings.min_p), own, -np.inf)
    return own


def log_probability(logits: Array, token: Array) -> Array:
    """Return the log probabilities of tokens [S], from logits [S, V]."""
    own = activations.log_softmax(logits, -1)
    return sorting.take_along_axis(own, token[:, None], axis=-1)[:, 0]


def _int32(x: Array) -> Array:
    return x.astype(np.int32, copy=False)
