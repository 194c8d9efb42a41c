"""Chunk functions shared by several programs."""

from __future__ import annotations

import importlib
from typing import Any

import dask
import dask.array as da
import numpy as np

from browsergpu.dask import meta


def library(kind: str) -> Any:
    """Return the module that a task computes with: browsergpu or numpy."""
    return importlib.import_module(kind)


def library_of(chunk: Any) -> Any:
    """Return the module that a chunk belongs to."""
    return library(type(chunk).__module__.partition(".")[0])


def meta_of(kind: str, ndim: int) -> Any:
    """Return the meta of an array of float32 chunks."""
    return meta(ndim) if kind == "browsergpu" else np.empty((0,) * ndim, np.float32)


def corner(chunk: Any) -> np.ndarray:
    """Return a chunk's first element. Waits for the whole chunk."""
    return np.asarray(chunk[(0,) * chunk.ndim])


def pattern(kind: str, row: int, column: int, shape: tuple[int, int], swap: bool = False) -> Any:
    """Return the chunk at a row and column of A, or of B if ``swap``.

    The elements are multiples of 1/8 from -1/2 to 1/2, computed from their indices.
    """
    xp = library(kind)
    rows = (xp.arange(shape[0], dtype=xp.int32) + row)[:, None]
    columns = (xp.arange(shape[1], dtype=xp.int32) + column)[None, :]
    mixed = columns * 7 + rows * 3 if swap else rows * 5 + columns * 11
    return (mixed % 9 - 4).astype(xp.float32) / 8


def matrix(kind: str, n: int, chunk: int, swap: bool = False) -> da.Array:
    """Return A or B as a Dask array of n² elements, persisted on the workers."""
    make = dask.delayed(pattern, pure=False)
    rows = [
        [
            da.from_delayed(
                make(kind, i, j, (chunk, chunk), swap), (chunk, chunk), meta=meta_of(kind, 2)
            )
            for j in range(0, n, chunk)
        ]
        for i in range(0, n, chunk)
    ]
    return da.block(rows).persist()


def same(chunk: Any, _round: int) -> Any:
    """Return the chunk."""
    return chunk
