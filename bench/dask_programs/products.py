"""C = A B of float32, with operands created in the task that uses them, or moved to it."""

from __future__ import annotations

from itertools import count
from typing import Any

import dask
import numpy as np
from dask.distributed import Client, wait

from dask_programs.chunks import corner, matrix, meta_of, pattern, same
from dask_programs.measuring import Measured, timed


def element(n: int, row: int, column: int) -> float:
    """Return an element of C."""
    k = np.arange(n)
    a = (row * 5 + k * 11) % 9 - 4
    b = (column * 7 + k * 3) % 9 - 4
    return float((a * b).sum()) / 64


def product_chunk(kind: str, i: int, j: int, n: int, chunk: int) -> Any:
    """Return a chunk of C."""
    total: Any = None
    for k in range(0, n, chunk):
        part = pattern(kind, i, k, (chunk, chunk)) @ pattern(kind, k, j, (chunk, chunk), swap=True)
        total = part if total is None else total + part
    return total


def product(kind: str, client: Client, o: Any) -> Measured:
    """Compute each chunk of C in one task that creates the chunks of A and B. Nothing moves."""
    n = o.size if kind == "browsergpu" else o.numpy_size
    chunk = min(o.chunk, n)
    places = [(i, j) for i in range(0, n, chunk) for j in range(0, n, chunk)]
    make = dask.delayed(product_chunk, pure=False)
    first = dask.delayed(corner, pure=False)

    def run() -> None:
        found = dask.compute(*(first(make(kind, i, j, n, chunk)) for i, j in places))
        for (i, j), value in zip(places, found, strict=True):
            np.testing.assert_allclose(value, element(n, i, j), rtol=1e-3, atol=1e-3 * n**0.5)

    seconds = timed(o.repeats, run)
    return Measured(seconds, 2 * n**3 / seconds / 1e12, "TFLOP/s", {"size": n, "chunk": chunk})


def moved(kind: str, client: Client, o: Any) -> Measured:
    """Compute ``a @ b`` of arrays on the workers. Dask moves chunks."""
    n = o.moved_size if kind == "browsergpu" else o.numpy_size
    chunk = min(o.chunk, n)
    a, b = matrix(kind, n, chunk), matrix(kind, n, chunk, swap=True)
    wait([a, b])
    rounds = count()

    def run() -> None:
        # A new name each time, since Dask reuses results whose name it knows.
        again = a.map_blocks(same, next(rounds), dtype=a.dtype, meta=meta_of(kind, 2))
        c = (again @ b).persist()
        wait(c)
        found = dask.compute(*(dask.delayed(corner)(part) for part in c.to_delayed().ravel()))
        np.testing.assert_allclose(found[0], element(n, 0, 0), rtol=1e-3, atol=1e-3 * n**0.5)

    seconds = timed(o.repeats, run)
    return Measured(seconds, 2 * n**3 / seconds / 1e12, "TFLOP/s", {"size": n, "chunk": chunk})
