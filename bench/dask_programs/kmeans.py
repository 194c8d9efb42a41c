"""Rounds of Lloyd's algorithm on points that stay on the workers."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.distributed import Client, wait

from dask_programs.chunks import library, library_of
from dask_programs.measuring import Measured, timed


def points_chunks(kind: str, seed: int, chunks: int, n: int, features: int) -> list[Any]:
    """Return chunks of points around two corners of a cube."""
    xp = library(kind)
    rng = xp.random.default_rng(seed)
    made = []
    for _ in range(chunks):
        noise = rng.standard_normal((n, features), dtype=np.float32)
        made.append(noise * 0.2 + (rng.integers(0, 2, (n, 1)) * 2.0).astype(np.float32))
    return made


def nearest_sums(chunks: list[Any], centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum and the count of the points nearest to each centre."""
    xp = library_of(chunks[0])
    at = xp.asarray(centres)
    sums: Any = 0
    numbers: Any = 0
    for points in chunks:
        apart = xp.sum(at * at, axis=1) - 2 * (points @ at.T)
        nearest = xp.argmin(apart, axis=1)
        is_of = (nearest[:, None] == xp.arange(len(centres), dtype=xp.int32)).astype(xp.float32)
        sums = sums + is_of.T @ points
        numbers = numbers + xp.sum(is_of, axis=0).astype(xp.int64)
    return np.asarray(sums), np.asarray(numbers)


def kmeans(kind: str, client: Client, o: Any) -> Measured:
    """Run rounds in which each task returns the sums of several chunks. Nothing else moves."""
    tasks = max(o.points // (o.piece * o.pieces), 1)
    total = tasks * o.pieces * o.piece
    make = dask.delayed(points_chunks, pure=False)
    points = dask.persist(
        *(make(kind, seed, o.pieces, o.piece, o.features) for seed in range(tasks))
    )
    wait(points)
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1, 3, (o.clusters, o.features)).astype(np.float32)
    partial = dask.delayed(nearest_sums, pure=False, nout=2)

    def run() -> None:
        at = centres
        for _ in range(o.rounds):
            found = dask.compute(*(partial(part, at) for part in points))
            parts = zip(*found, strict=True)
            sums, counts = (np.sum(part, axis=0, dtype=np.float64) for part in parts)
            assert counts.sum() == total
            mean = sums.sum(axis=0) / counts.sum()
            np.testing.assert_allclose(mean, 1, atol=10 / min(counts.sum(), 1e6) ** 0.5)
            moved = sums / np.maximum(counts, 1)[:, None]
            at = np.where(counts[:, None] > 0, moved, at).astype(np.float32)

    seconds = timed(o.repeats, run) / o.rounds
    sizes = {"features": o.features, "clusters": o.clusters, "points": total, "chunk": o.piece}
    sizes["chunks_a_task"] = o.pieces
    return Measured(seconds, total / seconds / 1e9, "G points/s a round", sizes)
