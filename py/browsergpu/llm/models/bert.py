"""BERT and MiniLM: encoders of whole texts, for embeddings."""

from __future__ import annotations

from math import sqrt

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import activations, tables
from browsergpu.functions.nn.attention import scaled_dot_product_attention
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.linear import layers_of, linear
from browsergpu.llm.models.norms import LayerNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.module import Module


class BertBlock(Module):
    """Attention and a feed-forward layer, each added to its input and then normalized."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix, width, inner = f"blk.{layer}", config.width, config.inner
        self.sizes = config.heads, config.head_width
        rows = {f"{prefix}.attn_{name}": width for name in "qkv"}
        #: Queries, keys and values as one product, or None.
        self.joined, (self.q, self.k, self.v) = layers_of(weights, rows, width, (3,))
        self.output = linear(weights, f"{prefix}.attn_output", width, width)
        self.attention_norm = LayerNorm(weights, f"{prefix}.attn_output_norm", width, config.eps)
        self.up = linear(weights, f"{prefix}.ffn_up", inner, width)
        self.down = linear(weights, f"{prefix}.ffn_down", width, inner)
        self.norm = LayerNorm(weights, f"{prefix}.layer_output_norm", width, config.eps)

    def forward(self, x: Array, count: int, mask: Array | None) -> Array:
        """Return the states [count · T, width] after the block, of ``count`` texts of T tokens."""
        layers, width = (self.q, self.k, self.v), x.shape[1]
        if self.joined is None:
            each = [one(x) for one in layers]
        else:
            all_of_them = self.joined(x, layers)
            each = [all_of_them[:, n * width : (n + 1) * width] for n in range(3)]
        q, k, v = (self._heads(one, count) for one in each)
        scale = 1 / sqrt(self.sizes[1])
        found = scaled_dot_product_attention(q, k, v, mask, scale=scale)
        joined = manipulation.permute_dims(found, (0, 2, 1, 3)).reshape(x.shape)
        x = self.attention_norm(self.output(joined, x))
        return self.norm(self.down(activations.gelu(self.up(x)), x))  # type: ignore[no-any-return]

    def _heads(self, x: Array, count: int) -> Array:
        """Return [count, heads, T, head_width]."""
        own = x.reshape((count, x.shape[0] // count, *self.sizes))
        return manipulation.permute_dims(own, (0, 2, 1, 3))


class Bert(Module):
    """An encoder of BERT's architecture."""

    def __init__(self, weights: Weights, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embeddings = weights.table("token_embd.weight", config.width)
        #: Number of tokens.
        self.vocabulary: int = self.embeddings.shape[0]
        self.positions = weights.matrix("position_embd.weight", config.context, config.width)
        self.types = weights.table("token_types.weight", config.width)
        self.norm = LayerNorm(weights, "token_embd_norm", config.width, config.eps)
        self.blocks = ModuleList([BertBlock(weights, config, n) for n in range(config.layers)])

    def forward(self, tokens: Array, mask: Array | None = None) -> Array:
        """Return the states [N, T, width] of int32 tokens [N, T].

        ``mask`` is bool of shape [N, 1, 1, T] for texts of several lengths: whether there is a
        token.
        """
        count, length = tokens.shape
        first = self.types[:1] if isinstance(self.types, Array) else self.types.dequantize()[:1]
        places = creation.arange(length, dtype=np.int32, device=tokens.device)
        rows = tables.embedding(places, self.positions) + first  # a single text has the type 0
        x = tables.embedding(tokens, self.embeddings) + rows
        x = self.norm(x.reshape((count * length, x.shape[2])))
        for block in self.blocks:
            x = block(x, count, mask)
        return x.reshape((count, length, x.shape[1]))  # type: ignore[no-any-return]
