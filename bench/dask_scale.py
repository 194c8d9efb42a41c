"""What more GPUs of one host bring through Dask, beside NumPy's chunks on its cores.

    python3 bench/dask_scale.py --workers 1,2,4 > rows.jsonl

Needs ``pip install browsergpu[dask]`` (or PYTHONPATH=py). Prints a JSON line for each program, kind
of chunks and number of workers: the median of some repeats in seconds, the rate, and with more
workers than the first number ``speedup`` over that. The programs:

- product: C = A B of float32; each task makes one chunk of C, and the chunks of A and B for it from
  their places, so that nothing is moved. A few elements of C are checked.
- moved: the same product as ``a @ b`` of arrays that are kept on the workers: Dask moves chunks.
- kmeans: rounds of Lloyd's algorithm on points that are kept on the workers.
- reduction: mean((u - 1/2)²) of random numbers that are made on the way.
- transfer: bytes a second of a chunk from one worker's GPU to another's; wants two workers.
- tasks: empty tasks a second.

Sizes are options; the defaults are for GPUs of 80 GB and more. NumPy has sizes of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from statistics import median
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
from dask.distributed import Client, wait

from browsergpu.dask import LocalCluster, meta

KINDS = ("browsergpu", "numpy")


def library(kind: str) -> Any:
    """The module that a task computes with."""
    return __import__(kind)


def operand(kind: str, row: int, column: int, shape: tuple[int, int], swap: bool = False) -> Any:
    """A chunk of A, or B (``swap``): whole numbers of its places from -4 to 4, over 8."""
    xp = library(kind)
    rows = (xp.arange(shape[0], dtype=xp.int32) + row)[:, None]
    columns = (xp.arange(shape[1], dtype=xp.int32) + column)[None, :]
    mixed = columns * 7 + rows * 3 if swap else rows * 5 + columns * 11
    return (mixed % 9 - 4).astype(xp.float32) / 8


def element(n: int, row: int, column: int) -> float:
    """What C has at a place."""
    k = np.arange(n)
    a = (row * 5 + k * 11) % 9 - 4
    b = (column * 7 + k * 3) % 9 - 4
    return float((a * b).sum()) / 64


def product_chunk(kind: str, i: int, j: int, n: int, chunk: int) -> Any:
    """A chunk of C."""
    total: Any = None
    for k in range(0, n, chunk):
        part = operand(kind, i, k, (chunk, chunk)) @ operand(kind, k, j, (chunk, chunk), swap=True)
        total = part if total is None else total + part
    return total


def corner(chunk: Any) -> np.ndarray:
    """A chunk's first element, which waits for all of it."""
    return np.asarray(chunk[0, 0])


def points_chunk(kind: str, seed: int, n: int, features: int) -> Any:
    """Points around the corners of a cube."""
    xp = library(kind)
    rng = xp.random.default_rng(seed)
    noise = rng.standard_normal((n, features), dtype=np.float32)
    return noise * 0.2 + (rng.integers(0, 2, (n, 1)) * 2.0).astype(np.float32)


