"""Random numbers for the initial values of layers and for Dropout."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.arrays.context import current
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.random.generator import Generator

_KEYS, _COUNTERS = 2**64, 2**128
#: The position where a seed begins. ``default_rng`` with the same seed has the first half of the
#: stream, so that data and weights with one seed do not share numbers.
_FIRST = _COUNTERS // 2


class Stream(Generator):
    """A Generator for arrays on any device, which continues where it stopped."""

    def on(self, device: Any) -> Self:
        """Draw on a device from now on."""
        self._tracer = current(device)
        return self

    @property
    def state(self) -> tuple[int, int]:
        """The generator's position: its key and its counter, two integers."""
        return self.place

    @state.setter
    def state(self, value: tuple[int, int]) -> None:
        key, counter = value
        if not (0 <= key < _KEYS and 0 <= counter < _COUNTERS):
            expected = "a key below 2**64 and a counter below 2**128"
            raise InvalidArgument("state", "value", value, expected)
        self._restart((key, counter))


_stream: list[Stream] = []


def seed(seed: int) -> None:
    """Seed the random numbers of all layers, which initial values and Dropout use.

    Layers created afterwards get the same numbers on every device. Without a call, the seed is
    random.

    Parameters
    ----------
    seed : int
        An integer from 0 to 2**64 - 1.
    """
    key = integer("seed", "seed", seed, maximum=_KEYS - 1)
    if not _stream:  # keep the object, because checkpoints use it
        _stream.append(Stream(key))
    _stream[0].state = key, _FIRST


def stream() -> Stream:
    """Return the generator that layers draw from."""
    if not _stream:
        (key,) = np.random.SeedSequence().generate_state(1, np.uint64)
        seed(int(key))
    return _stream[0]


def drawer(op: str, generator: Any, device: Any) -> Generator:
    """Return the given generator, or by default the layers' generator on a device.

    Raises InvalidType if ``generator`` is not a Generator.
    """
    if generator is None:
        return stream().on(device)
    if not isinstance(generator, Generator):
        raise InvalidType(op, "generator", generator, "a Generator from random.default_rng")
    return generator
