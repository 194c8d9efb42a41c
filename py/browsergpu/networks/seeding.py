"""The random numbers that layers begin with and drop elements by."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.arrays.context import current
from browsergpu.core.checks import integer
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.random.generator import Generator

_KEYS, _COUNTERS = 2**64, 2**128


class Stream(Generator):
    """A Generator for arrays of any device, which goes on from where it was."""

    def on(self, device: Any) -> Self:
        """Draws on that device from now on."""
        self._tape = current(device)
        return self

    @property
    def state(self) -> tuple[int, int]:
        """Where it is: its key and its counter, whole numbers."""
        return self.place

    @state.setter
    def state(self, value: tuple[int, int]) -> None:
        key, counter = value
        if not (0 <= key < _KEYS and 0 <= counter < _COUNTERS):
            expected = "a key below 2**64 and a counter below 2**128"
            raise InvalidArgument("state", "value", value, expected)
        self.place = key, counter
        self.seeds += 1


_stream: list[Stream] = []


def seed(seed: int) -> None:
    """Begins the random numbers of all layers, that they start with and that Dropout drops by,
    again: those that are made after it have the same ones on every device. Before, they are of a
    random seed. ``seed`` is a whole number below 2**64."""
    key = integer("seed", "seed", seed, maximum=_KEYS - 1)
    if _stream:  # the one that a checkpoint draws from again
        _stream[0].state = key, 0
    else:
        _stream.append(Stream(key))


def stream() -> Stream:
    """What layers draw from."""
    if not _stream:
        (key,) = np.random.SeedSequence().generate_state(1, np.uint64)
        seed(int(key))
    return _stream[0]


def drawer(op: str, generator: Any, device: Any) -> Generator:
    """The generator that was given, or the layers' own on a device. Raises InvalidType for what is
    none."""
    if generator is None:
        return stream().on(device)
    if not isinstance(generator, Generator):
        raise InvalidType(op, "generator", generator, "one of browsergpu.random.default_rng")
    return generator
