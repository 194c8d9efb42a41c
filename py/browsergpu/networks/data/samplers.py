"""Samplers: the order in which a loader takes the samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.functions.random.generator import Generator


def host_generator(op: str, generator: Any) -> np.random.Generator:
    """Return a generator on the host, seeded by one draw of the given generator.

    Without one, the seed is random. Raises InvalidType for anything else than a Generator of
    browsergpu or NumPy. A draw on the GPU waits.
    """
    if generator is None:
        return np.random.default_rng()
    if not isinstance(generator, Generator | np.random.Generator):
        raise InvalidType(op, "generator", generator, "a Generator or None")
    return np.random.default_rng(int(generator.integers(2**31)))


#: Indices that are drawn at once, with replacement.
_BLOCK = 2**16
_MOST = 2**63 - 1


class Sampler(Shown):
    """Base of samplers. A subclass iterates over indices, and may have a length.

    Parameters
    ----------
    data_source : optional
        Ignored, as in PyTorch.
    """

    def __init__(self, data_source: Any = None) -> None:
        del data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no method __iter__")

    def _host_generator(self) -> np.random.Generator:
        """Return a generator on the host, seeded by the sampler's."""
        return host_generator(type(self).__name__, getattr(self, "generator", None))


def check_batch_sampler(
    op: str, batch_sampler: Any, *, batch_size: Any, shuffle: Any, sampler: Any, drop_last: Any
) -> None:
    """Raise InvalidArgument for a batch sampler beside arguments that it replaces."""
    if batch_sampler is None:
        return
    if batch_size != 1 or shuffle or sampler is not None or drop_last:
        expected = "None with batch_size, shuffle, sampler or drop_last"
        raise InvalidArgument(op, "batch_sampler", batch_sampler, expected)


def _length(op: str, data_source: Any) -> int:
    if not isinstance(data_source, Sized):
        raise InvalidType(op, "data_source", data_source, "an object with len()")
    return len(data_source)


class SequentialSampler(Sampler):
    """Iterate over the indices of a dataset in order."""

    def __init__(self, data_source: Any) -> None:
        _length("SequentialSampler", data_source)
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Iterate over the indices of a dataset in random order.

    Parameters
    ----------
    data_source : Dataset
        The dataset.
    replacement : bool
        Whether an index may occur several times.
    num_samples : int, optional
        Number of indices, that of the dataset by default. Without ``replacement``, further indices
        come from further orders.
    generator : Generator, optional
        A generator of ``browsergpu.random.default_rng`` or NumPy. Random by default.
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
        op = "RandomSampler"
        if not _length(op, data_source):
            raise InvalidArgument(op, "data_source", data_source, "have samples")
        self.data_source = data_source
        self.replacement = checks.flag(op, "replacement", replacement)
        self._count = num_samples
        if num_samples is not None:
            self._count = checks.integer(op, "num_samples", num_samples, 1, _MOST)
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """Number of indices."""
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        rng, total = self._host_generator(), len(self.data_source)
        left = self.num_samples
        while left > 0:  # in blocks, as there may be more numbers than memory
            size = min(left, _BLOCK) if self.replacement else min(left, total)
            drawn = rng.integers(0, total, size) if self.replacement else rng.permutation(total)
            yield from drawn[:size].tolist()
            left -= size

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Iterate over given indices in random order.

    Parameters
    ----------
    indices : sequence of int
        The indices.
    generator : Generator, optional
        A generator of ``browsergpu.random.default_rng`` or NumPy. Random by default.
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = checks.dimensions("SubsetRandomSampler", "indices", indices)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        rng = self._host_generator()
        return iter([self.indices[n] for n in rng.permutation(len(self.indices))])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Draw indices with given weights.

    Parameters
    ----------
    weights : array_like
        A weight for each index, which need not add up to 1. An array on the GPU is waited for.
    num_samples : int
        Number of indices.
    replacement : bool
        Whether an index may occur several times.
    generator : Generator, optional
        A generator of ``browsergpu.random.default_rng`` or NumPy. Random by default.
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        op = "WeightedRandomSampler"
        self.num_samples = checks.integer(op, "num_samples", num_samples, 1)
        self.replacement = checks.flag(op, "replacement", replacement)
        own = weights.detach().numpy() if isinstance(weights, Array) else weights
        self.weights = np.asarray(own, np.float64)
        if self.weights.ndim != 1 or (self.weights < 0).any() or not self.weights.sum() > 0:
            expected = "numbers of at least 0, in one axis, of which one is above 0"
            raise InvalidArgument(op, "weights", weights, expected)
        if not self.replacement and self.num_samples > np.count_nonzero(self.weights):
            most = np.count_nonzero(self.weights)
            raise InvalidArgument(op, "num_samples", num_samples, f"at most {most}")
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        rng = self._host_generator()
        shares = self.weights / self.weights.sum()
        drawn = rng.choice(len(shares), self.num_samples, self.replacement, shares)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Iterate over lists of the indices of another sampler.

    Parameters
    ----------
    sampler : iterable
        A sampler, or another iterable of indices.
    batch_size : int
        Indices of a list. The last list may have fewer.
    drop_last : bool
        Whether to drop an incomplete last list.
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        op = "BatchSampler"
        if not isinstance(sampler, Iterable):
            raise InvalidType(op, "sampler", sampler, "an iterable of indices")
        self.sampler = sampler
        self.batch_size = checks.integer(op, "batch_size", batch_size, 1)
        self.drop_last = checks.flag(op, "drop_last", drop_last)

    def __iter__(self) -> Iterator[list[Any]]:
        yield from in_batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count: Any = self.sampler
        whole, rest = divmod(len(count), self.batch_size)
        return whole + bool(rest and not self.drop_last)


def in_batches(items: Iterable[Any], batch_size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Iterate over lists of ``batch_size`` items."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == batch_size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch
