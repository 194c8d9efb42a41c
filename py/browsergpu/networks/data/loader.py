"""Iteration over batches."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Shown
from browsergpu.networks.data.datasets import Dataset, IterableDataset, batch_of, collated
from browsergpu.networks.data.samplers import check_batch_sampler, host_generator, in_batches


class DataLoader(Shown):
    """Iterates over the batches of a dataset, on the GPU. It can be iterated repeatedly.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        The dataset.
    batch_size : int, optional
        Samples of a batch. The last batch may have fewer. None iterates over single samples.
    shuffle : bool
        Whether to use another order in each epoch. ``seed`` and the attribute ``epoch`` determine
        the order, so the batches of an epoch can be reproduced by setting ``epoch``.
    sampler : iterable, optional
        Indices of the samples in the order of an epoch, instead of ``shuffle``.
    batch_sampler : iterable, optional
        Lists of indices, instead of ``batch_size``, ``shuffle``, ``sampler`` and ``drop_last``.
    num_workers : int
        0. More give a warning: samples are read in this thread.
    collate_fn : callable, optional
        Makes a batch of a list of samples. By default samples are stacked.
    pin_memory : bool
        Has no effect: batches are on the GPU.
    drop_last : bool
        Whether to drop an incomplete last batch.
    timeout : float
        0.
    worker_init_fn, multiprocessing_context : optional
        None, as there are no workers.
    generator : Generator, optional
        A generator of ``browsergpu.random.default_rng`` or NumPy that draws the seed, instead of
        ``seed``.
    prefetch_factor : int, optional
        PyTorch's name of ``prefetch``.
    persistent_workers : bool
        False, as there are no workers.
    seed : int, optional
        Seed of the orders. Random by default.
    prefetch : int
        Number of batches that are prepared and uploaded in advance.
    device : optional
        The device for the batches.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: None = None, multiprocessing_context: None = None, generator: Any = None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False,
        seed: int | None = None, prefetch: int = 1, device: Any = None,
    ) -> None:  # fmt: skip
        op = "DataLoader"
        if not isinstance(dataset, Dataset | IterableDataset):
            expected = "a Dataset, with len() and [index], or an IterableDataset"
            raise InvalidType(op, "dataset", dataset, expected)
        for name, value in (("collate_fn", collate_fn), ("sampler", sampler),
                            ("batch_sampler", batch_sampler)):  # fmt: skip
            kind: Any = Callable if name == "collate_fn" else Iterable
            if value is not None and not isinstance(value, kind):
                expected = "a function" if name == "collate_fn" else "an iterable of indices"
                raise InvalidType(op, name, value, f"{expected} or None")
        self.dataset: Any = dataset
        self.shuffle = shuffle is not None and checks.flag(op, "shuffle", shuffle)
        self.drop_last = checks.flag(op, "drop_last", drop_last)
        self.batch_size = (
            None if batch_size is None else checks.integer(op, "batch_size", batch_size, 1)
        )
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self._check_order(op)
        if batch_sampler is not None:
            self.batch_size = None
        _check_workers(
            op, num_workers, timeout, worker_init_fn, multiprocessing_context, persistent_workers
        )
        self.num_workers = num_workers
        self.pin_memory = checks.flag(op, "pin_memory", pin_memory)
        given = prefetch if prefetch_factor is None else prefetch_factor
        self.prefetch = checks.integer(op, "prefetch", given)
        self.collate_fn = collate_fn
        self.device = device
        #: Number of the next epoch.
        self.epoch = 0
        self.seed = _seed(op, seed, generator)

    def _check_order(self, op: str) -> None:
        """Raise InvalidArgument for arguments that exclude each other."""
        if isinstance(self.dataset, IterableDataset):
            for name in ("shuffle", "sampler", "batch_sampler"):
                if getattr(self, name) not in (None, False):
                    expected = "None or False for an IterableDataset"
                    raise InvalidArgument(op, name, getattr(self, name), expected)
        if self.sampler is not None and self.shuffle:
            raise InvalidArgument(op, "shuffle", True, "False with a sampler")
        check_batch_sampler(
            op, self.batch_sampler, batch_size=self.batch_size, shuffle=self.shuffle,
            sampler=self.sampler, drop_last=self.drop_last,
        )  # fmt: skip
        if self.batch_size is None and self.drop_last:
            raise InvalidArgument(op, "drop_last", True, "False without batch_size")

    def _facts(self) -> str:
        if isinstance(self.dataset, IterableDataset):
            return f"of batches of {self.batch_size}"
        return f"of {len(self)} batches of {self.batch_size}"

    def __len__(self) -> int:
        known: Any = self.sampler if self.sampler is not None else self.dataset
        if self.batch_sampler is not None:
            known = self.batch_sampler
        if self.batch_size is None:
            return len(known)
        whole, rest = divmod(len(known), self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def order(self, epoch: int) -> np.ndarray:
        """Return the indices of the samples in the order of an epoch."""
        count = len(self.dataset)
        if not self.shuffle:
            return np.arange(count)
        return np.random.default_rng([self.seed, epoch]).permutation(count)

    def __iter__(self) -> Iterator[Any]:
        batches = self._made(self.epoch)
        self.epoch += 1
        return self._ahead(batches)

    def _ahead(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Iterate over batches, of which some are prepared in advance."""
        ready: deque[Any] = deque()
        for batch in batches:
            ready.append(batch)
            if len(ready) > self.prefetch:
                yield ready.popleft()
        while ready:
            yield ready.popleft()

    def _made(self, epoch: int) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            return self._of_stream()
        if self.batch_sampler is not None:
            return map(self._batch, self.batch_sampler)
        items: Any = self.order(epoch) if self.sampler is None else self.sampler
        if self.batch_size is None:
            return (self._alone(self.dataset[_index(item)]) for item in items)
        if self.sampler is not None:
            return map(self._batch, in_batches(items, self.batch_size, self.drop_last))
        size = self.batch_size
        return (self._batch(items[n * size : (n + 1) * size]) for n in range(len(self)))

    def _of_stream(self) -> Iterator[Any]:
        make = self.collate_fn or (lambda samples: collated(samples, self.device))
        if self.batch_size is None:
            return map(self._alone, self.dataset)
        return map(make, in_batches(self.dataset, self.batch_size, self.drop_last))

    def _alone(self, sample: Any) -> Any:
        """Return a sample that is not batched, with its arrays on the GPU."""
        if self.collate_fn is not None:
            return self.collate_fn(sample)
        return collated([sample], self.device, is_alone=True)

    def _batch(self, indices: Any) -> Any:
        if self.collate_fn is not None:
            return self.collate_fn([self.dataset[_index(n)] for n in indices])
        return batch_of(self.dataset, indices, self.device)


def _index(item: Any) -> Any:
    """Return an index as an int. A sampler may have other keys."""
    return int(item) if isinstance(item, np.integer) else item


def _check_workers(
    op: str, num_workers: int, timeout: float, worker_init_fn: Any, context: Any, persistent: bool
) -> None:
    """Check the arguments of workers, which do not exist."""
    if checks.integer(op, "num_workers", num_workers):
        warnings.warn(
            f"DataLoader: num_workers={num_workers} has no effect. Samples are read in this "
            "thread, and `prefetch` batches are prepared in advance.",
            UserWarning, stacklevel=3,
        )  # fmt: skip
    for name, value in (("worker_init_fn", worker_init_fn), ("multiprocessing_context", context)):
        if value is not None:
            raise InvalidArgument(op, name, value, "None, as there are no workers")
    if checks.real(op, "timeout", timeout):
        raise InvalidArgument(op, "timeout", timeout, "0, as there are no workers")
    if checks.flag(op, "persistent_workers", persistent) and not num_workers:
        raise InvalidArgument(op, "persistent_workers", persistent, "False, without workers")


def _seed(op: str, seed: Any, generator: Any) -> int:
    from_generator = generator is not None
    if from_generator and seed is not None:
        raise InvalidArgument(op, "seed", seed, "None with a generator")
    if from_generator:
        return int(host_generator(op, generator).integers(2**31))
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidArgument(op, "seed", seed, "an integer of at least 0, or None")
    return int(seed)
