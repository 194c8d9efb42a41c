"""Measures how Dask programs scale over the GPUs of one host, compared with NumPy on its cores.

    python3 bench/dask_scale.py --workers 1,2,4 > rows.jsonl

Needs ``pip install browsergpu[dask]`` (or PYTHONPATH=py). Prints a JSON line for each program, kind
of chunks and number of workers: the median seconds, the rate, and for more workers than the first
number ``speedup`` over that. The programs are in ``bench/dask_programs``:

- product: C = A B of float32. Each task computes one chunk of C and creates the chunks of A and B
  that it needs, so nothing moves.
- moved: the same product as ``a @ b`` of arrays on the workers. Dask moves chunks.
- kmeans: rounds of Lloyd's algorithm on points that stay on the workers.
- reduction: mean((u - 1/2)²) of random numbers that are drawn on demand.
- several: the same mean, with several chunks per task.
- transpose: mean((A - Aᵀ)²). Most chunks move.
- sort: random keys, sorted by sampling. Most keys move.
- transfer: bytes per second of a chunk from one worker's GPU to another's. Needs two workers.
- tasks: empty tasks per second.

The default sizes are for GPUs with at least 80 GB. NumPy chunks have smaller sizes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import distributed
from dask.distributed import Client
from dask_programs import PROGRAMS

from browsergpu.dask import LocalCluster

KINDS = ("browsergpu", "numpy")


@contextmanager
def cluster(kind: str, workers: int, o: argparse.Namespace) -> Iterator[Client]:
    """Yield a client of a cluster with this number of GPUs, or with all cores."""
    options: dict[str, Any] = {"dashboard_address": None, "local_directory": o.directory}
    memory = {"target": o.spill_at, "spill": max(o.spill_at, 0.7), "pause": max(o.spill_at, 0.8)}
    if o.memory_limit:
        options["memory_limit"] = o.memory_limit
    if kind == "browsergpu":
        options["n_workers"] = workers
        options["adapters"] = numbers(o.adapters) if o.adapters else None
        options["tasks_ahead"] = o.tasks_ahead
    made = LocalCluster if kind == "browsergpu" else distributed.LocalCluster
    with (
        dask.config.set({f"distributed.worker.memory.{name}": at for name, at in memory.items()}),
        made(**options) as started,
        Client(started) as client,
    ):
        yield client


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--workers", type=numbers, default=[1, 2, 4], help="numbers of GPUs: 1,2,4")
    add("--adapters", default="", help="indices of the GPUs (all)")
    add("--only", default=",".join(PROGRAMS), help="programs to run")
    add("--kinds", default=",".join(KINDS), help="kinds of chunks: browsergpu,numpy")
    add("--tasks-ahead", type=float, default=None, help="of a LocalCluster of GPUs")
    add("--repeats", type=int, default=3)
    add("--size", type=int, default=65536, help="rows of the product's matrices")
    add("--moved-size", type=int, default=32768)
    add("--numpy-size", type=int, default=16384)
    add("--chunk", type=int, default=8192, help="rows of their chunks, a divisor of the sizes")
    add("--points", type=int, default=800_000_000)
    add("--piece", type=int, default=6_250_000, help="points of a chunk")
    add("--pieces", type=int, default=4, help="chunks of a task")
    add("--features", type=int, default=16)
    add("--clusters", type=int, default=64)
    add("--rounds", type=int, default=5)
    add("--gigabytes", type=float, default=200.0)
    add("--numpy-gigabytes", type=float, default=20.0)
    add("--reduced-chunk", type=int, default=500_000_000, help="elements of its chunks")
    add("--split-every", type=int, default=16, help="means that are joined in a task")
    add("--exchange-size", type=int, default=126_976, help="rows of the transposed matrix")
    add("--sort-chunk", type=int, default=400_000_000, help="keys of a chunk")
    add("--sort-chunks", type=int, default=40)
    add("--tasks", type=int, default=2000)
    add("--memory-limit", default="", help="of a worker; by default its share of the host's")
    add("--directory", default=None, help="where Dask spills to")
    add("--spill-at", type=float, default=0.6, help="the share of the limit at which it does")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    o = parse(arguments)
    for kind in o.kinds.split(","):
        first: dict[str, float] = {}
        for workers in o.workers if kind == "browsergpu" else [0]:
            for name in o.only.split(","):
                with cluster(kind, workers, o) as client:  # frees all memory
                    found = PROGRAMS[name](kind, client, o)
                if found is None:
                    continue
                row = {
                    "program": name, "chunks": kind, "workers": workers or "all cores",
                    "seconds": round(found.seconds, 4), "rate": round(found.rate, 4),
                    "unit": found.unit, **found.sizes,
                }  # fmt: skip
                if name in first:
                    row["speedup"] = round(found.rate / first[name], 3)
                first.setdefault(name, found.rate)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
