"""The mean of squares of random numbers, which are drawn as they are needed."""

from __future__ import annotations

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
    """Return the mean of (u - 1/2)² of several chunks, which are drawn one after the other."""
    rng = library(kind).random.default_rng([seed, *block_id])
    found = [((rng.random(size, dtype=np.float32) - 0.5) ** 2).mean() for _ in range(chunks)]
    return np.mean([np.asarray(mean) for mean in found], keepdims=True)


def reduction(kind: str, client: Client, o: Any) -> Measured:
    """Compute mean((u - 1/2)²), which is 1/12. A few bytes of each chunk move.

    Dask fuses all work on a chunk into one task. ``da.random`` would give two tasks.
    """
    wanted = o.gigabytes if kind == "browsergpu" else o.numpy_gigabytes
    chunk = min(o.reduced_chunk, int(wanted * 1e9 / 4))
    chunks = int(wanted * 1e9 / 4 / chunk)
    n = chunk * chunks
    seeds = count()

    def run() -> None:
        # With another seed each time: Dask computes nothing whose name it still knows.
        u = da.map_blocks(
            drawn, kind, next(seeds), chunk,
            chunks=((chunk,) * chunks,), dtype=np.float32, meta=meta_of(kind, 1),
        )  # fmt: skip
        mean = float(np.asarray(((u - 0.5) ** 2).mean(split_every=o.split_every).compute()))
        assert abs(mean - 1 / 12) < 1 / min(n, 1e6) ** 0.5, mean

    seconds = timed(o.repeats, run)
    sizes = {"bytes": 4 * n, "chunk": chunk, "split_every": o.split_every}
    return Measured(seconds, 4 * n / seconds / 1e12, "TB/s", sizes)


def several(kind: str, client: Client, o: Any) -> Measured:
    """Compute the same mean with tasks that draw and reduce several chunks each."""
    wanted = o.gigabytes if kind == "browsergpu" else o.numpy_gigabytes
    chunk = min(o.reduced_chunk, int(wanted * 1e9 / 4 / o.pieces))
    tasks = int(wanted * 1e9 / 4 / chunk / o.pieces)
    n = chunk * o.pieces * tasks
    seeds = count()

    def run() -> None:
        found = da.map_blocks(
            means, kind, next(seeds), chunk, o.pieces,
            chunks=((1,) * tasks,), dtype=np.float32, meta=np.empty(0, np.float32),
        )  # fmt: skip
        mean = float(found.mean(split_every=o.split_every).compute())
        assert abs(mean - 1 / 12) < 1 / min(n, 1e6) ** 0.5, mean

    seconds = timed(o.repeats, run)
    sizes = {"bytes": 4 * n, "chunk": chunk, "chunks_a_task": o.pieces}
    return Measured(seconds, 4 * n / seconds / 1e12, "TB/s", sizes)
