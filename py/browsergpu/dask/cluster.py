"""A cluster with a worker process for each GPU of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import distributed
from distributed.system import MEMORY_LIMIT

from browsergpu.dask.adapters import gpus, memory_of

PRELOAD = "browsergpu.dask.preload"


class LocalCluster(distributed.LocalCluster):  # type: ignore[misc]
    """Dask's LocalCluster with a single-threaded process for each GPU of this machine.

    Parameters
    ----------
    n_workers : int, optional
        Number of processes, which take the GPUs in turn. The number of GPUs by default.
    adapters : sequence of int, optional
        Indices of the GPUs in ``browsergpu.enumerate_adapters()``. All GPUs by default, or software
        adapters if there are only those.
    preload : sequence of str
        Further modules to load in each worker.
    **options
        Options of Dask's LocalCluster. ``memory_limit`` applies to the host and to the GPU of each
        worker: above 60 % of it Dask spills chunks to ``local_directory``, and the GPU allocates no
        more than it. By default it is the worker's share of the host's memory, or of the GPU's if
        that is known, as from Dawn, and smaller.

    Raises
    ------
    NoAdapter
        If there is no GPU.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        adapters: Sequence[int] | None = None,
        preload: Sequence[str] = (),
        **options: Any,
    ) -> None:
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
