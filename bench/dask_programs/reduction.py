"""The mean of squares of random numbers, which are drawn as they are needed."""

from __future__ import annotations

from itertools import count
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client

from dask_programs.measuring import Measured, timed


def reduction(kind: str, client: Client, o: Any) -> Measured:
    """Compute mean((u - 1/2)²), which is 1/12. A few bytes of each chunk move."""
    wanted = o.gigabytes if kind == "browsergpu" else o.numpy_gigabytes
    n = int(wanted * 1e9 / 4)
    chunk = min(o.reduced_chunk, n)

    seeds = count()

    def run() -> None:
        # With another seed each time: Dask computes nothing whose name it still knows.
        with dask.config.set({"array.backend": kind}):
            u = da.random.default_rng(next(seeds)).random((n,), chunks=chunk, dtype=np.float32)
            mean = float(np.asarray(((u - 0.5) ** 2).mean(split_every=o.split_every).compute()))
        assert abs(mean - 1 / 12) < 1 / min(n, 1e6) ** 0.5, mean

    seconds = timed(o.repeats, run)
    sizes = {"bytes": 4 * n, "chunk": chunk, "split_every": o.split_every}
    return Measured(seconds, 4 * n / seconds / 1e12, "TB/s", sizes)
