"""The steps of texts on the GPU: the prompts, and captured steps of one token of each text.

The second selection of first tokens by the same settings is captured too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.engine.core.errors import DeviceLost
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, manipulation
from browsergpu.functions.capture import capture
from browsergpu.functions.random.bits import Philox
from browsergpu.functions.random.generator import Generator
from browsergpu.llm.generation.prompts import Prompts
from browsergpu.llm.generation.sampling import log_probability, sample
from browsergpu.llm.generation.settings import Settings
from browsergpu.llm.models.cache import Cache

#: The most settings whose graphs are kept.
_MOST = 4
#: How many of the last tokens stay readable.
RECENT = 8


class Steps(Shown):
    """The state of sequences on the GPU, and the steps that continue them.

    Parameters
    ----------
    model : Module
        The model.
    cache : Cache
        Its cache, of S sequences.
    """

    def __init__(self, model: Any, cache: Cache) -> None:
        self._model, self._cache = model, cache
        self._device = cache.position.device
        self._prompts = Prompts(model, cache)
        self._steps: OrderedDict[Settings, Any] = OrderedDict()
        #: Selections of first tokens. None for settings that were used once.
        self._firsts: OrderedDict[Settings, _First | None] = OrderedDict()
        count = cache.position.size
        self._token = creation.zeros(count, dtype=np.int32, device=self._device)
        self._seen: Array | None = None
        self._mask: Array | None = None
        #: The last tokens, int32 of shape [S, RECENT], the newest last.
        self.recent = creation.zeros((count, RECENT), dtype=np.int32, device=self._device)
        #: Their log probabilities, if the settings keep them.
        self.logprobs = creation.zeros((count, RECENT), dtype=np.float32, device=self._device)
        self._generator = Generator(Philox(0), self._device)
        # Of each sequence's first token in an array [S, vocabulary] without axes.
        self._begins = creation.arange(count, dtype=np.int32, device=self._device)
        self._begins = self._begins * model.vocabulary

    def _facts(self) -> str:
        return f"of {self._token.size} sequences"

    @no_grad()
    def start(
        self, prompts: Sequence[Sequence[int]], begins: Sequence[int], settings: Settings,
        seed: int | None, masks: Sequence[np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Compute the prompts of all sequences from positions on, and select the first tokens.

        The cache has the tokens before ``begins``. ``masks`` are for constrained settings.
        """
        self._allow(masks)
        self._generator.place = Philox(seed).place
        if settings.repetition_penalty != 1:
            self._see(prompts)
        states = self._prompts.states(prompts, begins)
        self._cache.move_to(*map(len, prompts))
        self._select_first(states, settings)

    def _see(self, prompts: Sequence[Sequence[int]]) -> None:
        """Note the tokens to which the repetition penalty applies."""
        seen = np.zeros((len(prompts), self._model.vocabulary), np.float32)
        for row, tokens in zip(seen, prompts, strict=True):
            row[np.asarray(tokens)] = 1
        if self._seen is None:
            self._seen = creation.asarray(seen.reshape(-1), device=self._device)
        else:
            self._seen[...] = seen.reshape(-1)

    def _allow(self, masks: Sequence[np.ndarray] | None) -> None:
        """Note the tokens that may be selected."""
        if masks is None:
            return
        if self._mask is None:
            self._mask = creation.asarray(np.stack(masks), device=self._device)
        else:
            self._mask[...] = np.stack(masks)

    def array(self, tokens: Any) -> Array:
        """Return tokens as int32."""
        return creation.asarray(np.asarray(tokens, np.int32), device=self._device)

    def step(self, settings: Settings, masks: Sequence[np.ndarray] | None = None) -> None:
        """Compute one more token of each sequence. The first call with new settings captures."""
        self._allow(masks)
        found = self._steps.get(settings)
        if found is not None:
            self._steps.move_to_end(settings)
            found.replay()
            return
        with no_grad(), capture(device=self._device) as graph:
            states = self._model(self._token, self._cache)
            self._select(self._model.logits(states), settings)
            self._cache.position += 1
        self._steps[settings] = graph
        while len(self._steps) > _MOST:
            self._steps.popitem(last=False)[1].close()

    def _select_first(self, states: Array, settings: Settings) -> None:
        """Select the next tokens by states [S, width], which may change afterwards."""
        found = self._firsts.get(settings)
        if found is not None:
            self._firsts.move_to_end(settings)
            found.states[...] = states
            found.graph.replay()
        elif settings not in self._firsts:
            self._firsts[settings] = None
            self._select(self._model.logits(states), settings)
        else:
            own = states.copy()
            with capture(device=self._device) as graph:
                self._select(self._model.logits(own), settings)
            self._firsts[settings] = _First(graph, own)
            self._firsts.move_to_end(settings)
        while len(self._firsts) > _MOST:
            oldest = self._firsts.popitem(last=False)[1]
            if oldest is not None:
                oldest.graph.close()

    def _select(self, logits: Array, settings: Settings) -> None:
        """Select the next tokens, and keep them."""
        seen = self._seen if settings.repetition_penalty != 1 else None
        mask = self._mask if settings.is_constrained else None
        rows = None if seen is None else seen.reshape(logits.shape)
        token = sample(logits, settings, rows, self._generator, mask)
        if settings.logprobs:
            own = log_probability(logits, token)[:, None]
            self.logprobs[...] = manipulation.concat([self.logprobs[:, 1:], own], axis=1)
        self.recent[...] = manipulation.concat([self.recent[:, 1:], token[:, None]], axis=1)
        self._token[...] = token
        if seen is not None:
            seen[token + self._begins] = 1.0

    def close(self) -> None:
        """Free the captured graphs."""
        self._prompts.close()
        firsts = [one.graph for one in self._firsts.values() if one is not None]
        for graph in (*self._steps.values(), *firsts):
            with suppress(DeviceLost):
                graph.close()
        self._steps.clear()
        self._firsts.clear()


class _First(NamedTuple):
    """A captured selection, and the states that it reads."""

    graph: Any
    states: Array
