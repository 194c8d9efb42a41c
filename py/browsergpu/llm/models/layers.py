"""Layers that several architectures share."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.functions.language import quantized
from browsergpu.functions.language.attention import rms_norm, rotate
from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.functions.nn import normalization, tables
from browsergpu.llm.models import training
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class Linear(Module):
    """Compute x weightᵀ + bias + residual. The bias is that of the file, if it has one."""

    def __init__(self, weights: Weights, name: str, rows: int, columns: int) -> None:
        super().__init__()
        self.weight = weights.matrix(f"{name}.weight", rows, columns)
        self.bias = weights.optional_vector(f"{name}.bias", rows)

    def forward(self, x: Array, residual: Array | None = None) -> Array:
        """Return an array of shape [..., rows]."""
        if isinstance(self.weight, QuantizedArray):
            found: Array = quantized.linear(x, self.weight, residual)
            return found if self.bias is None else found + self.bias
        found = tables.linear(x, self.weight, self.bias)
        return found if residual is None else found + residual


class RMSNorm(Module):
    """Divide by the root mean square over the last axis, then scale."""

    def __init__(self, weights: Weights, name: str, width: int, eps: float) -> None:
        super().__init__()
        self.weight = weights.vector(f"{name}.weight", width)
        self.eps = eps

    def forward(self, x: Array) -> Array:
        """Return an array of the input's shape."""
        if type(x) in TRACKED:  # the kernel has no gradient
            return normalization.rms_norm(x, self.weight.shape, self.weight, self.eps)
        return rms_norm(x, self.weight, self.eps)


class LayerNorm(Module):
    """Normalize the last axis to mean 0 and variance 1, then scale and shift."""

    def __init__(self, weights: Weights, name: str, width: int, eps: float) -> None:
        super().__init__()
        self.weight = weights.vector(f"{name}.weight", width)
        self.bias = weights.vector(f"{name}.bias", width)
        self.eps = eps

    def forward(self, x: Array) -> Array:
        """Return an array of the input's shape."""
        return normalization.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class Attention(Module):
    """Causal attention of grouped queries to the cache, with rotary position embeddings.

    Parameters
    ----------
    weights, prefix
        The weights and the start of their names.
    config : Config
        The model's.
    layer : int
        The number of the block.
    window : int
        The most keys that a token attends to. 0 for all.
    normed : bool
        Whether queries and keys are normalized.
    """

    def __init__(
        self, weights: Weights, prefix: str, config: Config, layer: int, *, window: int = 0,
        normed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        width, heads, kv_heads = config.head_width, config.heads, config.kv_heads
        self.sizes = heads, kv_heads, width
        if f"{prefix}.attn_qkv.weight" in weights:
            rows = (heads + 2 * kv_heads) * width
            self.qkv = Linear(weights, f"{prefix}.attn_qkv", rows, config.width)
        else:
            self.q = Linear(weights, f"{prefix}.attn_q", heads * width, config.width)
            self.k = Linear(weights, f"{prefix}.attn_k", kv_heads * width, config.width)
            self.v = Linear(weights, f"{prefix}.attn_v", kv_heads * width, config.width)
        self.output = Linear(weights, f"{prefix}.attn_output", config.width, heads * width)
        if normed:
            self.q_norm = RMSNorm(weights, f"{prefix}.attn_q_norm", width, config.eps)
            self.k_norm = RMSNorm(weights, f"{prefix}.attn_k_norm", width, config.eps)
        self.is_normed = normed
        self.layer, self.window = layer, window
        self.adjacent = config.adjacent_pairs
        self.scale = config.attention_scale or 1 / sqrt(width)
        self.softcap = config.attention_softcap

    def forward(
        self, x: Array, cache: Cache | None, angles: Array | None, residual: Array | None = None
    ) -> Array:
        """Return the attention of tokens [T, width] at the cache's position, plus ``residual``.

        Without a cache, the tokens are the whole sequence, and there is a gradient.
        """
        q, k, v = self._heads(x)
        if cache is None:
            if angles is not None:
                q, k = (training.rotated(one, angles, adjacent=self.adjacent) for one in (q, k))
            found = training.attention(q, k, v, self.scale, self.softcap, self.window)
            return self._joined(found, residual)
        cache.add(self.layer, k, v, angles, adjacent=self.adjacent)
        if angles is not None:
            q = rotate(q, angles, cache.position, self.adjacent)
        found = cache.attend(self.layer, q, self.scale, self.softcap, self.window)
        return self._joined(found, residual)

    def shares(self, x: Array, position: Array, angles: Array | None) -> Array:
        """Return how much each of the tokens [T, width] attends to each token, [heads, T, T].

        The tokens are the whole sequence, and ``position`` is 0.
        """
        q, k, _ = self._heads(x)
        if angles is not None:
            q, k = (rotate(one, angles, position, self.adjacent) for one in (q, k))
        return training.shares(q, k, self.scale, self.softcap, self.window)

    def _joined(self, x: Array, residual: Array | None) -> Array:
        """Return the output of heads [T, H, D]."""
        heads, _, width = self.sizes
        return self.output(x.reshape((x.shape[0], heads * width)), residual)  # type: ignore[no-any-return]

    def _heads(self, x: Array) -> tuple[Array, Array, Array]:
        """Return queries, keys and values of shape [T, heads, head_width], normalized."""
        heads, kv_heads, width = self.sizes
        count = x.shape[0]
        if "qkv" in self._modules:
            all_heads = self.qkv(x).reshape((count, heads + 2 * kv_heads, width))
            end = heads + kv_heads
            q, k, v = all_heads[:, :heads], all_heads[:, heads:end], all_heads[:, end:]
        else:
            q = self.q(x).reshape((count, heads, width))
            k = self.k(x).reshape((count, kv_heads, width))
            v = self.v(x).reshape((count, kv_heads, width))
        return (self.q_norm(q), self.k_norm(k), v) if self.is_normed else (q, k, v)


class GatedMLP(Module):
    """Compute down(activation(gate(x)) · up(x)) + residual."""

    def __init__(
        self, weights: Weights, prefix: str, config: Config, activation: Callable[[Array], Array]
    ) -> None:
        super().__init__()
        width, inner = config.width, config.inner
        self.gate = Linear(weights, f"{prefix}.ffn_gate", inner, width)
        self.up = Linear(weights, f"{prefix}.ffn_up", inner, width)
        self.down = Linear(weights, f"{prefix}.ffn_down", width, inner)
        self.activation = activation

    def forward(self, x: Array, residual: Array | None = None) -> Array:
        """Return an array of the input's shape."""
        return self.down(self.activation(self.gate(x)) * self.up(x), residual)  # type: ignore[no-any-return]


class Head(Module):
    """Logits of tokens: a matrix of the file, or the embeddings if it has none."""

    def __init__(
        self, weights: Weights, config: Config, embeddings: Array | QuantizedArray
    ) -> None:
        super().__init__()
        self.weight = embeddings
        if "output.weight" in weights:
            self.weight = weights.matrix("output.weight", embeddings.shape[0], config.width)
        self.bias = weights.optional_vector("output.bias", embeddings.shape[0])

    def forward(self, x: Array) -> Array:
        """Return logits of shape [T, vocabulary]."""
        return tables.linear(x, self.weight, self.bias)
