"""Layers that several architectures share."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.functions import manipulation
from browsergpu.functions.language.attention import rms_norm, rotate
from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.functions.nn import normalization, tables
from browsergpu.llm.models import training
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.linear import Joined, layers_of, linear
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class RMSNorm(Module):
    """Divide by the root mean square over the last axis, scale, and add a residual."""

    def __init__(self, weights: Weights, name: str, width: int, eps: float) -> None:
        super().__init__()
        self.weight = weights.vector(f"{name}.weight", width)
        self.eps = eps

    def forward(self, x: Array, residual: Array | None = None) -> Array:
        """Return an array of the input's shape."""
        if type(x) in TRACKED or type(residual) in TRACKED:  # the kernel has no gradient
            found = normalization.rms_norm(x, self.weight.shape, self.weight, self.eps)
            return found if residual is None else found + residual
        return rms_norm(x, self.weight, self.eps, residual)


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
        #: Queries, keys and values as one product, or queries and keys, or None.
        self.joined: Joined | None = None
        if f"{prefix}.attn_qkv.weight" in weights:
            rows = (heads + 2 * kv_heads) * width
            self.qkv = linear(weights, f"{prefix}.attn_qkv", rows, config.width)
        else:
            each = {"q": heads * width, "k": kv_heads * width, "v": kv_heads * width}
            self.joined, (self.q, self.k, self.v) = layers_of(
                weights, {f"{prefix}.attn_{name}": rows for name, rows in each.items()},
                config.width, (3, 2),
            )  # fmt: skip
        self.output = linear(weights, f"{prefix}.attn_output", config.width, heads * width)
        #: Weights of the norms of queries and keys, [2, head_width].
        self.norms: Array | None = None
        if normed:
            self.q_norm = RMSNorm(weights, f"{prefix}.attn_q_norm", width, config.eps)
            self.k_norm = RMSNorm(weights, f"{prefix}.attn_k_norm", width, config.eps)
            self.norms = manipulation.stack([self.q_norm.weight, self.k_norm.weight])
        self.eps = config.eps
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
        if cache is None:
            q, k, v = self._heads(x)
            if angles is not None:
                q, k = (training.rotated(one, angles, adjacent=self.adjacent) for one in (q, k))
            found = training.attention(q, k, v, self.scale, self.softcap, self.window)
        else:
            q = self._cached(x, cache, angles)
            found = cache.attend(self.layer, q, self.scale, self.softcap, self.window)
        return self._result(found, residual)

    def shares(self, x: Array, position: Array, angles: Array | None) -> Array:
        """Return how much each of the tokens [T, width] attends to each token, [heads, T, T].

        The tokens are the whole sequence, and ``position`` is 0.
        """
        q, k, _ = self._heads(x)
        if angles is not None:
            q, k = (rotate(one, angles, position, self.adjacent) for one in (q, k))
        return training.shares(q, k, self.scale, self.softcap, self.window)

    def _result(self, x: Array, residual: Array | None) -> Array:
        """Return the output of heads [T, H, D]."""
        heads, _, width = self.sizes
        return self.output(x.reshape((x.shape[0], heads * width)), residual)  # type: ignore[no-any-return]

    def _cached(self, x: Array, cache: Cache, angles: Array | None) -> Array:
        """Return queries as the cache attends to them, and add keys and values to the cache."""
        side_by_side = self._side_by_side(x)
        if side_by_side is None:
            q, k, v = self._heads(x)
            cache.add(self.layer, k, v, angles, adjacent=self.adjacent)
            return q if angles is None else rotate(q, angles, cache.position, self.adjacent)
        heads, kv_heads, width = self.sizes
        if side_by_side.shape[1] == heads + kv_heads:
            cache.add_values(self.layer, self.v(x).reshape((x.shape[0], kv_heads, width)))
        return cache.split(
            self.layer, side_by_side, heads, angles, self.norms, self.eps, adjacent=self.adjacent
        )

    def _side_by_side(self, x: Array) -> Array | None:
        """Return queries, keys and perhaps values, [T, all heads, head_width], or None."""
        if "qkv" in self._modules:
            found = self.qkv(x)
        elif self.joined is None:
            return None
        else:
            layers = (self.q, self.k, self.v)[: len(self.joined.rows)]
            found = self.joined(x, layers)
        return found.reshape((x.shape[0], -1, self.sizes[2]))  # type: ignore[no-any-return]

    def _heads(self, x: Array) -> tuple[Array, Array, Array]:
        """Return queries, keys and values of shape [T, heads, head_width], normalized."""
        heads, kv_heads, width = self.sizes
        count, end = x.shape[0], heads + kv_heads
        all_heads = self._side_by_side(x)
        if all_heads is None:
            q = self.q(x).reshape((count, heads, width))
            k = self.k(x).reshape((count, kv_heads, width))
        else:
            q, k = all_heads[:, :heads], all_heads[:, heads:end]
        if all_heads is None or all_heads.shape[1] == end:
            v = self.v(x).reshape((count, kv_heads, width))
        else:
            v = all_heads[:, end:]
        return (q, k, v) if self.norms is None else (self.q_norm(q), self.k_norm(k), v)


class GatedMLP(Module):
    """Compute down(activation(gate(x)) · up(x)) + residual."""

    def __init__(
        self, weights: Weights, prefix: str, config: Config, activation: Callable[[Array], Array]
    ) -> None:
        super().__init__()
        width, inner = config.width, config.inner
        rows = {f"{prefix}.ffn_gate": inner, f"{prefix}.ffn_up": inner}
        #: Both as one product, or None.
        self.joined, (self.gate, self.up) = layers_of(weights, rows, width, (2,))
        self.down = linear(weights, f"{prefix}.ffn_down", width, inner)
        self.activation = activation

    def forward(self, x: Array, residual: Array | None = None) -> Array:
        """Return an array of the input's shape."""
        if self.joined is None:
            gate, up = self.gate(x), self.up(x)
        else:
            both, inner = self.joined(x, (self.gate, self.up)), self.joined.rows[0]
            gate, up = both[..., :inner], both[..., inner:]
        return self.down(self.activation(gate) * up, residual)  # type: ignore[no-any-return]


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
