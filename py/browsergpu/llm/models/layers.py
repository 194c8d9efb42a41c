"""Layers that several architectures share."""

from __future__ import annotations

from math import sqrt

from browsergpu.arrays.array import Array
from browsergpu.functions import manipulation
from browsergpu.functions.language.attention import rotate
from browsergpu.functions.language.quantized import GATES, QuantizedArray
from browsergpu.functions.nn import tables
from browsergpu.llm.models import training
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.linear import Joined, layers_of, linear
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


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
        self, x: Array, cache: Cache | None, angles: Array | None, residual: Array | None = None,
        norm: RMSNorm | None = None,
    ) -> Array:  # fmt: skip
        """Return the attention of tokens [T, width] at the cache's position, plus ``residual``.

        The attention is that of x, or of its norm. Without a cache, the tokens are the whole
        sequence, and there is a gradient.
        """
        if cache is None:
            q, k, v = self._heads(x if norm is None else norm(x))
            if angles is not None:
                q, k = (training.rotated(one, angles, adjacent=self.adjacent) for one in (q, k))
            found = training.attention(q, k, v, self.scale, self.softcap, self.window)
        else:
            found = self._cached(x, cache, angles, norm)
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

    def _cached(self, x: Array, cache: Cache, angles: Array | None, norm: RMSNorm | None) -> Array:
        """Return the attention [T, H, D] to the cache, with the tokens' keys and values in it."""
        if norm is not None and not self._is_one_product:
            x, norm = norm(x), None
        side_by_side = self._side_by_side(x, norm)
        if side_by_side is None:
            q, k, v = self._heads(x)
            cache.add(self.layer, k, v, angles, adjacent=self.adjacent)
            q = q if angles is None else rotate(q, angles, cache.position, self.adjacent)
            return cache.attend(self.layer, q, self.scale, self.softcap, self.window)
        heads, kv_heads, width = self.sizes
        if side_by_side.shape[1] == heads + kv_heads:
            cache.add_values(self.layer, self.v(x).reshape((x.shape[0], kv_heads, width)))
        return cache.extend(
            self.layer, side_by_side, heads, angles, self.norms, self.eps, self.scale, self.softcap,
            self.window, adjacent=self.adjacent,
        )  # fmt: skip

    @property
    def _is_one_product(self) -> bool:
        """Whether queries, keys and values are one product."""
        return "qkv" in self._modules or (self.joined is not None and len(self.joined.rows) == 3)

    def _side_by_side(self, x: Array, norm: RMSNorm | None = None) -> Array | None:
        """Return queries, keys and perhaps values, [T, all heads, head_width], or None.

        They are those of x, or of its norm.
        """
        if "qkv" in self._modules:
            found = self.qkv(x, norm=norm)
        elif self.joined is None:
            return None
        else:
            layers = (self.q, self.k, self.v)[: len(self.joined.rows)]
            found = self.joined(x, layers, norm)
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
    """Compute down(activation(gate(x)) · up(x)) + residual.

    ``activation`` is a name in ``functions.language.quantized.GATES``.
    """

    def __init__(self, weights: Weights, prefix: str, config: Config, activation: str) -> None:
        super().__init__()
        width, inner = config.width, config.inner
        rows = {f"{prefix}.ffn_gate": inner, f"{prefix}.ffn_up": inner}
        #: Both as one product, or None.
        self.joined, (self.gate, self.up) = layers_of(weights, rows, width, (2,))
        self.down = linear(weights, f"{prefix}.ffn_down", width, inner)
        self.activation = activation

    def forward(
        self, x: Array, residual: Array | None = None, norm: RMSNorm | None = None
    ) -> Array:
        """Return an array of the input's shape, of x or its norm."""
        if self.joined is None:
            x = x if norm is None else norm(x)
            inner = GATES[self.activation](self.gate(x)) * self.up(x)
        else:
            inner = self.joined.gated(x, (self.gate, self.up), self.activation, norm)
        return self.down(inner, residual)  # type: ignore[no-any-return]


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
