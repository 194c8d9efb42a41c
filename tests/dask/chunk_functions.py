"""Functions that the tests run in worker processes, which import this module by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from dask.sizeof import sizeof

import browsergpu as bg


def is_on_a_gpu(chunk: Any) -> np.ndarray:
    """Return whether a chunk is a browsergpu array on a device with values."""
    return np.full((1,) * chunk.ndim, isinstance(chunk, bg.Array) and chunk.device.has_values)


def doubled_by_a_survivor(chunk: Any, killed: str) -> Any:
    """Return twice the chunk. The first worker that calls this function dies."""
    try:
        Path(killed).touch(exist_ok=False)
    except FileExistsError:
        return chunk * 2
    os._exit(1)


def gigabytes(n: int) -> Any:
    """Return a computed array of ``n`` GiB."""
    found = bg.ones((n, 1 << 28)) + 1
    bg.eval(found)
    return found


def opened() -> tuple[str, int | None]:
    """Return the name of a worker's GPU, and the worker's memory limit."""
    device = bg.init()
    return device.name, device.config.memory_limit


def slices(number: int, size: int) -> list[Any]:
    """Return ``number`` views of one array."""
    whole = bg.ones(number * size, dtype=bg.float32) + 0
    return [whole[k * size : (k + 1) * size] for k in range(number)]


def counted(keys: list[str], dask_worker: Any) -> list[int]:
    """Return the bytes that a worker counts for results, when their tasks end and later."""
    held = [key for key in keys if key in dask_worker.data]
    first = [dask_worker.state.tasks[key].nbytes for key in held]
    return first + [sizeof(dask_worker.data[key]) for key in held]
