"""Phi-3: one matrix for queries, keys and values, and one for gate and up."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.decoder import Decoder
from browsergpu.llm.models.layers import Attention
from browsergpu.llm.models.linear import linear
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module


class Phi3Block(Module):
    """Attention and a gated feed-forward layer, each after a normalization, added to the input."""

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix, width, inner = f"blk.{layer}", config.width, config.inner
        self.attention_norm = RMSNorm(weights, f"{prefix}.attn_norm", width, config.eps)
        # A window as long as the context changes nothing.
        window = config.window if config.window < config.context else 0
        self.attention = Attention(weights, prefix, config, layer, window=window)
        self.mlp_norm = RMSNorm(weights, f"{prefix}.ffn_norm", width, config.eps)
        self.gate_and_up = linear(weights, f"{prefix}.ffn_up", 2 * inner, width)
        self.down = linear(weights, f"{prefix}.ffn_down", width, inner)

    def forward(self, x: Array, cache: Cache | None, angles: Array) -> Array:
        """Return the states [T, width] after the block."""
        x = self.attention(x, cache, angles, x, self.attention_norm)
        return self.down(self.gate_and_up.gated(x, "silu", self.mlp_norm), x)  # type: ignore[no-any-return]


class Phi3(Decoder):
    """A decoder of Phi-3's architecture."""

    def __init__(self, weights: Weights, config: Config, positions: int) -> None:
        blocks = [Phi3Block(weights, config, n) for n in range(config.layers)]
        super().__init__(weights, config, positions, blocks)
