"""Qwen 2, with biases of queries, keys and values, and Qwen 3, which normalizes them."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.decoder import Decoder
from browsergpu.llm.models.layers import Attention, GatedMLP
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class QwenBlock(Module):
    """Attention and a gated feed-forward layer, each after a normalization, added to the input."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix = f"blk.{layer}"
        self.attention_norm = RMSNorm(weights, f"{prefix}.attn_norm", config.width, config.eps)
        self.attention = Attention(
            weights, prefix, config, layer, window=config.window,
            normed=config.architecture == "qwen3",
        )  # fmt: skip
        self.mlp_norm = RMSNorm(weights, f"{prefix}.ffn_norm", config.width, config.eps)
        self.mlp = GatedMLP(weights, prefix, config, "silu")

    def forward(self, x: Array, cache: Cache | None, angles: Array) -> Array:
        """Return the states [T, width] after the block."""
        x = self.attention(x, cache, angles, x, self.attention_norm)
        return self.mlp(x, x, self.mlp_norm)  # type: ignore[no-any-return]


class Qwen(Decoder):
    """A decoder of the architectures qwen2 and qwen3."""

    def __init__(self, weights: Weights, config: Config, positions: int) -> None:
        blocks = [QwenBlock(weights, config, n) for n in range(config.layers)]
        super().__init__(weights, config, positions, blocks)
