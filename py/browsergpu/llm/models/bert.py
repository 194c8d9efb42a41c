"""BERT and MiniLM: encoders of whole texts, for embeddings."""

from __future__ import annotations

from math import sqrt

from browsergpu.arrays.array import Array
from browsergpu.functions import manipulation
from browsergpu.functions.nn import activations, tables
from browsergpu.functions.nn.attention import scaled_dot_product_attention
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.layers import LayerNorm, Linear
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.module import Module


class BertBlock(Module):
    """Attention and a feed-forward layer, each added to its input and then normalized."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix, width, inner = f"blk.{layer}", config.width, config.inner
        self.sizes = config.heads, config.head_width
        self.q = Linear(weights, f"{prefix}.attn_q", width, width)
        self.k = Linear(weights, f"{prefix}.attn_k", width, width)
        self.v = Linear(weights, f"{prefix}.attn_v", width, width)
        self.output = Linear(weights, f"{prefix}.attn_output", width, width)
        self.attention_norm = LayerNorm(weights, f"{prefix}.attn_output_norm", width, config.eps)
        self.up = Linear(weights, f"{prefix}.ffn_up", inner, width)
        self.down = Linear(weights, f"{prefix}.ffn_down", width, inner)
        self.norm = LayerNorm(weights, f"{prefix}.layer_output_norm", width, config.eps)

    def forward(self, x: Array) -> Array:
        """Return the states [T, width] after the block."""
        q, k, v = (self._heads(one(x)) for one in (self.q, self.k, self.v))
        scale = 1 / sqrt(self.sizes[1])
        found = scaled_dot_product_attention(q, k, v, scale=scale)
        joined = manipulation.permute_dims(found, (1, 0, 2)).reshape(x.shape)
        x = self.attention_norm(self.output(joined, x))
        return self.norm(self.down(activations.gelu(self.up(x)), x))  # type: ignore[no-any-return]

    def _heads(self, x: Array) -> Array:
        """Return [heads, T, head_width]."""
        return manipulation.permute_dims(x.reshape((x.shape[0], *self.sizes)), (1, 0, 2))


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

    def forward(self, tokens: Array, places: Array) -> Array:
        """Return the states [T, width] of int32 tokens [T] at int32 positions [T]."""
        first = tables.embedding(places[:1] * 0, self.types)  # a single text has the type 0
        x = tables.embedding(tokens, self.embeddings) + tables.embedding(places, self.positions)
        x = self.norm(x + first)
        for block in self.blocks:
            x = block(x)
        return x  # type: ignore[no-any-return]
