"""The mean of squares of random numbers, which are drawn on demand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client

from dask_programs.chunks import library, meta_of
from dask_programs.measuring import Measured, timed


def drawn(kind: str, seed: int, size: int, block_id: tuple[int, ...]) -> Any:
    """Return a chunk of uniform random numbers."""
    rng = library(kind).random.default_rng([seed, *block_id])
    return rng.random(size, dtype=np.float32)


def means(kind: str, seed: int, size: int, chunks: int, block_id: tuple[int, ...]) -> np.ndarray:
    """Return the mean of (u - 1/2)² of several chunks, drawn one after the other."""
    rng = library(kind).random.default_rng([seed, *block_id])
    found = [((rng.random(size, dtype=np.float32) - 0.5) ** 2).mean() for _ in range(chunks)]
    return np.mean([np.asarray(mean) for mean in found], keepdims=True)


def reduction(kind: str, client: Client, o: Any) -> Measured:
    """Compute mean((u - 1/2)²), which is 1/12. A few bytes of each chunk move.

    Dask fuses all work on a chunk into one task. ``da.random`` would give two tasks.
    """

    def mean(seed: int, chunk: int, tasks: int) -> Any:
        u = da.map_blocks(
            drawn, kind, seed, chunk,
            chunks=((chunk,) * tasks,), dtype=np.float32, meta=meta_of(kind, 1),
        )  # fmt: skip
        return ((u - 0.5) ** 2).mean(split_every=o.split_every)

    return _measured(kind, o, 1, mean)


def several(kind: str, client: Client, o: Any) -> Measured:
    """Compute the same mean with tasks that draw and reduce several chunks each."""

    def mean(seed: int, chunk: int, tasks: int) -> Any:
        found = da.map_blocks(
            means, kind, seed, chunk, o.pieces,
            chunks=((1,) * tasks,), dtype=np.float32, meta=np.empty(0, np.float32),
        )  # fmt: skip
        return found.mean(split_every=o.split_every)

    return _measured(kind, o, o.pieces, mean)


def _measured(
    kind: str, o: Any, chunks_a_task: int, mean: Callable[[int, int, int], Any]
) -> Measured:
    """Measure ``mean(seed, elements of a chunk, number of tasks)``, a Dask array of no axes."""
    wanted = o.gigabytes if kind == "browsergpu" else o.numpy_gigabytes
    chunk = min(o.reduced_chunk, int(wanted * 1e9 / 4 / chunks_a_task))
    tasks = int(wanted * 1e9 / 4 / chunk / chunks_a_task)
    n = chunk * chunks_a_task * tasks
    seeds = count()

    def run() -> None:
        # A new seed each time, since Dask reuses results whose name it knows.
        found = float(np.asarray(mean(next(seeds), chunk, tasks).compute()))
        assert abs(found - 1 / 12) < 1 / min(n, 1e6) ** 0.5, found

    seconds = timed(o.repeats, run)
    sizes = {"bytes": 4 * n, "chunk": chunk, "split_every": o.split_every}
    sizes["chunks_a_task"] = chunks_a_task
    return Measured(seconds, 4 * n / seconds / 1e12, "TB/s", sizes)
