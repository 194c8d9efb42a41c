"""Dask arrays with browsergpu chunks, on a cluster of two processes."""

from __future__ import annotations

import math
import operator
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray
from chunk_functions import counted, doubled_by_a_survivor, gigabytes, is_on_a_gpu, opened, slices
from distributed import Client, wait

import browsergpu as bg
from browsergpu.dask import LocalCluster
from browsergpu.engine.device.device import open_devices
from browsergpu.errors import OutOfMemory

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 40)).astype(np.float32)
Y = RNG.standard_normal((40, 50)).astype(np.float32)
ROWS = RNG.standard_normal((80, 6)).astype(np.float32)

pytestmark = pytest.mark.usefixtures("client")


def on_gpus(array: np.ndarray, chunks: Any) -> da.Array:
    return da.from_array(array, chunks=chunks).to_backend("browsergpu")


@pytest.fixture
def x() -> da.Array:
    return on_gpus(X, (20, 20))


@pytest.fixture
def y() -> da.Array:
    return on_gpus(Y, (20, 25))


def check(got: da.Array, expected: Any, rtol: float = 1e-4) -> None:
    """Assert the values, and that the workers' chunks and the meta are browsergpu arrays."""
    assert isinstance(got._meta, bg.Array)
    kinds = got.map_blocks(is_on_a_gpu, dtype=bool, meta=np.empty((0,) * got.ndim, bool))
    values, kinds = dask.compute(got.to_backend("numpy"), kinds)
    assert np.all(kinds)
    expected = np.asarray(expected)
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=1e-5)
    assert not open_devices(), "the client needs no GPU"


Case = tuple[Callable[[da.Array], da.Array], Callable[[np.ndarray], Any]]
ELEMENTWISE: dict[str, Case] = {
    "numbers": (lambda x: x * 2 + 1, lambda x: x * 2 + 1),
    "functions": (lambda x: da.exp(da.sin(x)), lambda x: np.exp(np.sin(x))),
    "arrays of NumPy's": (lambda x: x + X[0], lambda x: x + X[0]),
    "where": (lambda x: da.where(x > 0, x, 0), lambda x: np.where(x > 0, x, 0)),
    "dtypes": (lambda x: (10 * x).astype("i4") % 3, lambda x: (10 * x).astype("i4") % 3),
    "clip": (lambda x: da.clip(x, -1, 1), lambda x: np.clip(x, -1, 1)),
}
REDUCTIONS: dict[str, Case] = {
    "sum": (lambda x: x.sum(), lambda x: x.sum()),
    "sums of rows": (lambda x: x.sum(axis=1), lambda x: x.sum(1)),
    "mean": (lambda x: x.mean(axis=0), lambda x: x.mean(0)),
    "std": (lambda x: x.std(axis=0), lambda x: x.std(0)),
    "max": (lambda x: x.max(axis=1, keepdims=True), lambda x: x.max(1, keepdims=True)),
    "argmax": (lambda x: x.argmax(axis=1), lambda x: x.argmax(1)),
    "cumsum": (lambda x: x.cumsum(axis=0), lambda x: x.cumsum(0)),
    "norm": (da.linalg.norm, np.linalg.norm),
    "topk": (lambda x: da.topk(x, 3, axis=1), lambda x: -np.sort(-x)[:, :3]),
    "nanmean": (lambda x: da.nanmean(x, axis=1), lambda x: np.nanmean(x, axis=1)),
    "any": (lambda x: (x > 3).any(axis=0), lambda x: (x > 3).any(0)),
}
SHAPES: dict[str, Case] = {
    "slices": (lambda x: x[5:30, ::3], lambda x: x[5:30, ::3]),
    "a row, reversed": (lambda x: x[7, ::-1], lambda x: x[7, ::-1]),
    "indices": (lambda x: x[[1, 45, 30]], lambda x: x[[1, 45, 30]]),
    "transposed": (lambda x: x.T, lambda x: x.T),
    "reshaped": (lambda x: x.reshape(6, 10, 40), lambda x: x.reshape(6, 10, 40)),
    "rechunked": (lambda x: x.rechunk((7, 40)), lambda x: x),
    "concatenated": (lambda x: da.concatenate([x, x], 1), lambda x: np.concatenate([x, x], 1)),
    "stacked": (lambda x: da.stack([x, x]), lambda x: np.stack([x, x])),
    "halos": (
        lambda x: x.map_overlap(lambda b: b * 2, depth=1, boundary="reflect"),
        lambda x: x * 2,
    ),
}


CASES = ELEMENTWISE | REDUCTIONS | SHAPES


