"""Texts of several prompts, with one step for the next tokens of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.llm.generation.steps import RECENT, Steps
from browsergpu.llm.generation.text import (
    Generation,
    Request,
    Text,
    Work,
    ahead_of,
    finished,
    logprob_at,
    read_after,
    room_for,
)
from browsergpu.llm.models.cache import Cache
from browsergpu.llm.tokens.tokenizer import Tokenizer


def is_batch(prompt: Any) -> bool:
    """Whether a prompt is a list of prompts: texts, lists of tokens or lists of messages."""
    return (
        isinstance(prompt, list | tuple)
        and bool(prompt)
        and isinstance(prompt[0], str | list | tuple | np.ndarray)
    )


def check_single(op: str, prompt: Any) -> None:
    """Raise InvalidArgument for several prompts."""
    if is_batch(prompt):
        given = Description(f"a list of {len(prompt)} prompts")
        raise InvalidArgument(op, "prompt", given, "one prompt", "Use generate() for several.")


class Batch:
    """Several requests with the same settings, and their cache.

    Parameters
    ----------
    model : Module
        The model.
    cache_of : callable
        Called with a capacity, and the number of sequences by its name.
    requests : sequence of Request
        The requests.
    context : int
        The most tokens of a prompt and its text.
    """

    def __init__(
        self, model: Any, cache_of: Callable[..., Cache], requests: Sequence[Request], context: int
    ) -> None:
        self._requests = requests
        self._rooms = [room_for(one, context) for one in requests]
        both = zip(requests, self._rooms, strict=True)
        capacity = max(len(one.prompt) + most for one, most in both)
        self._steps = Steps(model, cache_of(capacity, sequences=len(requests)))
        #: The text of each request so far.
        self.texts = [""] * len(requests)

    def __repr__(self) -> str:
        return f"<Batch of {len(self._requests)} prompts>"

    def work(self, tokenizer: Tokenizer) -> Work:
        """Generate the texts. Yields only arrays to read."""
        settings = self._requests[0].settings
        both = list(zip(self._requests, self._rooms, strict=True))
        own = [Text(request, tokenizer, most) for request, most in both]
        try:
            prompts = [list(one.prompt) for one in self._requests]
            masks = _masks(own)
            begins = [0] * len(own)
            self._steps.start(prompts, begins, settings, self._requests[0].seed, masks)
            count, ahead = 0, 1
            while True:
                found = yield read_after(self._steps, settings)
                for n, text in enumerate(own):
                    for at in range(RECENT - ahead, RECENT):
                        if not text.is_done:
                            token = int(found[0][n, at])
                            self.texts[n] += text.add(token, logprob_at(found, n, at))
                if all(text.is_done for text in own):
                    return
                count += ahead
                masks = _masks(own, masks)
                left = max(text.left for text in own)
                ahead = ahead_of(count, left, is_constrained=masks is not None)
                for _ in range(ahead):
                    self._steps.step(settings, masks)
        finally:
            self._steps.close()

    def finished(self) -> list[Generation]:
        """Return the texts with their facts."""
        return [finished(*one) for one in zip(self._requests, self.texts, strict=True)]


def _masks(
    texts: Sequence[Text], before: Sequence[np.ndarray] | None = None
) -> list[np.ndarray] | None:
    """Return the masks of all texts, or None without constraints. Ended texts keep theirs."""
    found = []
    for n, text in enumerate(texts):
        own = before[n] if text.is_done and before is not None else text.mask()
        if own is None:
            return None
        found.append(own)
    return found
