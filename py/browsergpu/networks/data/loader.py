"""Iteration over batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Shown
from browsergpu.networks.data.datasets import Dataset, batch_of


class DataLoader(Shown):
    """Iterates over the batches of a dataset, on the GPU. It can be iterated repeatedly.

    Parameters
    ----------
    dataset : Dataset
        The dataset.
    batch_size : int
        Samples of a batch. The last batch may have fewer.
    shuffle : bool
        Whether to use another order in each epoch. ``seed`` and the attribute ``epoch`` determine
        the order, so the batches of an epoch can be reproduced by setting ``epoch``.
    drop_last : bool
        Whether to drop an incomplete last batch.
    seed : int, optional
        Seed of the orders. Random by default.
    prefetch : int
        Number of batches that are prepared and uploaded in advance.
    collate_fn : callable, optional
        Makes a batch of a list of samples. By default samples are stacked.
    device : optional
        The device for the batches.
    """

    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        drop_last: bool = False, seed: int | None = None, prefetch: int = 1,
        collate_fn: Callable[[Sequence[Any]], Any] | None = None, device: Any = None,
    ) -> None:  # fmt: skip
        op = "DataLoader"
        if not isinstance(dataset, Dataset):
            raise InvalidType(op, "dataset", dataset, "a Dataset, with len() and [index]")
        if collate_fn is not None and not callable(collate_fn):
            raise InvalidType(op, "collate_fn", collate_fn, "a function or None")
        self.dataset = dataset
        self.batch_size = checks.integer(op, "batch_size", batch_size, 1)
        self.shuffle = checks.flag(op, "shuffle", shuffle)
        self.drop_last = checks.flag(op, "drop_last", drop_last)
        self.prefetch = checks.integer(op, "prefetch", prefetch)
        self.collate_fn = collate_fn
        self.device = device
        #: Number of the next epoch.
        self.epoch = 0
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        elif isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InvalidArgument(op, "seed", seed, "an integer of at least 0, or None")
        self.seed = int(seed)

    def _facts(self) -> str:
        return f"of {len(self)} batches of {self.batch_size}"

    def __len__(self) -> int:
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def order(self, epoch: int) -> np.ndarray:
        """Return the indices of the samples in the order of an epoch."""
        count = len(self.dataset)
        if not self.shuffle:
            return np.arange(count)
        return np.random.default_rng([self.seed, epoch]).permutation(count)

    def __iter__(self) -> Iterator[Any]:
        order = self.order(self.epoch)
        self.epoch += 1
        return self._batches(order)

    def _batches(self, order: np.ndarray) -> Iterator[Any]:
        ready: deque[Any] = deque()
        for n in range(len(self)):
            ready.append(self._made(order[n * self.batch_size : (n + 1) * self.batch_size]))
            if len(ready) > self.prefetch:
                yield ready.popleft()
        while ready:
            yield ready.popleft()

    def _made(self, indices: np.ndarray) -> Any:
        if self.collate_fn is not None:
            return self.collate_fn([self.dataset[int(n)] for n in indices])
        return batch_of(self.dataset, indices, self.device)
