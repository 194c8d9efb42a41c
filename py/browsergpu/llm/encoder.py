"""Encoders with their tokenizer: vectors of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.core import checks
from browsergpu.core.errors import InvalidType
from browsergpu.core.showing import Shown
from browsergpu.functions import creation, manipulation, statistics
from browsergpu.functions.nn import normalization
from browsergpu.llm.models.config import Config
from browsergpu.llm.tokens.tokenizer import Tokenizer


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
            The texts. Those with more tokens than ``context`` are cut.
        normalize : bool
            Whether vectors have length 1. Products of two are then cosines.
        """
        op = "embed"
        own = [texts] if isinstance(texts, str) else texts
        if not isinstance(own, list | tuple) or not own:
            raise InvalidType(op, "texts", texts, "a string or a list of strings")
        found = manipulation.stack([self._vector(one) for one in own])
        if checks.flag(op, "normalize", normalize):
            return normalization.normalize(found, dim=-1)
        return found

    async def embed_async(self, texts: Any, normalize: bool = True) -> Array:
        """Return vectors of texts, as :meth:`embed`. The values can be awaited."""
        return self.embed(texts, normalize)

    def _vector(self, text: Any) -> Array:
        tokens = self.tokenizer.encode(text)
        if len(tokens) > self.context:
            tokens = [*tokens[: self.context - 1], tokens[-1]]
        ids = creation.asarray(np.array(tokens, np.int32), device=self._device)
        places = creation.arange(len(tokens), dtype=np.int32, device=self._device)
        states = self.model(ids, places)
        if self._pools_first:
            return states[0]  # type: ignore[no-any-return]
        return statistics.mean(states, axis=0)