@pytest.mark.parametrize("name", CASES)
def test_of_one_array(name: str, x: da.Array) -> None:
    ours, numpys = CASES[name]
    check(ours(x), numpys(X))


def test_products(x: da.Array, y: da.Array) -> None:
    check(x @ y, X @ Y)
    check(da.tensordot(x, y, axes=((1,), (0,))), X @ Y)
    check(da.einsum("ij,jk->ik", x, y), X @ Y)
    check(x.T @ x, X.T @ X)


def test_masks(x: da.Array) -> None:
    masked = x[x > 1].to_backend("numpy").compute()
    assert sorted(masked.tolist()) == sorted(X[X > 1].tolist())  # Dask orders by chunk
    changed, expected = x.copy(), X.copy()
    changed[changed < 0] = 0
    changed[3:5] = 7
    expected[expected < 0] = 0
    expected[3:5] = 7
    check(changed, expected)


def test_singular_values_of_a_tall_matrix() -> None:
    u, s, v = da.linalg.svd(on_gpus(ROWS, (20, 6)))
    check(s, np.linalg.svd(ROWS, compute_uv=False))
    check((u * s) @ v, ROWS)
    q, r = da.linalg.qr(on_gpus(ROWS, (20, 6)))
    check(q @ r, ROWS)


def test_k_means() -> None:
    points = np.concatenate([ROWS[:40] * 0.1, ROWS[40:] * 0.1 + 3])
    at = on_gpus(points, (20, 6)).persist()
    centres = points[[0, -1]]
    for _ in range(3):
        apart = ((at[:, None, :] - centres) ** 2).sum(axis=2)
        nearest = apart.argmin(axis=1)
        sums = [da.where((nearest == k)[:, None], at, 0).sum(axis=0) for k in range(2)]
        counts = [(nearest == k).sum() for k in range(2)]
        found = dask.compute(*(v.to_backend("numpy") for v in [*sums, *counts]))
        centres = (np.stack(found[:2]) / np.stack(found[2:])[:, None]).astype(np.float32)
    np.testing.assert_allclose(centres, [points[:40].mean(0), points[40:].mean(0)], rtol=1e-4)


def test_percentiles_and_histograms() -> None:
    flat = on_gpus(X.reshape(-1), 600)
    found = da.percentile(flat, [10, 50, 90], internal_method="dask").compute()
    numpys = da.percentile(da.from_array(X.reshape(-1), chunks=600), [10, 50, 90])
    with dask.config.set(scheduler="synchronous"):  # Dask's result is approximate
        np.testing.assert_allclose(np.asarray(found), numpys.compute(), rtol=1e-4)
    counts, _ = da.histogram(flat, bins=5, range=(-3, 3))
    assert np.asarray(counts.compute()).tolist() == np.histogram(X, 5, (-3, 3))[0].tolist()


def test_made_on_the_gpus() -> None:
    with dask.config.set({"array.backend": "browsergpu"}):
        check(da.ones((30, 8), chunks=10) + da.full((30, 8), 2, chunks=10), np.full((30, 8), 3))
        check(da.arange(30, chunks=10), np.arange(30))
        drawn = da.random.default_rng(3).standard_normal((4000, 4), chunks=(1000, 4))
        again = da.random.default_rng(3).standard_normal((4000, 4), chunks=(1000, 4))
        assert isinstance(drawn._meta, bg.Array)
        values, same = dask.compute(drawn.to_backend("numpy"), again.to_backend("numpy"))
    np.testing.assert_array_equal(values, same)
    assert abs(values.mean()) < 0.05
    assert abs(values.std() - 1) < 0.05
    assert len(np.unique(values[::1000, 0])) == 4, "chunks have streams of their own"


def test_results_are_arrays_whose_values_a_client_without_a_gpu_reads(x: da.Array) -> None:
    found = (x + 1).compute()
    assert isinstance(found, bg.Array)
    np.testing.assert_allclose(np.asarray(found), X + 1, rtol=1e-6)
    with pytest.raises(bg.errors.NoAdapter, match="to_backend"):
        np.asarray(found * 2)


def test_persisted_chunks_stay_on_their_worker(client: Client, x: da.Array) -> None:
    kept = (x * 3).persist()
    wait(kept)
    where = client.who_has(kept)
    assert len({worker for workers in where.values() for worker in workers}) == 2
    check(kept.sum(axis=0), (X * 3).sum(0))
    assert sum(client.nbytes().values()) >= X.nbytes, "Dask counts what the GPU holds"


