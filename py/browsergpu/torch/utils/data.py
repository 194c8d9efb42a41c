"""Datasets, samplers and loaders, as ``torch.utils.data``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Shown
from browsergpu.networks.data import datasets as own
from browsergpu.networks.data import samplers
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.randoms import randint
from browsergpu.torch.tensors.tensor import Tensor, as_tensors

T = TypeVar("T")


class Dataset(Shown, Generic[T]):
    """Samples by index. Subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method __getitem__")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Samples in order. Subclasses define ``__iter__``."""


class TensorDataset(Dataset[Any]):
    """Samples along the first axis of tensors."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tensors
        self._own = own.TensorDataset(*tensors)

    def __getitem__(self, index: Any) -> Any:
        return tuple([x[index] for x in self.tensors])

    def __len__(self) -> int:
        return len(self._own)

    def batch(self, indices: Any) -> Any:
        """Return many samples at once."""
        found = as_tensors(self._own.batch(indices))
        return list(found) if isinstance(found, tuple) else [found]


class Subset(Dataset[Any]):
    """The samples of a dataset at some indices."""

    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset, self.indices = dataset, indices
        if hasattr(dataset, "batch"):
            self.batch = lambda at: dataset.batch(np.asarray(self.indices)[at])

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(own.ConcatDataset, Dataset[Any]):
    """The samples of several datasets in order."""


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Split a dataset at random into parts of these lengths or shares."""
    total = len(dataset)
    sizes = [int(n) for n in lengths]
    if abs(sum(lengths) - 1) < 1e-6 and sum(sizes) != total:
        sizes = [int(total * share) for share in lengths]
        for at in range(total - sum(sizes)):
            sizes[at % len(sizes)] += 1
    if sum(sizes) != total:
        raise InvalidArgument("random_split", "lengths", lengths, f"have the sum {total}")
    order = _order(total, generator).tolist()
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _order(count: int, generator: Any) -> np.ndarray:
    """Return a random order. ``torch.manual_seed`` determines it."""
    seed = int(randint(0, 2**31 - 1, (), generator=generator).item())
    return np.random.default_rng(seed).permutation(count)


class Sampler(Shown, Generic[T]):
    """Base class of samplers, which yield indices."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.data_source)


class SequentialSampler(Sampler[int]):
    """Yields the indices in order."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler[int]):
    """Yields the indices in random order."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
        generator: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(data_source)
        self.replacement, self.generator = replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.replacement:
            return self._drawn(count)
        return iter(_order(count, self.generator)[: self.num_samples].tolist())

    def _drawn(self, count: int) -> Iterator[int]:
        for begin in range(0, self.num_samples, 4096):  # num_samples may be without end
            size = min(4096, self.num_samples - begin)
            yield from randint(0, count, (size,), generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Yields some indices in random order."""

    def __init__(self, indices: Any, generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[n] for n in _order(len(self.indices), self.generator))

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Yields indices with weights."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        from browsergpu.torch.tensors.creation import as_tensor

        self.weights, self.num_samples = as_tensor(weights, "float32"), num_samples
        self.replacement, self.generator = replacement, generator

    def __iter__(self) -> Iterator[int]:
        from browsergpu.torch.tensors.randoms import multinomial

        found = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(found.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(samplers.BatchSampler, Sampler[list[int]]):
    """Yields lists of the indices of another sampler."""


def default_collate(batch: Any) -> Any:
    """Stack samples along a new first axis."""
    first = batch[0]
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, dict):
        return {key: default_collate([one[key] for one in batch]) for key in first}
    if isinstance(first, tuple | list) and not isinstance(first, Tensor):
        return [default_collate(list(each)) for each in zip(*batch, strict=True)]
    return as_tensors(own.collated(batch))


def get_worker_info() -> None:
    """Return None, as there are no worker processes."""


class DataLoader(Shown):
    """Iterates over the batches of a dataset, in this process."""

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: Any = None, persistent_workers: bool = False,
        pin_memory_device: str = "",
    ) -> None:  # fmt: skip
        if num_workers or persistent_workers:
            message = "DataLoader: num_workers has no effect. Batches are made in this process."
            notice("num_workers", message)
        if timeout or worker_init_fn or multiprocessing_context or prefetch_factor:
            notice("workers", "DataLoader: there are no workers, so their options have no effect.")
        del pin_memory, pin_memory_device  # WebGPU copies from any memory
        if (sampler is not None or batch_sampler is not None) and shuffle:
            raise InvalidArgument("DataLoader", "shuffle", shuffle, "False beside a sampler")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.generator = 0, generator
        self.sampler: Any = None
        self.batch_sampler: Any = None
        self.collate_fn = collate_fn
        self._is_iterable = not hasattr(dataset, "__getitem__") or isinstance(
            dataset, IterableDataset
        )
        if self._is_iterable:
            if shuffle or sampler is not None or batch_sampler is not None:
                raise InvalidArgument("DataLoader", "shuffle", shuffle, "False for an iterable")
            return
        if not hasattr(dataset, "__len__"):
            raise InvalidType("DataLoader", "dataset", dataset, "a Dataset, with len() and [index]")
        if sampler is None and batch_sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator) if shuffle
                else SequentialSampler(dataset)
            )  # fmt: skip
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler

    def __len__(self) -> int:
        if self._is_iterable:
            whole, rest = divmod(len(self.dataset), self.batch_size or 1)
            return whole + bool(rest and not self.drop_last)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def _collated(self, samples: Any) -> Any:
        return (self.collate_fn or default_collate)(samples)

    def __iter__(self) -> Iterator[Any]:
        if self._is_iterable:
            yield from self._of_iterable()
        elif self.batch_sampler is None:
            for n in self.sampler:
                sample = self.dataset[n]
                yield sample if self.collate_fn is None else self.collate_fn(sample)
        elif self.collate_fn is None and hasattr(self.dataset, "batch"):
            for batch in self.batch_sampler:
                yield self.dataset.batch(np.asarray(batch))
        else:
            for batch in self.batch_sampler:
                yield self._collated([self.dataset[n] for n in batch])

    def _of_iterable(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from samples
            return
        for batch in samplers.in_batches(samples, self.batch_size, self.drop_last):
            yield self._collated(batch)
