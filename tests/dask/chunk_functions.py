"""Functions that the tests run in worker processes, which import this module by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from dask.sizeof import sizeof

import browsergpu as bg


def is_on_a_gpu(chunk: Any) -> np.ndarray:
    """Whether a chunk is of browsergpu's, on a device with values."""
    return np.full((1,) * chunk.ndim, isinstance(chunk, bg.Array) and chunk.device.has_values)


def doubled_by_a_survivor(chunk: Any, killed: str) -> Any:
    """Twice the chunk; the first worker that comes here dies."""
    try:
        Path(killed).touch(exist_ok=False)
    except FileExistsError:
        return chunk * 2
    os._exit(1)


def gigabytes(n: int) -> Any:
    """An array of so many, computed."""
    found = bg.ones((n, 1 << 28)) + 1
    bg.eval(found)
    return found


def opened() -> tuple[str, int | None]:
    """The GPU of a worker, and what it may have of its memory."""
    device = bg.init()
    return device.name, device.config.memory_limit


def slices(number: int, size: int) -> list[Any]:
    """So many views of one array."""
    whole = bg.ones(number * size, dtype=bg.float32) + 0
    return [whole[k * size : (k + 1) * size] for k in range(number)]


def counted(keys: list[str], dask_worker: Any) -> list[int]:
    """The bytes that a worker counts for results, when their tasks end and later."""
    held = [key for key in keys if key in dask_worker.data]
    first = [dask_worker.state.tasks[key].nbytes for key in held]
    return first + [sizeof(dask_worker.data[key]) for key in held]
