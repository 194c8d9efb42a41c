"""Encoders with their tokenizer: vectors of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import normalization
from browsergpu.llm.models.config import Config
from browsergpu.llm.models.pooling import mean_of
from browsergpu.llm.tokens.groups import groups, padded
from browsergpu.llm.tokens.tokenizer import Tokenizer

#: The most tokens that are computed at once, unless one text has more.
_MOST = 4096


class Encoder(Shown):
    """An encoder with its tokenizer. :func:`load` makes it.

    Attributes
    ----------
    config : Config
        Sizes and options.
    tokenizer : Tokenizer
        The tokenizer.
    model : Module
        The network.
    context : int
        The most tokens of a text. Longer texts are cut.
    """

    def __init__(
        self, model: Any, config: Config, tokenizer: Tokenizer, context: int, device: Any,
        *, pools_first: bool,
    ) -> None:  # fmt: skip
        self.model, self.config, self.tokenizer, self.context = model, config, tokenizer, context
        self._device, self._pools_first = device, pools_first

    def _facts(self) -> str:
        return f"{self.config.architecture} with {self.config.layers} layers"

    @no_grad()
    def embed(self, texts: Any, normalize: bool = True) -> Array:
        """Return vectors of texts, float32 of shape [texts, width].

        Parameters
        ----------
        texts : str or list of str
            The texts. Those with more tokens than ``context`` are cut. Texts of similar lengths
            are computed at once.
        normalize : bool
            Whether vectors have length 1. Products of two are then cosines.
        """
        op = "embed"
        own = [texts] if isinstance(texts, str) else texts
        if not isinstance(own, list | tuple) or not own:
            raise InvalidType(op, "texts", texts, "a string or a list of strings")
        tokens = [self._tokens(op, one) for one in own]
        vectors: dict[int, Array] = {}
        for group in groups([len(one) for one in tokens], _MOST):
            found = self._vectors([tokens[n] for n in group])
            vectors |= {n: found[at] for at, n in enumerate(group)}
        found = manipulation.stack([vectors[n] for n in range(len(own))])
        if checks.flag(op, "normalize", normalize):
            return normalization.normalize(found, dim=-1)
        return found

    async def embed_async(self, texts: Any, normalize: bool = True) -> Array:
        """Return vectors of texts, as :meth:`embed`. The values can be awaited."""
        return self.embed(texts, normalize)

    def _tokens(self, op: str, text: Any) -> list[int]:
        if not isinstance(text, str):
            raise InvalidType(op, "texts", text, "a string or a list of strings")
        tokens = self.tokenizer.encode(text)
        if len(tokens) > self.context:
            tokens = [*tokens[: self.context - 1], tokens[-1]]
        return tokens

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Array:
        """Return vectors [texts, width] of tokens."""
        lengths = np.array([len(one) for one in texts])
        longest = int(lengths.max())
        tokens = creation.asarray(padded(texts, longest), device=self._device)
        mask = None
        if lengths.min() < longest:
            there = np.arange(longest) < lengths[:, None, None, None]
            mask = creation.asarray(there, device=self._device)
        states = self.model(tokens, mask)
        return states[:, 0] if self._pools_first else mean_of(states, lengths)
