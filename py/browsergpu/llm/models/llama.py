"""Llama, and models of its architecture: SmolLM, Mistral, TinyLlama."""

from __future__ import annotations

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation
from browsergpu.functions.nn import activations, tables
from browsergpu.llm.models.angles import angles
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.layers import Attention, GatedMLP, Head, RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.module import Module


class Block(Module):
    """Attention and a gated feed-forward layer, each after a normalization, added to the input."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix = f"blk.{layer}"
        self.attention_norm = RMSNorm(weights, f"{prefix}.attn_norm", config.width, config.eps)
        # GGUF's converter reorders Llama's heads so that pairs are neighbors.
        self.attention = Attention(
            weights, prefix, config, layer, adjacent=True, window=config.window
        )
        self.mlp_norm = RMSNorm(weights, f"{prefix}.ffn_norm", config.width, config.eps)
        self.mlp = GatedMLP(weights, prefix, config, activations.silu)

    def forward(self, x: Array, cache: Cache, turn: Array) -> Array:
        """Return the states [T, width] after the block."""
        x = self.attention(self.attention_norm(x), cache, turn, x)
        return self.mlp(self.mlp_norm(x), x)  # type: ignore[no-any-return]


class Llama(Module):
    """A decoder of Llama's architecture.

    Parameters
    ----------
    weights : Weights
        The file's.
    config : Config
        The file's.
    positions : int
        The most positions of a cache.
    """

    def __init__(self, weights: Weights, config: Config, positions: int) -> None:
        super().__init__()
        self.config = config
        self.embeddings = weights.table("token_embd.weight", config.width)
        #: Number of tokens.
        self.vocabulary: int = self.embeddings.shape[0]
        self.blocks = ModuleList([Block(weights, config, n) for n in range(config.layers)])
        self.norm = RMSNorm(weights, "output_norm", config.width, config.eps)
        self.head = Head(weights, config, self.embeddings)
        # Llama 3's scaling of long contexts is a tensor.
        factors = weights.optional_vector("rope_freqs.weight", config.rope_width // 2)
        own = None if factors is None else np.asarray(factors)
        turn = angles(config, positions, config.rope_base, own)
        self.angles = creation.asarray(turn, device=weights.device)

    def forward(self, tokens: Array, cache: Cache) -> Array:
        """Return the states [T, width] of int32 tokens [T], from the cache's position on."""
        x = tables.embedding(tokens, self.embeddings)
        for block in self.blocks:
            x = block(x, cache, self.angles)
        return self.norm(x)  # type: ignore[no-any-return]

    def logits(self, states: Array) -> Array:
        """Return the logits [T, vocabulary] of states."""
        return self.head(states)  # type: ignore[no-any-return]
