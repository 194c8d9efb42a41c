"""``jax.nn``: activations, softmax, attention and initial values."""

from __future__ import annotations

import difflib
from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.nn import initializers
from browsergpu.jax.nn.functions import (
    celu,
    dot_product_attention,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    log_softmax,
    logmeanexp,
    logsumexp,
    mish,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    standardize,
    swish,
    tanh,
)

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "identity", "initializers", "leaky_relu", "log1mexp", "log_sigmoid",
    "log_softmax", "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "selu", "sigmoid",
    "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus",
    "standardize", "swish", "tanh",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.nn' has no attribute {name!r}")
    close = difflib.get_close_matches(name, __all__, 1)
    advice = f"Did you mean {close[0]}?" if close else "browsergpu.nn may have a function for it."
    raise UnknownName(f"browsergpu.jax.nn.{name}", f"it is not available. {advice}")