def nearest_sums(points: Any, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the points nearest to each centre the sum and the number."""
    xp = library(type(points).__module__.partition(".")[0])
    at = xp.asarray(centres)
    apart = xp.sum(at * at, axis=1) - 2 * (points @ at.T)
    nearest = xp.argmin(apart, axis=1)
    is_of = (nearest[:, None] == xp.arange(len(centres), dtype=xp.int32)).astype(xp.float32)
    return np.asarray(is_of.T @ points), np.asarray(xp.sum(is_of, axis=0))


def same(chunk: Any, _round: int) -> Any:
    """The chunk."""
    return chunk


def nothing(i: int) -> int:
    """An empty task."""
    return i


def timed(repeats: int, call: Callable[[], Any]) -> float:
    """Seconds of a call: the median, after one that warms up."""
    call()
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return median(found)


Found = tuple[float, float, str, dict[str, Any]]


def product(kind: str, client: Client, o: argparse.Namespace) -> Found:
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
    return seconds, 2 * n**3 / seconds / 1e12, "TFLOP/s", {"size": n, "chunk": chunk}


def moved(kind: str, client: Client, o: argparse.Namespace) -> Found:
    n = o.moved_size if kind == "browsergpu" else o.numpy_size
    chunk = min(o.chunk, n)
    make = dask.delayed(operand, pure=False)
    described = meta(2) if kind == "browsergpu" else np.empty((0, 0), np.float32)

    def whole(swap: bool) -> da.Array:
        rows = [
            [
                da.from_delayed(
                    make(kind, i, j, (chunk, chunk), swap), shape=(chunk, chunk), meta=described
                )
                for j in range(0, n, chunk)
            ]
            for i in range(0, n, chunk)
        ]
        return da.block(rows).persist()

    a, b = whole(False), whole(True)
    wait([a, b])

    rounds = count()

    def run() -> None:
        # By another name each time: Dask computes nothing whose name it still knows.
        again = a.map_blocks(same, next(rounds), dtype=a.dtype, meta=described)
        c = (again @ b).persist()
        wait(c)
        found = dask.compute(*(dask.delayed(corner)(part) for part in c.to_delayed().ravel()))
        np.testing.assert_allclose(found[0], element(n, 0, 0), rtol=1e-3, atol=1e-3 * n**0.5)

    seconds = timed(o.repeats, run)
    return seconds, 2 * n**3 / seconds / 1e12, "TFLOP/s", {"size": n, "chunk": chunk}


def kmeans(kind: str, client: Client, o: argparse.Namespace) -> Found:
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
            moved = sums / np.maximum(counts, 1)[:, None]
            at = np.where(counts[:, None] > 0, moved, at).astype(np.float32)

    seconds = timed(o.repeats, run) / o.rounds
    facts = {"features": o.features, "clusters": o.clusters, "pieces": pieces, "piece": o.piece}
    return seconds, pieces * o.piece / seconds / 1e9, "G points/s a round", facts


def reduction(kind: str, client: Client, o: argparse.Namespace) -> Found:
    bytes_wanted = o.gigabytes if kind == "browsergpu" else o.numpy_gigabytes
    n = int(bytes_wanted * 1e9 / 4)
    chunk = min(o.reduced_chunk, n)

    def run() -> None:
        with dask.config.set({"array.backend": kind}):
            u = da.random.default_rng(1).random((n,), chunks=chunk, dtype=np.float32)
            mean = float(np.asarray(((u - 0.5) ** 2).mean().compute()))
        assert abs(mean - 1 / 12) < 1e-3, mean

    seconds = timed(o.repeats, run)
    return seconds, 4 * n / seconds / 1e12, "TB/s", {"bytes": 4 * n, "chunk": chunk}


def transfer(kind: str, client: Client, o: argparse.Namespace) -> Found | None:
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    if len(workers) < 2:
        return None
    side = min(o.chunk, 8192)
    found = []
    for _ in range(o.repeats + 1):
        held = client.submit(operand, kind, 0, 0, (side, side), workers=workers[:1], pure=False)
        wait(held)
        begin = time.perf_counter()
        client.submit(corner_of_twice, held, workers=workers[1:2], pure=False).result()
        found.append(time.perf_counter() - begin)
    seconds, nbytes = median(found[1:]), 4 * side * side
    return seconds, nbytes / seconds / 1e9, "GB/s", {"bytes": nbytes}


def corner_of_twice(chunk: Any) -> np.ndarray:
    """Computes with all of a chunk, which is fetched and uploaded for it, and reads little."""
    return corner(chunk * 2)


def tasks(kind: str, client: Client, o: argparse.Namespace) -> Found:
    def run() -> None:
        client.gather(client.map(nothing, range(o.tasks), pure=False))

    seconds = timed(o.repeats, run)
    return seconds, o.tasks / seconds, "tasks/s", {"tasks": o.tasks}


PROGRAMS: dict[str, Callable[[str, Client, argparse.Namespace], Found | None]] = {
    "product": product,
    "moved": moved,
    "kmeans": kmeans,
    "reduction": reduction,
    "transfer": transfer,
    "tasks": tasks,
}


@contextmanager
def cluster(kind: str, workers: int, o: argparse.Namespace) -> Iterator[Client]:
    """A client of so many GPUs, or of all cores."""
    options: dict[str, Any] = {"dashboard_address": None, "local_directory": o.directory}
    if o.memory_limit:
        options["memory_limit"] = o.memory_limit
    made: Any
    if kind == "browsergpu":
        adapters = [int(index) for index in o.adapters.split(",")] if o.adapters else None
        made = LocalCluster(n_workers=workers, adapters=adapters, **options)
    else:
        made = distributed.LocalCluster(**options)
    with made, Client(made) as client:
        yield client


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--workers", type=numbers, default=[1, 2, 4], help="numbers of GPUs: 1,2,4")
    add("--adapters", default="", help="indices of the GPUs, all by default")
    add("--only", default=",".join(PROGRAMS), help="programs, of those above")
    add("--kinds", default=",".join(KINDS), help="kinds of chunks: browsergpu,numpy")
    add("--repeats", type=int, default=3)
    add("--size", type=int, default=65536, help="rows of the product's matrices")
    add("--moved-size", type=int, default=32768)
    add("--numpy-size", type=int, default=16384)
    add("--chunk", type=int, default=8192, help="rows of their chunks, a divisor of the sizes")
    add("--points", type=int, default=400_000_000)
    add("--piece", type=int, default=1_562_500, help="points of a chunk")
    add("--features", type=int, default=16)
    add("--clusters", type=int, default=64)
    add("--rounds", type=int, default=5)
    add("--gigabytes", type=float, default=200.0)
    add("--numpy-gigabytes", type=float, default=20.0)
    add("--reduced-chunk", type=int, default=1 << 28, help="elements of its chunks")
    add("--tasks", type=int, default=2000)
    add("--memory-limit", default="", help="of a worker; by default its share of the host's")
    add("--directory", default=None, help="where Dask spills to")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    o = parse(arguments)
    for kind in o.kinds.split(","):
        first: dict[str, float] = {}
        for workers in o.workers if kind == "browsergpu" else [0]:
            for name in o.only.split(","):
                with cluster(kind, workers, o) as client:  # a fresh one: nothing is held
                    found = PROGRAMS[name](kind, client, o)
                if found is None:
                    continue
                seconds, rate, unit, facts = found
                row = {
                    "program": name, "chunks": kind, "workers": workers or "all cores",
                    "seconds": round(seconds, 4), "rate": round(rate, 4), "unit": unit, **facts,
                }  # fmt: skip
                if name in first:
                    row["speedup"] = round(rate / first[name], 3)
                first.setdefault(name, rate)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
