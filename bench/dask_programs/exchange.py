"""Programs that move most of their data: a transpose and a sort."""

from __future__ import annotations

from itertools import count, pairwise
from typing import Any

import dask
import numpy as np
from dask.distributed import Client, wait

from dask_programs.chunks import library, library_of, matrix, meta_of, same
from dask_programs.measuring import Measured, timed


def difference(n: int) -> float:
    """Return the mean of (A - Aᵀ)² of n² elements."""
    numbers = np.bincount(np.arange(n) % 9, minlength=9)  # number of indices with each remainder
    i, j = np.meshgrid(np.arange(9), np.arange(9), indexing="ij")
    apart = ((i * 5 + j * 11) % 9 - (j * 5 + i * 11) % 9) / 8
    return float((apart**2 * numbers[i] * numbers[j]).sum()) / n**2


def transpose(kind: str, client: Client, o: Any) -> Measured:
    """Compute mean((A - Aᵀ)²). Each chunk moves to the worker of its mirror image."""
    n = o.exchange_size if kind == "browsergpu" else o.numpy_size
    chunk = n // -(-n // o.chunk)
    a = matrix(kind, n, chunk)
    wait(a)
    rounds = count()

    def run() -> None:
        again = a.map_blocks(same, next(rounds), dtype=a.dtype, meta=meta_of(kind, 2))
        found = float(np.asarray(((again - again.T) ** 2).mean().compute()))
        np.testing.assert_allclose(found, difference(n), rtol=1e-4)

    seconds = timed(o.repeats, run)
    return Measured(seconds, 4 * n * n / seconds / 1e9, "GB/s", {"size": n, "chunk": chunk})


def keys(kind: str, seed: int, n: int) -> Any:
    """Return random keys from 0 to 1, more of them near 0."""
    return library(kind).random.default_rng(seed).random(n, dtype=np.float32) ** 2


def checksum(chunk: Any) -> int:
    """Return the sum of the keys' bits, which does not depend on their order."""
    xp = library_of(chunk)
    return int(xp.sum(chunk.view(xp.uint32), dtype=xp.uint64)) % 2**64


def sample(kind: str, seed: int, n: int, share: int) -> tuple[np.ndarray, int]:
    """Return every ``share``-th key of a chunk, and its checksum."""
    chunk = keys(kind, seed, n)
    return np.asarray(chunk[::share]), checksum(chunk)


def parts(kind: str, seed: int, n: int, splitters: np.ndarray) -> list[Any]:
    """Return a chunk's sorted keys, cut at the splitters."""
    xp = library(kind)
    ordered = xp.sort(keys(kind, seed, n))
    places = np.asarray(xp.searchsorted(ordered, xp.asarray(splitters)))
    bounds = [0, *(int(place) for place in places), n]
    return [ordered[begin:end] for begin, end in pairwise(bounds)]


def merged(*pieces: Any) -> Any:
    """Return a bucket: the sorted keys of all chunks between two splitters."""
    xp = library_of(pieces[0])
    return xp.sort(xp.concat(pieces) if len(pieces) > 1 else pieces[0])


def bucket_facts(bucket: Any) -> tuple[float, float, int, int, bool]:
    """Return a bucket's smallest and largest key, size, checksum, and whether it is sorted."""
    xp = library_of(bucket)
    in_order = bool(xp.all(bucket[1:] >= bucket[:-1]))
    return float(bucket[0]), float(bucket[-1]), bucket.size, checksum(bucket), in_order


def sort(kind: str, client: Client, o: Any) -> Measured:
    """Sort random keys by sampling. Each chunk sends a part of its keys to every bucket.

    The buckets stay on the workers. The program checks the order within and between buckets, the
    number of keys, and the sum of the keys' bits.
    """
    n, chunks = o.sort_chunk, o.sort_chunks
    if kind == "numpy":
        n = max(n // 16, 1)
    part = dask.delayed(parts, pure=False, nout=chunks)
    merge = dask.delayed(merged, pure=False)
    facts = dask.delayed(bucket_facts, pure=False)
    draw = dask.delayed(sample, pure=False)
    drawn = dask.compute(*(draw(kind, seed, n, max(n // 4096, 1)) for seed in range(chunks)))
    samples = np.sort(np.concatenate([found for found, _ in drawn]))
    total = sum(bits for _, bits in drawn) % 2**64
    splitters = samples[[len(samples) * k // chunks for k in range(1, chunks)]]

    def check(buckets: list[Any]) -> None:
        found = dask.compute(*(facts(bucket) for bucket in buckets))
        least, greatest, numbers, sums, in_order = zip(*found, strict=True)
        assert all(in_order)
        assert all(np.asarray(greatest[:-1]) <= np.asarray(least[1:]))
        assert sum(numbers) == n * chunks
        assert sum(sums) % 2**64 == total

    kept: list[Any] = []

    def run() -> None:
        kept.clear()
        cut = [part(kind, seed, n, splitters) for seed in range(chunks)]
        kept[:] = dask.persist(*(merge(*(pieces[k] for pieces in cut)) for k in range(chunks)))
        wait(kept)

    seconds = timed(o.repeats, run)
    check(kept)
    sizes = {"keys": n * chunks, "chunk": n}
    return Measured(seconds, 4 * n * chunks / seconds / 1e9, "GB/s", sizes)
