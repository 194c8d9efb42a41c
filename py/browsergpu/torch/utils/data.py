"""Datasets, samplers and loaders, as ``torch.utils.data``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.networks.data import datasets as own
from browsergpu.networks.data import samplers
from browsergpu.torch.tensors.devices import notice
from browsergpu.torch.tensors.randoms import rng_of
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


class TensorDataset(own.TensorDataset, Dataset[Any]):
    """Samples along the first axis of tensors."""

    @property
    def tensors(self) -> tuple[Any, ...]:
        """The tensors."""
        return self.arrays

    def batch(self, indices: Any, device: Any = None) -> Any:
        """Return many samples at once."""
        return list(as_tensors(super().batch(indices, device)))


class Subset(own.Subset, Dataset[Any]):
    """The samples of a dataset at some indices."""

    @property
    def batch(self) -> Any:
        """The function that returns many samples at once, if the dataset has one."""
        if not own.has_batch(self.dataset):
            raise AttributeError(f"{type(self.dataset).__name__} has no method batch")
        return super().batch


class ConcatDataset(own.ConcatDataset, Dataset[Any]):
    """The samples of several datasets in order."""


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Split a dataset at random into parts of these lengths or shares."""
    parts = own.random_split(dataset, lengths, generator=rng_of(generator))
    return [Subset(dataset, part.indices) for part in parts]


class Sampler(samplers.Sampler, Generic[T]):
    """Base class of samplers, which yield indices."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __len__(self) -> int:
        return len(self.data_source)

    def _host_generator(self) -> np.random.Generator:
        """Return a generator that ``torch.manual_seed`` or the sampler's generator seeds."""
        given = rng_of(getattr(self, "generator", None))
        return samplers.host_generator(type(self).__name__, given)


class SequentialSampler(samplers.SequentialSampler, Sampler[int]):
    """Yields the indices in order."""


class RandomSampler(samplers.RandomSampler, Sampler[int]):
    """Yields the indices in random order."""


class SubsetRandomSampler(samplers.SubsetRandomSampler, Sampler[int]):
    """Yields some indices in random order."""


class WeightedRandomSampler(samplers.WeightedRandomSampler, Sampler[int]):
    """Yields indices with weights."""


class BatchSampler(samplers.BatchSampler, Sampler[list[int]]):
    """Yields lists of the indices of another sampler."""


def default_collate(batch: Any) -> Any:
    """Stack samples along a new first axis."""
    first = batch[0]
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([one[key] for one in batch]) for key in first}
    if isinstance(first, tuple | list) and not isinstance(first, Tensor):
        made = [default_collate(each) for each in zip(*batch, strict=True)]
        return first._make(made) if hasattr(first, "_make") else made
    return as_tensors(own.collated(batch))


def default_convert(data: Any) -> Any:
    """Return NumPy arrays as tensors, also in dicts, tuples and lists. Tuples become lists."""
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind in "biufc":
        return as_tensors(own.collated([data], is_alone=True))
    if isinstance(data, dict):
        return {key: default_convert(one) for key, one in data.items()}
    if isinstance(data, tuple | list) and not isinstance(data, Tensor):
        made = [default_convert(one) for one in data]
        return data._make(made) if hasattr(data, "_make") else made
    return data


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
        if batch_size is None and drop_last:
            raise InvalidArgument("DataLoader", "drop_last", True, "False without batch_size")
        samplers.check_batch_sampler(
            "DataLoader", batch_sampler, batch_size=batch_size, shuffle=shuffle, sampler=sampler,
            drop_last=drop_last,
        )  # fmt: skip
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
                yield (self.collate_fn or default_convert)(sample)
        elif self.collate_fn is None and own.has_batch(self.dataset):
            for batch in self.batch_sampler:
                yield self.dataset.batch(np.asarray(batch))
        else:
            for batch in self.batch_sampler:
                yield self._collated([self.dataset[n] for n in batch])

    def _of_iterable(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn or default_convert, samples)
            return
        for batch in samplers.in_batches(samples, self.batch_size, self.drop_last):
            yield self._collated(batch)
