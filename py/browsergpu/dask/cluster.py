"""A worker process for each GPU of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import distributed
from distributed.system import MEMORY_LIMIT

from browsergpu.dask.adapters import gpus, memory_of

PRELOAD = "browsergpu.dask.preload"


class LocalCluster(distributed.LocalCluster):  # type: ignore[misc]
    """Dask's own LocalCluster of a process with one thread for each of this machine's GPUs.

    ``n_workers`` asks for another number of processes; they take the GPUs in turn. ``adapters``
    are the indices, in ``browsergpu.enumerate_adapters()``, of the GPUs to use: by default all, or
    those in software where there are no others. ``memory_limit`` is what a worker may hold, on its
    GPU as on the host: from 60 % of it on Dask spills chunks to ``local_directory``, and its GPU
    gives no more. By default it is a worker's share of the host's memory, or what its GPU has where
    that is known, as from Dawn, and less. Other options are Dask's. Raises NoAdapter where there
    is no GPU.
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
