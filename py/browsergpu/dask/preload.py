"""Module that a Dask worker preloads to open its GPU.

    dask worker tcp://scheduler:8786 --nworkers 4 --nthreads 1 --name gpu \\
        --preload browsergpu.dask.preload

starts a process for each of four GPUs. ``--adapters 0,2`` selects GPUs by their indices in
``browsergpu.enumerate_adapters()``.
"""

from __future__ import annotations

from typing import Any

import click

from browsergpu.arrays import context, x64
from browsergpu.dask import registration, serialization
from browsergpu.dask.adapters import adapter_of, gpus

__all__ = ["dask_setup", "registration", "serialization"]  # they register arrays with Dask


@click.command()  # type: ignore[untyped-decorator]
@click.option("--adapters", default="", help="Indices of the GPUs that workers take in turn: 0,2")  # type: ignore[untyped-decorator]
def dask_setup(worker: Any, adapters: str) -> None:
    """Open the worker's GPU, with the worker's memory limit."""
    # Dask names float64 and int64 wherever NumPy does, so the user cannot avoid the warning.
    x64.set_x64("quiet")
    chosen = [int(index) for index in adapters.split(",")] if adapters else gpus()
    context.init(
        adapter_index=adapter_of(worker.name, chosen),
        memory_limit=worker.memory_manager.memory_limit,
    )
