"""GPT-2: learned positions, LayerNorm and biases everywhere."""

from __future__ import annotations

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation
from browsergpu.functions.nn import activations, tables
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.layers import Attention, Head
from browsergpu.llm.models.linear import linear
from browsergpu.llm.models.norms import LayerNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.module import Module


class GPT2Block(Module):
    """Attention and a feed-forward layer, each after a normalization, added to the input."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix, width, inner = f"blk.{layer}", config.width, config.inner
        self.attention_norm = LayerNorm(weights, f"{prefix}.attn_norm", width, config.eps)
        self.attention = Attention(weights, prefix, config, layer)
        self.mlp_norm = LayerNorm(weights, f"{prefix}.ffn_norm", width, config.eps)
        self.up = linear(weights, f"{prefix}.ffn_up", inner, width)
        self.down = linear(weights, f"{prefix}.ffn_down", width, inner)

    def forward(self, x: Array, cache: Cache) -> Array:
        """Return the states [T, width] after the block."""
        x = self.attention(self.attention_norm(x), cache, None, x)
        inner = activations.gelu(self.up(self.mlp_norm(x)), approximate="tanh")
        return self.down(inner, x)  # type: ignore[no-any-return]


class GPT2(Module):
    """A decoder of GPT-2's architecture."""

    def __init__(self, weights: Weights, config: Config, positions: int) -> None:
        super().__init__()
        self.config = config
        self.embeddings = weights.table("token_embd.weight", config.width)
        #: Number of tokens.
        self.vocabulary: int = self.embeddings.shape[0]
        self.positions = weights.matrix("position_embd.weight", config.context, config.width)
        self.blocks = ModuleList([GPT2Block(weights, config, n) for n in range(config.layers)])
        self.norm = LayerNorm(weights, "output_norm", config.width, config.eps)
        self.head = Head(weights, config, self.embeddings)
        self.steps = creation.arange(positions, dtype=np.int32, device=weights.device)

    def forward(self, tokens: Array, cache: Cache) -> Array:
        """Return the states [T, width] of int32 tokens [T], from the cache's positions on."""
        x = self._embedded(tokens, cache)
        for block in self.blocks:
            x = block(x, cache)
        return self.norm(x)  # type: ignore[no-any-return]

    def shares(self, tokens: Array, cache: Cache, layer: int) -> Array:
        """Return the attention of a layer, as ``Decoder.shares``."""
        x = self._embedded(tokens, cache)
        for block in self.blocks[:layer]:
            x = block(x, cache)
        last = self.blocks[layer]
        return last.attention.shares(last.attention_norm(x), cache.position, None)  # type: ignore[no-any-return]

    def _embedded(self, tokens: Array, cache: Cache) -> Array:
        """Return the states before the first block."""
        each = tokens.size // cache.position.size
        places = (cache.position[:, None] + self.steps[:each]).reshape((-1,))
        x = tables.embedding(tokens, self.embeddings) + tables.embedding(places, self.positions)
        return x  # type: ignore[no-any-return]

    def logits(self, states: Array) -> Array:
        """Return the logits [T, vocabulary] of states."""
        return self.head(states)  # type: ignore[no-any-return]
