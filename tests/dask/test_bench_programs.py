"""The programs of bench/dask_scale.py with small sizes, with and without a worker that dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import dask_scale
import pytest
from dask_programs import PROGRAMS
from distributed import Client, Nanny, SchedulerPlugin
from distributed.core import Status

from browsergpu.dask import LocalCluster

SIZES = [
    "--repeats=1", "--size=256", "--moved-size=192", "--chunk=64", "--points=8000", "--piece=500",
    "--gigabytes=0.0004", "--reduced-chunk=10000", "--split-every=4", "--exchange-size=300",
    "--sort-chunk=5000", "--sort-chunks=12", "--tasks=100",
]  # fmt: skip
RECOVERABLE = sorted(set(PROGRAMS) - {"transfer"})  # transfer pins its tasks to two workers


class Killer(SchedulerPlugin):
    """Count finished tasks. Kill the worker that finishes the task numbered ``last``."""

    def __init__(self, processes: dict[str, int], last: int) -> None:
        self.processes = processes
        self.last = last
        self.finished = 0
        self.killed = False

    def transition(self, key: Any, start: str, finish: str, *args: Any, **facts: Any) -> None:
        if start != "processing" or finish != "memory":
            return
        self.finished += 1
        if self.finished == self.last:
            os.kill(self.processes[facts["worker"]], signal.SIGKILL)
            self.killed = True


def settle(cluster: LocalCluster) -> None:
    """Wait until all workers run. Dask does not restart a worker that dies while it starts."""
    deadline = time.monotonic() + 300
    while not all(_is_running(nanny, cluster) for nanny in cluster.workers.values()):
        assert time.monotonic() < deadline, "a worker does not start"
        time.sleep(0.02)


def _is_running(nanny: Nanny, cluster: LocalCluster) -> bool:
    process = nanny.process
    return (
        process is not None
        and nanny.status == process.status == Status.running
        and process.is_alive()
        and process.worker_address in cluster.scheduler.workers
    )


@pytest.fixture
def killer(client: Client, cluster: LocalCluster) -> Iterator[Killer]:
    settle(cluster)
    made = Killer(client.run(os.getpid), last=-1)
    cluster.scheduler.add_plugin(made, name="killer")
    yield made
    cluster.scheduler.remove_plugin("killer")


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program(client: Client, name: str) -> None:
    found = PROGRAMS[name]("browsergpu", client, dask_scale.parse(SIZES))
    assert found is not None
    assert found.seconds > 0


@pytest.mark.parametrize("name", RECOVERABLE)
def test_program_in_which_a_worker_dies(
    client: Client, cluster: LocalCluster, name: str, killer: Killer
) -> None:
    options = dask_scale.parse(SIZES)
    PROGRAMS[name]("browsergpu", client, options)
    killer.last, killer.finished = killer.finished // 2, 0
    PROGRAMS[name]("browsergpu", client, options)  # checks its result
    assert killer.killed
    settle(cluster)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program_of_numpy_chunks(client: Client, name: str) -> None:
    sizes = [*SIZES, "--numpy-size=192", "--numpy-gigabytes=0.0004"]
    assert PROGRAMS[name]("numpy", client, dask_scale.parse(sizes)) is not None
