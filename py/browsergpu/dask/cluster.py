"""A cluster with a worker process for each GPU of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import dask
import distributed
from distributed.system import MEMORY_LIMIT

from browsergpu.dask.adapters import gpus, memory_of
from browsergpu.engine.core.errors import InvalidArgument

PRELOAD = "browsergpu.dask.preload"
SATURATION = "distributed.scheduler.worker-saturation"
DASKS_TASKS_AHEAD = 1.1
TASKS_AHEAD = inf  # Dask answers a finished task within 7 ms. A task on a GPU often takes 1 ms.


class LocalCluster(distributed.LocalCluster):  # type: ignore[misc]
    """Dask's LocalCluster with a single-threaded process for each GPU of this machine.

    Parameters
    ----------
    n_workers : int, optional
        Number of processes, which take the GPUs in turn. One for each GPU by default.
    adapters : sequence of int, optional
        Indices of the GPUs in ``browsergpu.enumerate_adapters()``. All GPUs by default, or software
        adapters if the machine has no GPU.
    preload : sequence of str
        Further modules to load in each worker.
    tasks_ahead : float, optional
        Number of tasks without dependencies that the scheduler sends to a worker in advance, at
        least 1. The default is Dask's setting ``distributed.scheduler.worker-saturation`` if it was
        changed, and infinity otherwise: neighboring chunks are then created on one worker. With
        Dask's own default of 1.1, a worker waits up to 7 ms for its next task, but holds fewer
        chunks.
    **options
        Options of Dask's LocalCluster. ``memory_limit`` applies to the host's and the GPU's memory
        of each worker. Above 60 % of the limit, Dask spills chunks to ``local_directory``. The GPU
        allocates at most the limit. The default is the worker's share of the host's memory. If the
        GPU's memory is known, as on Dawn, its share is the default if that is smaller.

    Raises
    ------
    NoAdapter
        If there is no GPU.
    InvalidArgument
        If ``tasks_ahead`` is less than 1.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        adapters: Sequence[int] | None = None,
        preload: Sequence[str] = (),
        tasks_ahead: float | None = None,
        **options: Any,
    ) -> None:
        if tasks_ahead is None:
            set_to = float(dask.config.get(SATURATION))
            tasks_ahead = TASKS_AHEAD if set_to == DASKS_TASKS_AHEAD else set_to
        if not tasks_ahead >= 1:
            raise InvalidArgument("LocalCluster", "tasks_ahead", tasks_ahead, "at least 1")
        self._tasks_ahead = tasks_ahead
        chosen = tuple(gpus() if adapters is None else adapters)
        workers = len(chosen) if n_workers is None else n_workers
        known = memory_of(chosen)
        if known is not None and workers:
            share = known // -(-workers // len(chosen))
            options.setdefault("memory_limit", min(share, MEMORY_LIMIT // workers))
        super().__init__(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            preload=[PRELOAD, *preload],
            preload_argv=["--adapters", ",".join(map(str, chosen))],
            **options,
        )

    async def _start(self) -> None:
        await super()._start()
        self.scheduler.WORKER_SATURATION = self._tasks_ahead
