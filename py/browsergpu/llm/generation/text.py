"""Text from a prompt, as a generator that says which arrays it has to read.

So the blocking and the awaiting interface share it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.gpu import platform
from browsergpu.llm.constraints.guide import Guide
from browsergpu.llm.generation.settings import Settings
from browsergpu.llm.generation.steps import RECENT, Steps
from browsergpu.llm.generation.stops import Stops
from browsergpu.llm.tokens.tokenizer import Tokenizer

#: Arrays to read, or a piece of text.
Work = Generator[list[Array] | str, list[np.ndarray], None]


class Generation(str):
    """A generated text.

    Attributes
    ----------
    tokens : list of int
        The tokens, without the one that ended the text.
    logprobs : list of float or None
        Log probabilities of the tokens, if asked for.
    finish_reason : str
        ``"stop"``, or ``"length"`` after ``max_tokens`` or at the end of the context.
    prompt_tokens : int
        Number of tokens of the prompt.
    cached_tokens : int
        How many of them the cache already had.
    """

    __slots__ = ("cached_tokens", "finish_reason", "logprobs", "prompt_tokens", "tokens")

    tokens: list[int]
    logprobs: list[float] | None
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int


@dataclass
class Request:
    """A text to generate.

    Attributes
    ----------
    prompt : sequence of int
        The tokens before it.
    settings : Settings
        How tokens are selected.
    most : int
        The most tokens.
    stops : sequence of str
        Texts at which it ends.
    seed : int or None
        Of the random numbers.
    ends : set of int
        Tokens at which it ends.
    guide : Guide or None
        The tokens that may follow.
    """

    prompt: Sequence[int]
    settings: Settings
    most: int
    stops: Sequence[str]
    seed: int | None
    ends: frozenset[int]
    guide: Guide | None = None
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish_reason: str = "length"
    cached: int = 0


class Text(Shown):
    """The text of a request, which grows by tokens.

    Parameters
    ----------
    request : Request
        The request. Its tokens and facts grow.
    tokenizer : Tokenizer
        The model's.
    most : int
        The most tokens.
    """

    def __init__(self, request: Request, tokenizer: Tokenizer, most: int) -> None:
        self._request, self._most = request, most
        self._stream, self._stops = tokenizer.stream(), Stops(request.stops)
        #: Whether the text has ended.
        self.is_done = False

    @property
    def left(self) -> int:
        """The most tokens that follow."""
        return 0 if self.is_done else self._most - len(self._request.tokens)

    def mask(self) -> np.ndarray | None:
        """Return the mask of the tokens that may follow, or None for all tokens."""
        return None if self._request.guide is None else self._request.guide.mask()

    def add(self, token: int, logprob: float | None) -> str:
        """Add the next token. Returns the text that is certain now."""
        request, guide = self._request, self._request.guide
        if token in request.ends:
            return self._end("stop")
        request.tokens.append(token)
        if logprob is not None:
            request.logprobs.append(logprob)
        if guide is not None:
            guide.advance(token)
        piece = self._stops.add(self._stream.add(token))
        if self._stops.found:
            request.finish_reason, self.is_done = "stop", True
        elif guide is not None and guide.is_complete:
            piece += self._end("stop")
        elif not self.left:
            piece += self._end("length")
        return piece

    def _end(self, reason: str) -> str:
        """Return the rest of the text."""
        self._request.finish_reason, self.is_done = reason, True
        return self._stops.add(self._stream.end()) + self._stops.end()


def room_for(request: Request, capacity: int) -> int:
    """Return the most tokens after a prompt. Raises InvalidArgument if there is no room."""
    room = capacity - len(request.prompt)
    if room < 1:
        given = Description(f"{len(request.prompt)} tokens")
        expected = f"have fewer than {capacity} tokens"
        raise InvalidArgument(
            "generate", "prompt", given, expected, "Load the model with a larger context."
        )
    return min(request.most, room)


def ahead_of(count: int, left: int, *, is_constrained: bool) -> int:
    """Return how many tokens are computed before the next read, after ``count`` tokens."""
    if is_constrained:  # the next tokens depend on the one that was read
        return 1
    return min(1 if count < RECENT else RECENT // 2, left)


class CachedSequence(Shown):
    """The tokens in a model's cache, which texts with the same beginning go on from."""

    def __init__(self, steps: Steps, capacity: int) -> None:
        self._steps, self._capacity = steps, capacity
        self._tokens: list[int] = []
        self._turn = 0

    def work(self, request: Request, tokenizer: Tokenizer) -> Work:
        """Generate the text of a request."""
        prompt, settings = list(request.prompt), request.settings
        text = Text(request, tokenizer, room_for(request, self._capacity))
        self._turn += 1
        turn = self._turn
        begin = _shared(self._tokens, prompt[:-1])
        request.cached = begin
        self._tokens = prompt[:begin]
        mask = text.mask()
        masks = None if mask is None else [mask]
        self._steps.start([prompt], [begin], settings, request.seed, masks)
        self._tokens = prompt
        ahead = 1  # tokens that are computed and not read
        while True:
            found = yield read_after(self._steps, settings)
            if turn != self._turn:
                raise InvalidArgument(
                    "stream", "text", Description("another text of the model since"),
                    "the model's last one", "Load the model twice for two texts at a time.",
                )  # fmt: skip
            for at in range(RECENT - ahead, RECENT):
                yield text.add(int(found[0][0, at]), logprob_at(found, 0, at))
                if text.is_done:
                    return
            # The tokens that were read are in the cache after the next step.
            self._tokens = prompt + request.tokens[:-1]
            ahead = ahead_of(len(request.tokens), text.left, is_constrained=masks is not None)
            mask = text.mask()
            masks = None if mask is None else [mask]
            for _ in range(ahead):
                self._steps.step(settings, masks)

    def forget(self) -> None:
        """Note that the cache is used for something else."""
        self._turn += 1
        self._tokens = []

    def close(self) -> None:
        """Free the captured work."""
        self.forget()
        self._steps.close()


def read_after(steps: Steps, settings: Settings) -> list[Array]:
    """Return the arrays to read after steps."""
    return [steps.recent, steps.logprobs] if settings.logprobs else [steps.recent]


def logprob_at(found: Sequence[np.ndarray], sequence: int, at: int) -> float | None:
    """Return the log probability of a token, if it was read."""
    return float(found[1][sequence, at]) if len(found) > 1 else None


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens at the start are equal."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


async def pieces_async(work: Work) -> AsyncIterator[str]:
    """Run the work, and await reads. Yields pieces of text."""
    values: Any = None
    while True:
        try:
            item = work.send(values)
        except StopIteration:
            return
        values = None
        if isinstance(item, str):
            if item:
                yield item
        else:
            values = [await one.numpy_async() for one in item]


def pieces(op: str, work: Work) -> Iterator[str]:
    """Run the work, and wait for reads. Yields pieces of text."""
    found = pieces_async(work)

    async def following() -> str | None:
        return await anext(found, None)

    while (piece := platform.block_on(following(), op)) is not None:
        yield piece


def finished(request: Request, text: str) -> Generation:
    """Return the text with its facts."""
    found = Generation(text)
    found.tokens = request.tokens
    found.logprobs = request.logprobs if request.settings.logprobs else None
    found.finish_reason = request.finish_reason
    found.prompt_tokens = len(request.prompt)
    found.cached_tokens = request.cached
    return found
