"""Datasets: samples by index."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidIndex, InvalidType
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.functions import creation, manipulation
from browsergpu.networks.data.samplers import host_generator


@runtime_checkable
class Dataset(Protocol):
    """An object with ``len()`` and samples by index.

    A sample is an array, a number, or a tuple, list or dict of these. If the object has a method
    ``batch(indices)``, it is used to get many samples at once, on the GPU.
    """

    def __getitem__(self, index: int, /) -> Any:
        """Return the sample with an index."""

    def __len__(self) -> int:
        """Return the number of samples."""


class IterableDataset(Shown):
    """Base of datasets whose samples come one after the other.

    A subclass defines ``__iter__``. It may also define ``__len__``.
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no method __iter__")


class ArrayDataset(Shown):
    """A dataset of samples along the first axis of arrays.

    A sample is a tuple with a part of each array, or the part itself if there is one array. Batches
    of host arrays are copied to the GPU on demand. Batches of GPU arrays are gathered on the GPU.

    Parameters
    ----------
    *arrays : array_like
        Arrays on the host or the GPU.

    Raises
    ------
    InvalidArgument
        If the lengths of the arrays differ.
    """

    def __init__(self, *arrays: Any) -> None:
        if not arrays:
            raise InvalidArgument("ArrayDataset", "arrays", arrays, "arrays")
        self.arrays = tuple([x if isinstance(x, Array) else np.asarray(x) for x in arrays])
        for x in self.arrays:
            if not x.ndim or x.shape[0] != self.arrays[0].shape[0]:
                expected = "have equal lengths along the first axis"
                shown = [one.shape for one in self.arrays]
                raise InvalidArgument("ArrayDataset", "arrays", Description(shown), expected)

    def _facts(self) -> str:
        return f"of {len(self)} samples"

    def __len__(self) -> int:
        return int(self.arrays[0].shape[0])

    def __getitem__(self, index: Any) -> Any:
        found = tuple([x[index] for x in self.arrays])
        return found if len(found) > 1 else found[0]

    def batch(self, indices: np.ndarray, device: Any = None) -> Any:
        """Return the samples with the given indices, on the GPU."""
        found = tuple([
            manipulation.take(x, creation.asarray(indices, dtype="int32", device=x.device), axis=0)
            if isinstance(x, Array) else creation.asarray(x[indices], device=device)
            for x in self.arrays
        ])  # fmt: skip
        return found if len(found) > 1 else found[0]


class TensorDataset(ArrayDataset):
    """An ArrayDataset whose samples are always tuples, as PyTorch's."""

    def __getitem__(self, index: Any) -> Any:
        return tuple([x[index] for x in self.arrays])

    def batch(self, indices: np.ndarray, device: Any = None) -> Any:
        """Return the samples with the given indices, on the GPU, as a tuple."""
        found = super().batch(indices, device)
        return found if isinstance(found, tuple) else (found,)


class Subset(Shown):
    """A subset of a dataset, by indices."""

    def __init__(self, dataset: Any, indices: Sequence[int] | np.ndarray) -> None:
        if not isinstance(dataset, Dataset):
            raise InvalidType("Subset", "dataset", dataset, "a Dataset")
        self.dataset = dataset
        self.indices = np.asarray(indices, np.int64).reshape(-1)
        if self.indices.size and not (
            self.indices.min() >= 0 and self.indices.max() < len(dataset)
        ):
            raise InvalidArgument("Subset", "indices", indices, f"numbers below {len(dataset)}")

    def _facts(self) -> str:
        return f"of {len(self)} samples"

    def __len__(self) -> int:
        return self.indices.size

    def __getitem__(self, index: int) -> Any:
        return self.dataset[int(self.indices[index])]

    def batch(self, indices: np.ndarray, device: Any = None) -> Any:
        """Return the samples with the given indices into the subset, on the GPU."""
        return batch_of(self.dataset, self.indices[indices], device)


