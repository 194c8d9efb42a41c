"""The cost of moving a chunk and of starting a task."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
from dask.distributed import Client, wait

from dask_programs.chunks import corner, pattern
from dask_programs.measuring import Measured, timed


def corner_of_twice(chunk: Any) -> np.ndarray:
    """Compute with a whole chunk, which is fetched and uploaded first. Return one element."""
    return corner(chunk * 2)


def transfer(kind: str, client: Client, o: Any) -> Measured | None:
    """Move a chunk from one worker's GPU to another's. Return None if there is one worker."""
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    if len(workers) < 2:
        return None
    side = min(o.chunk, 8192)
    found = []
    for _ in range(o.repeats + 1):
        held = client.submit(pattern, kind, 0, 0, (side, side), workers=workers[:1], pure=False)
        wait(held)
        begin = time.perf_counter()
        client.submit(corner_of_twice, held, workers=workers[1:2], pure=False).result()
        found.append(time.perf_counter() - begin)
    seconds, nbytes = median(found[1:]), 4 * side * side
    return Measured(seconds, nbytes / seconds / 1e9, "GB/s", {"bytes": nbytes})


def nothing(i: int) -> int:
    """Do nothing."""
    return i


def tasks(kind: str, client: Client, o: Any) -> Measured:
    """Run empty tasks."""

    def run() -> None:
        client.gather(client.map(nothing, range(o.tasks), pure=False))

    seconds = timed(o.repeats, run)
    return Measured(seconds, o.tasks / seconds, "tasks/s", {"tasks": o.tasks})
