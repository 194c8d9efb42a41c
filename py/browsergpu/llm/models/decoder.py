"""What decoders share: embeddings, blocks, the last normalization, and logits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, elementwise
from browsergpu.functions.nn import tables
from browsergpu.llm.models.angles import angles
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.layers import Head
from browsergpu.llm.models.norms import RMSNorm
from browsergpu.llm.models.weights import Weights
from browsergpu.networks.layers.containers import ModuleList
from browsergpu.networks.module import Module


class Decoder(Module):
    """A decoder with rotary position embeddings.

    Parameters
    ----------
    weights : Weights
        The file's.
    config : Config
        The file's.
    positions : int
        The most positions of a cache.
    blocks : sequence of Module
        Called with states [T, width], the cache, and the angles of the model.
    scale : float
        Factor of the embeddings.
    """

    def __init__(
        self, weights: Weights, config: Config, positions: int, blocks: Sequence[Module],
        scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.config = config
        self.embeddings = weights.table("token_embd.weight", config.width)
        #: Number of tokens.
        self.vocabulary: int = self.embeddings.shape[0]
        self.scale = scale
        self.blocks = ModuleList(blocks)
        self.norm = RMSNorm(weights, "output_norm", config.width, config.eps)
        self.head = Head(weights, config, self.embeddings)
        self.angles = table(weights, config, positions, config.rope_base)

    def forward(self, tokens: Array, cache: Cache | None) -> Array:
        """Return the states [T, width] of int32 tokens [T], from the cache's position on.

        Without a cache, the tokens are the whole sequence, and there is a gradient.
        """
        x = self._embedded(tokens)
        for block in self.blocks:
            x = block(x, cache, self.angles_of(block))
        return self.norm(x)  # type: ignore[no-any-return]

    def shares(self, tokens: Array, cache: Cache, layer: int) -> Array:
        """Return the attention of a layer, [heads, T, T], of int32 tokens [T] from position 0 on.

        ``cache`` is at position 0.
        """
        x = self._embedded(tokens)
        for block in self.blocks[:layer]:
            x = block(x, cache, self.angles_of(block))
        last = self.blocks[layer]
        own = last.attention_norm(x)
        return last.attention.shares(own, cache.position, self.angles_of(last))  # type: ignore[no-any-return]

    def _embedded(self, tokens: Array) -> Array:
        """Return the states before the first block."""
        x = tables.embedding(tokens, self.embeddings)
        return x * self.scale if self.scale != 1 else x

    def angles_of(self, block: Module) -> Array:
        """Return the angles of a block's rotary position embeddings."""
        return self.angles

    def logits(self, states: Array) -> Array:
        """Return the logits [T, vocabulary] of states."""
        found = self.head(states)
        cap = self.config.final_softcap
        return cap * elementwise.tanh(found / cap) if cap else found  # type: ignore[no-any-return]


def table(
    weights: Weights, config: Config, positions: int, base: float, *, scaled: bool = True
) -> Array:
    """Return the angles of all positions, with the factors that the file has for them."""
    pairs = config.rope_width // 2
    factors = weights.optional_vector("rope_freqs.weight", pairs)
    long = weights.optional_vector("rope_factors_long.weight", pairs)
    short = weights.optional_vector("rope_factors_short.weight", pairs)
    if long is not None and short is not None:
        factors = long if positions > config.rope_original else short
    own = None if factors is None else np.asarray(factors)
    found = angles(config, positions, base, own, scaled=scaled)
    return creation.asarray(found, device=weights.device)