class ConcatDataset(Shown):
    """Datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        for one in self.datasets:
            if not isinstance(one, Dataset):
                raise InvalidType("ConcatDataset", "datasets", one, "Datasets")
        if not self.datasets:
            raise InvalidArgument("ConcatDataset", "datasets", self.datasets, "Datasets")
        #: The number of samples up to the end of each dataset.
        self.cumulative_sizes = np.cumsum([len(one) for one in self.datasets]).tolist()

    def _facts(self) -> str:
        return f"of {len(self)} samples"

    def __len__(self) -> int:
        return int(self.cumulative_sizes[-1])

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise InvalidIndex("ConcatDataset", "index", index, f"one of {len(self)} samples")
        own = index % len(self)
        at = bisect_right(self.cumulative_sizes, own)
        return self.datasets[at][own - (self.cumulative_sizes[at - 1] if at else 0)]


class ChainDataset(IterableDataset):
    """The samples of several datasets that are iterated, one after the other."""

    def __init__(self, datasets: Iterable[IterableDataset]) -> None:
        self.datasets = list(datasets)
        for one in self.datasets:
            if not isinstance(one, IterableDataset):
                raise InvalidType("ChainDataset", "datasets", one, "IterableDatasets")

    def __iter__(self) -> Iterator[Any]:
        for one in self.datasets:
            yield from one

    def __len__(self) -> int:
        sizes: list[Any] = self.datasets
        return sum(len(one) for one in sizes)


def random_split(
    dataset: Any, lengths: Sequence[float], seed: int | None = None, *, generator: Any = None
) -> list[Subset]:
    """Split a dataset randomly into disjoint subsets.

    Parameters
    ----------
    dataset : Dataset
        The dataset.
    lengths : sequence of float
        Numbers of samples, or fractions that add up to 1. With fractions, remaining samples go to
        the first subsets.
    seed : int, optional
        Determines the split.
    generator : Generator, optional
        A generator of ``browsergpu.random.default_rng`` or NumPy that draws the seed.

    Returns
    -------
    list of Subset
        The subsets.

    Raises
    ------
    InvalidArgument
        If the lengths add up neither to the size of the dataset nor to 1, or if there are a seed
        and a generator.
    """
    op = "random_split"
    if not isinstance(dataset, Dataset):
        raise InvalidType(op, "dataset", dataset, "a Dataset")
    total = len(dataset)
    given = [checks.real(op, "lengths", one) for one in lengths]
    if given and abs(sum(given) - 1) < 1e-6 and all(0 <= one <= 1 for one in given):
        counts = [int(one * total) for one in given]
        for n in range(total - sum(counts)):
            counts[n % len(counts)] += 1
    else:
        counts = [checks.integer(op, "lengths", one) for one in lengths]
    if sum(counts) != total:
        raise InvalidArgument(
            op, "lengths", list(lengths), f"numbers that add up to {total}, or to 1"
        )
    if generator is not None and seed is not None:
        raise InvalidArgument(op, "seed", seed, "None with a generator")
    rng = np.random.default_rng(seed) if generator is None else host_generator(op, generator)
    order = rng.permutation(total)
    ends = np.cumsum(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]


def has_batch(dataset: Any) -> bool:
    """Whether a dataset's method ``batch`` returns the samples that indexing returns.

    It does not for a subclass that overrides ``__getitem__`` alone.
    """
    for kind in type(dataset).__mro__:
        if "batch" in vars(kind):
            return hasattr(dataset, "batch")
        if "__getitem__" in vars(kind):
            return False
    return False


def batch_of(dataset: Any, indices: Any, device: Any) -> Any:
    """Return the samples with the given indices as one batch, on the GPU."""
    if has_batch(dataset):
        return dataset.batch(np.asarray(indices), device)
    own = [int(n) if isinstance(n, np.integer) else n for n in indices]
    return collated([dataset[n] for n in own], device)


def default_collate(batch: Sequence[Any]) -> Any:
    """Stack samples along a new first axis, keeping their tuples, lists and dicts.

    Parameters
    ----------
    batch : sequence
        Samples: arrays, numbers, strings, or tuples, lists or dicts of these.

    Returns
    -------
    Array, list, tuple or dict
        The form of a sample, with arrays for arrays and numbers, and lists for strings.

    Raises
    ------
    InvalidType
        For samples of other types.
    """
    if not batch:
        raise InvalidArgument("default_collate", "batch", batch, "samples")
    return collated(batch)


def collated(samples: Sequence[Any], device: Any = None, is_alone: bool = False) -> Any:
    """Stack samples along a new first axis, keeping their tuples, lists and dicts.

    ``is_alone`` leaves the axis out, for one sample. Strings are not stacked. Raises InvalidType
    for samples other than arrays, numbers and strings.
    """
    first = samples[0]
    if isinstance(first, str | bytes):
        return first if is_alone else list(samples)
    if isinstance(first, dict):
        return {key: collated([one[key] for one in samples], device, is_alone) for key in first}
    if isinstance(first, tuple | list):
        made = [collated(list(each), device, is_alone) for each in zip(*samples, strict=True)]
        return first._make(made) if hasattr(first, "_make") else type(first)(made)
    if isinstance(first, Array):
        return first if is_alone else manipulation.stack(list(samples))
    if isinstance(first, np.ndarray | np.generic):
        stacked = np.asarray(first) if is_alone else np.stack([np.asarray(x) for x in samples])
        return creation.asarray(stacked, device=device)
    if isinstance(first, bool | int | float | complex):
        return first if is_alone else creation.asarray(list(samples), device=device)
    expected = "arrays, numbers, strings, or tuples, lists or dicts of them"
    raise InvalidType("DataLoader", "sample", first, expected)
