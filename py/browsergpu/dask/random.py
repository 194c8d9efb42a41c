"""Random numbers for ``dask.array.random`` with browsergpu chunks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.functions.random import legacy


class Philox(int):
    """The seed of a chunk's random numbers, in place of a NumPy bit generator.

    The chunk's GPU draws the numbers.

    Parameters
    ----------
    seed : optional
        A NumPy SeedSequence, or an argument for one. Dask passes a different SeedSequence for each
        chunk.
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
    """The legacy interface of ``dask.array.random``, with one stream for each chunk.

    Parameters
    ----------
    seed : optional
        An argument for ``np.random.SeedSequence``. Dask passes different words for each chunk.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(int(Philox(seed)))