def test_xarray(x: da.Array) -> None:
    labelled = xarray.DataArray(x, dims=("time", "place"), coords={"time": np.arange(60)})
    found = (labelled - labelled.mean("time")).sel(time=slice(10, 49)).std("place")
    expected = (X - X.mean(0))[10:50].std(1)
    assert isinstance(found.data._meta, bg.Array)
    np.testing.assert_allclose(np.asarray(found.compute().data), expected, rtol=1e-4)


def test_a_worker_that_dies(client: Client, x: da.Array, tmp_path: Path) -> None:
    died = tmp_path / "died"
    found = (x + 1).map_blocks(doubled_by_a_survivor, str(died), meta=x._meta)
    check(found.sum(axis=0), ((X + 1) * 2).sum(0))
    assert died.exists()
    client.wait_for_workers(2, timeout=300)


def test_a_chunk_that_is_too_large(client: Client, x: da.Array) -> None:
    kept = (x * 3).persist()
    wait(kept)
    with pytest.raises(OutOfMemory, match="were requested"):
        client.submit(gigabytes, 4, retries=0).result(timeout=300)
    with dask.config.set({"array.backend": "browsergpu"}):
        whole = da.ones((1 << 30,), chunks=-1)
    with pytest.raises(OutOfMemory, match="were requested"):
        whole.to_backend("numpy").compute()
    # Dask's own error for a result of no task, raised when it sends or spills the chunk.
    with pytest.raises(TypeError, match=r"OutOfMemory|Failed to pickle"):
        whole.compute()
    check(kept, X * 3)


def test_each_worker_has_its_gpu_and_its_share_of_memory(client: Client) -> None:
    found = client.run(opened).values()
    assert all("LLVM" in name and limit == 2 << 30 for name, limit in found)


def test_a_worker_by_the_command_line(
    client: Client, cluster: LocalCluster, environment: dict[str, str]
) -> None:
    command = [
        sys.executable, "-m", "dask", "worker", cluster.scheduler_address,
        "--nthreads", "1", "--name", "gpu-5", "--no-dashboard",
        "--preload", "browsergpu.dask.preload", "--adapters", "0",
    ]  # fmt: skip
    process = subprocess.Popen(command, env=os.environ | environment)
    try:
        client.wait_for_workers(3, timeout=300)
        workers = client.scheduler_info()["workers"]
        (address,) = [at for at, facts in workers.items() if facts["name"] == "gpu-5"]
        assert "LLVM" in client.submit(opened, workers=[address]).result(timeout=300)[0]
    finally:
        process.terminate()
        process.wait(60)


def test_the_scheduler_sends_tasks_ahead(client: Client, cluster: LocalCluster) -> None:
    assert math.inf == cluster.scheduler.WORKER_SATURATION
    options: dict[str, Any] = {"n_workers": 0, "adapters": [0], "dashboard_address": None}
    with LocalCluster(**options, tasks_ahead=2) as other:
        assert other.scheduler.WORKER_SATURATION == 2
    setting = {"distributed.scheduler.worker-saturation": 3}
    with dask.config.set(setting), LocalCluster(**options) as other:
        assert other.scheduler.WORKER_SATURATION == 3
    with pytest.raises(ValueError, match=r"tasks_ahead must be at least 1, got 0\.5"):
        LocalCluster(**options, tasks_ahead=0.5)


def test_views_in_a_list_count_as_their_own_elements(client: Client) -> None:
    cut = client.submit(slices, 40, 1 << 15)
    first = client.submit(operator.getitem, cut, 0)
    wait(first)
    sizes = client.run(counted, [cut.key, first.key])
    found = sorted(size for each in sizes.values() for size in each)
    one = 4 << 15
    assert one <= found[0] <= 1.2 * one
    assert 40 * one <= found[-1] <= 1.2 * 40 * one


def test_spilling(environment: dict[str, str], tmp_path: Path) -> None:
    """Chunks beyond a worker's memory limit spill to files on the host, and are read again."""
    only_the_target = {
        f"distributed.worker.memory.{name}": False for name in ("pause", "spill", "terminate")
    }
    n, chunk = 24 << 20, 1 << 20  # elements
    with (
        dask.config.set(only_the_target),
        LocalCluster(
            n_workers=1, adapters=[0], memory_limit="96MiB", dashboard_address=":0",
            local_directory=str(tmp_path), env=environment, silence_logs=50,
        ) as small,
        Client(small) as client,
        dask.config.set({"array.backend": "browsergpu"}),
    ):  # fmt: skip
        kept = (da.arange(n, chunks=chunk) % 1024).persist()
        wait(kept)
        (spilled,) = client.run(lambda dask_worker: dask_worker.data.spilled_total.memory).values()
        assert spilled > (4 * n - (96 << 20))
        assert int(np.asarray((kept == 3).sum().compute())) == n // 1024
