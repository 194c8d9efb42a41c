"""A cluster of two processes on a software GPU. The tests' process, the client, has no GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask import config
from distributed import Client

from browsergpu.dask import LocalCluster
from runner.vulkan import software_gpu

TREE = Path(__file__).resolve().parents[2]
sys.path.append(str(TREE / "bench"))


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment variables of a worker process: they select a software GPU."""
    path = os.pathsep.join(map(str, (TREE / "py", TREE / "bench", Path(__file__).parent)))
    return software_gpu("wgpu") | {"PYTHONPATH": path}


@pytest.fixture(scope="session")
def cluster(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalCluster]:
    """Two workers that share the GPU."""
    patient = {
        "distributed.comm.timeouts.connect": "120s",
        # Dask forgets a worker after this time, although the worker may still be restarting.
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with (
        config.set(patient),
        LocalCluster(
            n_workers=2,
            adapters=[0],
            memory_limit="2GiB",
            dashboard_address=":0",
            local_directory=str(tmp_path_factory.mktemp("workers")),
            env=environment,
        ) as made,
    ):
        yield made


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """A client of the cluster."""
    with Client(cluster) as made:
        made.wait_for_workers(2, timeout=300)
        yield made
