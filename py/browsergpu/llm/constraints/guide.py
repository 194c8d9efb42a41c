"""The tokens that may follow, by the states of a deterministic automaton."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.llm.constraints.pattern import Automaton
from browsergpu.llm.tokens.tokenizer import Tokenizer

_DEAD = -1
_MOST_STATES = 20_000
#: States whose tokens are remembered.
_REMEMBERED = 128


class TokenBytes(Shown):
    """The bytes of all tokens, one after the other. Special and empty tokens have none."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        texts = [tokenizer.token_bytes(id) for id in range(len(tokenizer.tokens))]
        texts += [b""] * (rows - len(texts))
        self.lengths = np.array([len(one) for one in texts], np.int64)
        self.begins = np.cumsum(self.lengths) - self.lengths
        self.data = np.frombuffer(b"".join(texts), np.uint8)


class Guide(Shown):
    """A text's way through an automaton.

    States are made when a text reaches them: each is a set of the automaton's states.

    Parameters
    ----------
    automaton : Automaton
        The pattern.
    tokens : TokenBytes
        The model's tokens.
    ends : iterable of int
        Tokens that end a text. They may follow a text that matches.
    """

    def __init__(self, automaton: Automaton, tokens: TokenBytes, ends: Iterable[int]) -> None:
        self._automaton, self._tokens = automaton, tokens
        self._ends = np.array([one for one in ends if one < len(tokens.lengths)], np.int64)
        self._ids: dict[frozenset[int], int] = {}
        self._sets: list[frozenset[int]] = []
        self._rows: list[np.ndarray | None] = []
        self._masks: OrderedDict[int, np.ndarray] = OrderedDict()
        #: The present state.
        self.state = self._id(self._closed([0]))

    def _closed(self, states: Iterable[int]) -> frozenset[int]:
        """Return states and those that follow without a byte."""
        found, left = set(states), list(states)
        while left:
            for one in self._automaton.empty[left.pop()]:
                if one not in found:
                    found.add(one)
                    left.append(one)
        last, edges = self._automaton.last, self._automaton.edges
        return frozenset(one for one in found if edges[one] or one == last)

    def _id(self, states: frozenset[int]) -> int:
        if not states:
            return _DEAD
        found = self._ids.get(states)
        if found is None:
            if len(self._sets) >= _MOST_STATES:
                raise InvalidArgument(
                    "generate", "regex", Description("more"), f"a pattern of at most {_MOST_STATES}"
                    " states", "Use smaller counts of repetitions."
                )  # fmt: skip
            found = self._ids[states] = len(self._sets)
            self._sets.append(states)
            self._rows.append(None)
        return found

    def _row(self, state: int) -> np.ndarray:
        """Return the next state for each byte."""
        found = self._rows[state]
        if found is None:
            edges = [edge for one in self._sets[state] for edge in self._automaton.edges[one]]
            bounds = sorted({bound for low, high, _ in edges for bound in (low, high + 1)})
            found = np.full(256, _DEAD, np.int32)
            for begin, end in pairwise(bounds):
                targets = {target for low, high, target in edges if low <= begin <= high}
                found[begin:end] = self._id(self._closed(targets)) if targets else _DEAD
            self._rows[state] = found
        return found

    @property
    def is_match(self) -> bool:
        """Whether the text so far matches."""
        return self._automaton.last in self._sets[self.state]

    @property
    def is_complete(self) -> bool:
        """Whether the text matches, and nothing longer does."""
        return self.is_match and not any(
            self._automaton.edges[one] for one in self._sets[self.state]
        )

    def advance(self, token: int) -> None:
        """Go on by a token that is allowed."""
        own = self._tokens
        begin = own.begins[token]
        for byte in own.data[begin : begin + own.lengths[token]]:
            self.state = int(self._row(self.state)[byte])

    def mask(self) -> np.ndarray:
        """Return 0 for the tokens that may follow and -∞ for the others, float32 [V].

        Raises InvalidArgument if no token may follow.
        """
        found = self._masks.get(self.state)
        if found is not None:
            self._masks.move_to_end(self.state)
            return found
        found = np.full(len(self._tokens.lengths), -np.inf, np.float32)
        found[self._allowed()] = 0
        if self.is_match:
            found[self._ends] = 0
        if not (found == 0).any():
            raise InvalidArgument(
                "generate", "regex", Description("another"),
                "a pattern whose texts the model's tokens can form",
            )  # fmt: skip
        self._masks[self.state] = found
        if len(self._masks) > _REMEMBERED:
            self._masks.popitem(last=False)
        return found

    def _allowed(self) -> np.ndarray:
        """Return the tokens whose bytes lead to a state: all tokens at once, byte after byte."""
        own = self._tokens
        tokens = np.flatnonzero(own.lengths)
        states = np.full(tokens.size, self.state, np.int32)
        done = []
        at = 0
        while tokens.size:
            known, where = np.unique(states, return_inverse=True)
            rows = np.stack([self._row(int(one)) for one in known])
            states = rows[where, own.data[own.begins[tokens] + at]]
            tokens, states = tokens[states != _DEAD], states[states != _DEAD]
            at += 1
            is_done = own.lengths[tokens] == at
            done.append(tokens[is_done])
            tokens, states = tokens[~is_done], states[~is_done]
        return np.concatenate(done) if done else tokens
