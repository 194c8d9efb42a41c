"""Where ``dask.array.random`` has its numbers from, when chunks are browsergpu's."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.functions.drawing import Generator
from browsergpu.core.errors import UnknownName
from browsergpu.core.showing import Shown


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


class RandomState(Shown):
    """The older interface of ``dask.array.random``: its names, drawn by a Generator.

    ``seed`` is what ``np.random.SeedSequence`` takes: Dask gives each chunk words of its own.
    """

    def __init__(self, seed: Any = None) -> None:
        self._generator = Generator(int(Philox(seed)))

    def random_sample(self, size: Any = None) -> Array:
        """``Generator.random``."""
        return self._generator.random(size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Array:
        """``Generator.uniform``."""
        return self._generator.uniform(low, high, size)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Array:
        """``Generator.normal``."""
        return self._generator.normal(loc, scale, size)

    def standard_normal(self, size: Any = None) -> Array:
        """``Generator.standard_normal``."""
        return self._generator.standard_normal(size)

    def exponential(self, scale: float = 1.0, size: Any = None) -> Array:
        """``Generator.exponential``."""
        return self._generator.exponential(scale, size)

    def standard_exponential(self, size: Any = None) -> Array:
        """``Generator.exponential`` of mean 1."""
        return self._generator.exponential(size=size)

    def randint(
        self, low: int, high: int | None = None, size: Any = None, dtype: Any = np.int32
    ) -> Array:
        """``Generator.integers``."""
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low: int, high: int | None = None, size: Any = None) -> Array:
        """Whole numbers from ``low`` to ``high``, or from 1 to ``low``, both of them included."""
        least, most = (1, low) if high is None else (low, high)
        return self._generator.integers(least, most, size, endpoint=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.RandomState, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        advice = "Set array.backend to 'numpy', draw, and move the chunks with to_backend()."
        raise UnknownName(f"dask.array.random.{name}", f"no GPU draws this. {advice}")
