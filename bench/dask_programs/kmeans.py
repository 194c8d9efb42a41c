"""Rounds of Lloyd's algorithm on points that stay on the workers."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.distributed import Client, wait

from dask_programs.chunks import library, library_of
from dask_programs.measuring import Measured, timed


def points_chunk(kind: str, seed: int, n: int, features: int) -> Any:
    """Return points around two corners of a cube."""
    xp = library(kind)
    rng = xp.random.default_rng(seed)
    noise = rng.standard_normal((n, features), dtype=np.float32)
    return noise * 0.2 + (rng.integers(0, 2, (n, 1)) * 2.0).astype(np.float32)


def nearest_sums(points: Any, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum and the number of the points nearest to each centre."""
    xp = library_of(points)
    at = xp.asarray(centres)
    apart = xp.sum(at * at, axis=1) - 2 * (points @ at.T)
    nearest = xp.argmin(apart, axis=1)
    is_of = (nearest[:, None] == xp.arange(len(centres), dtype=xp.int32)).astype(xp.float32)
    return np.asarray(is_of.T @ points), np.asarray(xp.sum(is_of, axis=0))


def kmeans(kind: str, client: Client, o: Any) -> Measured:
    """Run rounds that read the sums of each chunk. Nothing else moves."""
    pieces = max(o.points // o.piece, 1)
    make = dask.delayed(points_chunk, pure=False)
    points = dask.persist(*(make(kind, seed, o.piece, o.features) for seed in range(pieces)))
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
            assert counts.sum() == pieces * o.piece
            mean = sums.sum(axis=0) / counts.sum()
            np.testing.assert_allclose(mean, 1, atol=10 / min(counts.sum(), 1e6) ** 0.5)
            moved = sums / np.maximum(counts, 1)[:, None]
            at = np.where(counts[:, None] > 0, moved, at).astype(np.float32)

    seconds = timed(o.repeats, run) / o.rounds
    sizes = {"features": o.features, "clusters": o.clusters, "pieces": pieces, "piece": o.piece}
    return Measured(seconds, pieces * o.piece / seconds / 1e9, "G points/s a round", sizes)
