"""Bit generators: streams of random bits, their seeds and their positions."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, Self

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.blocks import next_moment
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.tensors import philox
from browsergpu.functions.random.redraw import Place

KEYS = 2**64
#: Blocks of a jump.
_JUMP = 2**96


class BitGenerator(Shown):
    """Base class of :class:`Philox`, for ``isinstance``, as in NumPy.

    Attributes
    ----------
    seed_seq : numpy.random.SeedSequence
        The source of seeds for ``spawn``.
    """

    #: The key and the counter of the next draw.
    place: Place
    #: When the stream was seeded, or its state was set.
    seeded_at: int
    #: Whether the seed was given. Otherwise, each run of the same code draws other numbers.
    is_seeded: bool

    def __init__(self, seed: Any = None) -> None:
        if type(self) is BitGenerator:
            expected = "a class of bit generators"
            raise InvalidType("BitGenerator", "cls", type(self), expected, "Use random.Philox.")
        #: The source of seeds for ``spawn``.
        self.seed_seq: np.random.SeedSequence = np.random.SeedSequence(seed)

    def restart(self, place: Place) -> None:
        """Continue from a position that does not depend on the earlier one."""
        self.place = place
        self.seeded_at = next_moment()


class Philox(BitGenerator):
    """Philox 4x32-10 random bits, which GPUs compute from a key and a counter.

    Parameters
    ----------
    seed : int, sequence of int or numpy.random.SeedSequence, optional
        The seed of the stream, random by default. An integer less than 2**64 is the key.
    counter : int, optional
        The first block of four words, less than 2**128. 0 by default.
    key : int, optional
        The key, less than 2**64, in place of a seed.

    Raises
    ------
    InvalidArgument
        If both ``seed`` and ``key`` are given, or an integer is out of range.
    InvalidType
        If ``seed`` has another type.
    """

    def __init__(
        self, seed: Any = None, counter: int | None = None, key: int | None = None
    ) -> None:
        op = "Philox"
        if seed is not None and key is not None:
            raise InvalidArgument(op, "seed", seed, "None if a key is given")
        self.is_seeded = seed is not None or key is not None
        if key is not None:
            place = checks.integer(op, "key", key, maximum=KEYS - 1), 0
            self.seed_seq = np.random.SeedSequence(place[0])
        elif isinstance(seed, np.random.SeedSequence):
            self.seed_seq = seed
            place = _key(seed), 0
        else:
            given = None if seed is None else _entropy(op, seed)
            self.seed_seq = np.random.SeedSequence(given)
            is_key = isinstance(given, int) and given < KEYS
            place = given if is_key else _key(self.seed_seq), 0  # type: ignore[assignment]
        if counter is not None:
            place = place[0], _counter(op, "counter", counter)
        self.restart(place)

    def _facts(self) -> str:
        return f"at {self.place[1]} of stream {self.place[0]}"

    @property
    def state(self) -> dict[str, Any]:
        """The position of the stream: a dict with the key and the counter. It can be set."""
        key, counter = self.place
        return {"bit_generator": "Philox", "state": {"key": key, "counter": counter}}

    @state.setter
    def state(self, value: Mapping[str, Any]) -> None:
        self.restart(place_of("Philox.state", value))
        self.is_seeded = True

    def advance(self, delta: int) -> Self:
        """Advance the stream by ``delta`` blocks of four words, or back for a negative number.

        Parameters
        ----------
        delta : int
            Number of blocks.

        Returns
        -------
        Philox
            This generator.
        """
        key, counter = self.place
        self.place = key, (counter + index(delta)) % philox.COUNTERS
        return self

    def jumped(self, jumps: int = 1) -> Philox:
        """Return a stream that is ``jumps * 2**96`` blocks ahead.

        Parameters
        ----------
        jumps : int, optional
            Number of jumps.

        Returns
        -------
        Philox
            A new generator with the same key.
        """
        key, counter = self.place
        made = Philox(key=key, counter=(counter + index(jumps) * _JUMP) % philox.COUNTERS)
        made.seed_seq = self.seed_seq
        made.is_seeded, made.seeded_at = self.is_seeded, self.seeded_at
        return made

    def spawn(self, n_children: int) -> list[Philox]:
        """Return independent streams, with seeds that derive from the seed of this stream.

        Parameters
        ----------
        n_children : int
            Number of streams.

        Returns
        -------
        list of Philox
            New generators.
        """
        count = checks.integer("spawn", "n_children", n_children)
        made = [Philox(seed) for seed in self.seed_seq.spawn(count)]
        for one in made:
            one.is_seeded = False  # another call returns other streams
        return made


def place_of(op: str, state: Any) -> Place:
    """Return the key and the counter of a state. Raises InvalidArgument for other states."""
    if not isinstance(state, Mapping) or state.get("bit_generator") != "Philox":
        expected = "a state of Philox, the only bit generator on the GPU"
        raise InvalidArgument(op, "state", state, expected)
    inside = state.get("state")
    if not isinstance(inside, Mapping) or not {"key", "counter"} <= inside.keys():
        raise InvalidArgument(op, "state", state, 'have a "state" with "key" and "counter"')
    key = checks.integer(op, "key", inside["key"], maximum=KEYS - 1)
    return key, _counter(op, "counter", inside["counter"])


def stream_of(op: str, seed: Any) -> BitGenerator:
    """Return the stream of a seed, or the given stream."""
    if isinstance(seed, BitGenerator):
        return seed
    if isinstance(seed, int) and not isinstance(seed, bool) and seed < KEYS:
        return Philox(key=checks.integer(op, "seed", seed, maximum=KEYS - 1))
    return Philox(seed)


def _key(sequence: np.random.SeedSequence) -> int:
    (key,) = sequence.generate_state(1, np.uint64)
    return int(key)


def _counter(op: str, name: str, value: Any) -> int:
    return checks.integer(op, name, value, maximum=philox.COUNTERS - 1)


def _entropy(op: str, seed: Any) -> int | list[int]:
    """Return a seed as nonnegative integers."""
    if checks.is_several(seed):
        return [checks.integer(op, "seed", one, maximum=2**128) for one in np.ravel(seed).tolist()]
    expected = "an integer, a sequence of integers, a SeedSequence or None"
    try:
        number = index(seed)
    except TypeError:
        raise InvalidType(op, "seed", seed, expected) from None
    if number < 0:
        raise InvalidArgument(op, "seed", seed, "an integer of at least 0")
    return number
