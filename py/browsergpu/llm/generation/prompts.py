"""The states of prompts on the GPU, computed in parts whose graphs are captured by shape."""

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
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.tokens.groups import groups, padded, padded_length

#: The most tokens of prompts that are computed at once.
_PROMPT = 512
#: The most tokens of all captured parts, whose graphs have memory in proportion.
_MOST = 2 * _PROMPT


class Prompts(Shown):
    """Computes prompts.

    The second part of a shape is captured, and later ones are replayed. Lengths are rounded up, so
    that there are few shapes.

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
        #: By sequences and tokens of each. None for a shape that was computed once.
        self._parts: OrderedDict[tuple[int, int], _Part | None] = OrderedDict()

    @no_grad()
    def states(self, prompts: Sequence[Sequence[int]], begins: Sequence[int]) -> Array:
        """Return the states [S, width] of the last tokens of S prompts.

        The cache has the tokens before ``begins``, and then all.
        """
        rests = [prompt[at:] for prompt, at in zip(prompts, begins, strict=True)]
        lengths = [len(one) for one in rests]
        found: dict[int, Array] = {}
        for group in groups(lengths, _PROMPT):
            longest = max(lengths[slot] for slot in group)
            for at in range(0, longest, _PROMPT):  # groups of several have one part
                part = padded_length(min(_PROMPT, longest - at))
                # A token after the end writes to the cache where the next token will.
                rows = padded([rests[slot][at : at + part] for slot in group], part)
                states = self._part(rows, group, [begins[slot] + at for slot in group])
            for n, slot in enumerate(group):
                last = n * part + (lengths[slot] - 1) % _PROMPT
                found[slot] = states[last : last + 1].copy()
        ordered = [found[slot] for slot in range(len(prompts))]
        return ordered[0] if len(ordered) == 1 else manipulation.concat(ordered)

    def _part(self, rows: np.ndarray, slots: Sequence[int], positions: Sequence[int]) -> Array:
        """Return the states of tokens [sequences, tokens] until the next call."""
        tokens = rows.reshape(-1)
        shape = rows.shape[0], rows.shape[1]
        part = self._parts.get(shape)
        if part is not None:
            self._parts.move_to_end(shape)
            part.tokens[...] = tokens
            part.slots[...] = np.array(slots, np.int32)
            part.positions[...] = np.array(positions, np.int32)
            part.graph.replay()
            return part.states
        own = creation.asarray(tokens, device=self._device)
        self._cache.select(slots, positions)
        if shape not in self._parts:
            self._parts[shape] = None
            return self._model(own, self._cache)  # type: ignore[no-any-return]
        with capture(device=self._device) as graph:
            states = self._model(own, self._cache)
        self._parts[shape] = _Part(graph, own, self._cache.slots, self._cache.position, states)
        self._parts.move_to_end(shape)
        self._forget()
        return states  # type: ignore[no-any-return]

    def _forget(self) -> None:
        """Close the graphs that were used least recently, beyond the allowed tokens."""
        total = 0
        for shape, part in reversed(list(self._parts.items())):
            if part is not None:
                total += shape[0] * shape[1]
                if total > _MOST:
                    part.graph.close()
                    del self._parts[shape]

    def close(self) -> None:
        """Free the captured graphs."""
        for part in self._parts.values():
            if part is not None:
                with suppress(DeviceLost):
                    part.graph.close()
        self._parts.clear()


class _Part(NamedTuple):
    """A captured part and the arrays that it reads and makes."""

    graph: Any
    tokens: Array
    slots: Array
    positions: Array
    states: Array
