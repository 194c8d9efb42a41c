"""Gemma 2 and Gemma 3: normalizations on both sides of each layer, and sliding windows."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from browsergpu.arrays.array import Array
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.decoder import Decoder, table
from browsergpu.llm.models.layers import Attention, GatedMLP
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.module import Module

#: The largest models scale scores by the width of a state's share, not of a head.
_LARGEST = {"gemma2": 46, "gemma3": 62}


class GemmaBlock(Module):
    """Attention and a gated feed-forward layer, each between normalizations.

    Of Gemma 3, each sixth block attends to all tokens, of Gemma 2 each second. The others have the
    sliding window.
    """

    def __init__(self, weights: Weights, config: Config, layer: int) -> None:
        super().__init__()
        prefix, width, eps = f"blk.{layer}", config.width, config.eps
        is_third = config.architecture == "gemma3"
        every = 6 if is_third else 2
        self.is_local = layer % every != every - 1
        self.attention_norm = RMSNorm(weights, f"{prefix}.attn_norm", width, eps)
        self.attention = Attention(
            weights, prefix, config, layer, window=config.window if self.is_local else 0,
            normed=is_third,
        )  # fmt: skip
        self.after_attention = RMSNorm(weights, f"{prefix}.post_attention_norm", width, eps)
        self.mlp_norm = RMSNorm(weights, f"{prefix}.ffn_norm", width, eps)
        self.mlp = GatedMLP(weights, prefix, config, "gelu")
        self.after_mlp = RMSNorm(weights, f"{prefix}.post_ffw_norm", width, eps)

    def forward(self, x: Array, cache: Cache | None, angles: Array) -> Array:
        """Return the states [T, width] after the block."""
        x = self.after_attention(self.attention(x, cache, angles, norm=self.attention_norm), x)
        return self.after_mlp(self.mlp(x, norm=self.mlp_norm), x)  # type: ignore[no-any-return]


class Gemma(Decoder):
    """A decoder of the architectures gemma2 and gemma3."""

    def __init__(self, weights: Weights, config: Config, positions: int) -> None:
        kind = config.architecture
        if kind == "gemma2":
            config = replace(
                config,
                attention_softcap=config.attention_softcap or 50.0,
                final_softcap=config.final_softcap or 30.0,
                window=config.window or 4096,
            )
        if config.layers == _LARGEST[kind]:
            config = replace(config, attention_scale=1 / sqrt(config.width / config.heads))
        blocks = [GemmaBlock(weights, config, n) for n in range(config.layers)]
        super().__init__(weights, config, positions, blocks, sqrt(config.width))
        self.local_angles = self.angles
        if kind == "gemma3":
            self.local_angles = table(
                weights, config, positions, config.rope_local_base, scaled=False
            )

    def angles_of(self, block: Module) -> Array:
        """Return the angles of a block, which differ in those with a sliding window."""
        return self.local_angles if block.is_local else self.angles
