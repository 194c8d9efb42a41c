"""Where ``dask.array.random`` has its numbers from, when chunks are browsergpu's."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.functions.random import legacy


class Philox(int):
    """The seed of a chunk's numbers, which its GPU draws: what Dask takes for a bit generator.

    ``seed`` is NumPy's SeedSequence, of which Dask gives each chunk one of its own, or what makes
    one.
    """

    _seed_seq: np.random.SeedSequence

    def __new__(cls, seed: Any = None) -> Self:
        known = isinstance(seed, np.random.SeedSequence)
        sequence = seed if known else np.random.SeedSequence(seed)
        made = super().__new__(cls, int(sequence.generate_state(1, np.uint64)[0]))
        made._seed_seq = sequence
        return made

    def __reduce__(self) -> Any:
        return type(self), (self._seed_seq,)


class RandomState(legacy.RandomState):
    """The older interface of ``dask.array.random``: its names, drawn by one stream a chunk.

    ``seed`` is what ``np.random.SeedSequence`` takes: Dask gives each chunk words of its own.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(int(Philox(seed)))
