"""Datasets: samples by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description, Shown
from browsergpu.functions import creation, manipulation


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


def random_split(dataset: Any, lengths: Sequence[float], seed: int | None = None) -> list[Subset]:
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

    Returns
    -------
    list of Subset
        The subsets.

    Raises
    ------
    InvalidArgument
        If the lengths add up neither to the size of the dataset nor to 1.
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
    order = np.random.default_rng(seed).permutation(total)
    ends = np.cumsum(counts)
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]


def batch_of(dataset: Any, indices: np.ndarray, device: Any) -> Any:
    """Return the samples with the given indices as one batch, on the GPU."""
    if hasattr(dataset, "batch"):
        return dataset.batch(indices, device)
    return collated([dataset[int(n)] for n in indices], device)


def collated(samples: Sequence[Any], device: Any = None) -> Any:
    """Stack samples along a new first axis, keeping their tuples, lists and dicts.

    Raises InvalidType for samples other than arrays and numbers.
    """
    first = samples[0]
    if isinstance(first, dict):
        return {key: collated([one[key] for one in samples], device) for key in first}
    if isinstance(first, tuple | list):
        made = [collated(list(each), device) for each in zip(*samples, strict=True)]
        return first._make(made) if hasattr(first, "_make") else type(first)(made)
    if isinstance(first, Array):
        return manipulation.stack(list(samples))
    if isinstance(first, np.ndarray | np.generic):
        return creation.asarray(np.stack([np.asarray(one) for one in samples]), device=device)
    if isinstance(first, bool | int | float | complex):
        return creation.asarray(list(samples), device=device)
    raise InvalidType("DataLoader", "sample", first, "arrays, numbers, or tuples or dicts of them")
