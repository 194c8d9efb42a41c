"""The steps of a text on the GPU: the prompt, and captured steps of one token."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.core.errors import DeviceLost
from browsergpu.core.showing import Shown
from browsergpu.functions import creation, manipulation
from browsergpu.functions.capture import capture
from browsergpu.functions.random.bits import Philox
from browsergpu.functions.random.generator import Generator
from browsergpu.llm.generation.sampling import log_probability, sample
from browsergpu.llm.generation.settings import Settings
from browsergpu.llm.models.cache import Cache

#: The most tokens of a prompt that are computed at once.
_PROMPT = 512
#: The most captured graphs of settings.
_MOST = 4
#: How many of the last tokens stay readable.
RECENT = 8


class Steps(Shown):
    """The state of a sequence on the GPU, and the steps that continue it.

    Parameters
    ----------
    model : Module
        The model.
    cache : Cache
        Its cache.
    """

    def __init__(self, model: Any, cache: Cache) -> None:
        self._model, self._cache = model, cache
        self._device = cache.position.device
        self._graphs: OrderedDict[Settings, _Step] = OrderedDict()
        self._token = creation.zeros(1, dtype=np.int32, device=self._device)
        self._seen: Array | None = None
        self._mask: Array | None = None
        #: The last tokens, int32 of shape [RECENT], the newest last.
        self.recent = creation.zeros(RECENT, dtype=np.int32, device=self._device)
        #: Their log probabilities, if the settings keep them.
        self.logprobs = creation.zeros(RECENT, dtype=np.float32, device=self._device)
        self._generator = Generator(Philox(0), self._device)

    @no_grad()
    def start(
        self, tokens: Sequence[int], begin: int, settings: Settings, seed: int | None,
        mask: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Compute a prompt from a position on, and select the first token.

        The cache has the tokens before ``begin``. ``mask`` is for constrained settings.
        """
        self._allow(mask)
        self._generator.place = Philox(seed).place
        if settings.repetition_penalty != 1:
            self._see(tokens)
        for at in range(begin, len(tokens), _PROMPT):
            part = tokens[at : at + _PROMPT]
            self._cache.move_to(at)
            states = self._model(self.array(part), self._cache)
        self._cache.move_to(len(tokens))
        self._select(self._model.logits(states[-1:])[0], settings)

    def _see(self, tokens: Sequence[int]) -> None:
        """Note the tokens to which the repetition penalty applies."""
        seen = np.zeros(self._model.vocabulary, np.float32)
        seen[np.asarray(tokens)] = 1
        if self._seen is None:
            self._seen = creation.asarray(seen, device=self._device)
        else:
            self._seen[...] = seen

    def _allow(self, mask: np.ndarray | None) -> None:
        """Note the tokens that may be selected."""
        if mask is None:
            return
        if self._mask is None:
            self._mask = creation.asarray(mask, device=self._device)
        else:
            self._mask[...] = mask

    def array(self, tokens: Sequence[int]) -> Array:
        """Return tokens as int32."""
        return creation.asarray(np.asarray(tokens, np.int32), device=self._device)

    def step(self, settings: Settings, mask: np.ndarray | None = None) -> None:
        """Compute one more token. The first call with new settings captures the work."""
        self._allow(mask)
        found = self._graphs.get(settings)
        if found is not None:
            self._graphs.move_to_end(settings)
            found.graph.replay()
            return
        with no_grad(), capture(device=self._device) as graph:
            states = self._model(self._token, self._cache)
            self._select(self._model.logits(states)[0], settings)
            self._cache.position += 1
        self._graphs[settings] = _Step(graph)
        while len(self._graphs) > _MOST:
            self._graphs.popitem(last=False)[1].graph.close()

    def _select(self, logits: Array, settings: Settings) -> None:
        """Select the next token, and keep it."""
        seen = self._seen if settings.repetition_penalty != 1 else None
        mask = self._mask if settings.is_constrained else None
        token = sample(logits, settings, seen, self._generator, mask)
        if settings.logprobs:
            own = log_probability(logits, token)
            self.logprobs[...] = manipulation.concat([self.logprobs[1:], own])
        self.recent[...] = manipulation.concat([self.recent[1:], token])
        self._token[...] = token
        if seen is not None:
            seen[token] = 1.0

    def close(self) -> None:
        """Free the captured graphs."""
        for one in self._graphs.values():
            with suppress(DeviceLost):
                one.graph.close()
        self._graphs.clear()


class _Step:
    """A captured step."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
