"""Throttling: Python records only a limited amount of work ahead of the GPU."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import Scratch, on_gpu
from inside.losing import destroy

N = 16
FEW = 3  # dispatches of a kernel without measured times


@pytest.fixture
def fresh() -> Iterator[Any]:
    """A new backend."""
    pytest.importorskip("js", reason="outside a page nothing is held up")
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        yield backend


class Products:
    """Products of ones, on a new backend."""

    def __init__(self, backend: Any, gpu: Any) -> None:
        self.backend = backend
        self.gpu = gpu
        self.ones = gpu.upload(np.ones((N, N), np.float32))
        self.product = gpu.filled(N * N)
        backend.synchronize()

    def record(self, count: int) -> None:
        for _ in range(count):
            self.backend.gemm(
                "no_trans", "no_trans", N, N, N, 1.0, self.ones, N, self.ones, N, 1.0,
                self.product, N,
            )  # fmt: skip

    def check(self, count: int) -> None:
        got = self.gpu.download(self.product, (N, N))
        assert_same_bits(got, np.full((N, N), np.float32(count * N)), f"{count} products")

    def begin(self) -> None:
        """Set the sum to zero."""
        self.backend.copy_htod(self.product, np.zeros((N, N), np.float32))


def test_work_of_unknown_duration_is_waited_for(fresh: Any) -> None:
    recorder = fresh.device.recorder
    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        products.begin()
        products.record(FEW)
        recorder.flush()
        assert not recorder.is_ahead
        products.record(1)
        recorder.flush()
        assert recorder.is_ahead
        products.record(1)
        assert recorder.unfinished == 1, "those before are done"
        assert not recorder.is_ahead
        products.record(FEW)
        products.check(2 * FEW + 2)


def test_reading_is_waiting(fresh: Any) -> None:
    recorder = fresh.device.recorder
    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        products.begin()
        products.record(FEW + 1)
        recorder.flush()
        assert recorder.is_ahead
        products.check(FEW + 1)
        assert not recorder.is_ahead


def test_an_interrupted_wait_leaves_the_operation_out(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from browsergpu.engine.gpu import platform

    def interrupted(waiting: Any, _op: str) -> None:
        waiting.close()
        raise KeyboardInterrupt

    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        products.begin()
        products.record(FEW + 1)
        fresh.device.recorder.flush()
        with monkeypatch.context() as patch:
            patch.setattr(platform, "block_on", interrupted)
            with pytest.raises(KeyboardInterrupt):
                products.record(1)
        products.record(1)
        products.check(FEW + 2)


def test_recording_continues_where_python_cannot_block(fresh: Any) -> None:
    from pyodide.code import run_js

    from browsergpu.engine.gpu import platform

    def record() -> None:
        assert not platform.can_block()
        products.record(500)

    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        products.begin()
        run_js("(call) => call()")(record)
        products.check(500)


def test_timed_work_is_not_throttled(fresh: Any) -> None:
    from pyodide.ffi import run_sync

    recorder = fresh.device.recorder
    with on_gpu(fresh) as gpu:
        products = Products(fresh, gpu)
        if not recorder.start_timing():
            pytest.skip("this device does not have timestamps")
        products.record(FEW + 1)
        recorder.flush()
        assert not recorder.is_ahead
        run_sync(recorder.stop_timing())


def test_a_device_that_is_lost_or_closed_is_not_waited_for(fresh: Any) -> None:
    from browsergpu.errors import DeviceLost, NotInitialized

    recorder = fresh.device.recorder
    products = Products(fresh, Scratch(fresh))
    products.record(FEW + 1)
    recorder.flush()
    assert recorder.is_ahead
    destroy(fresh.device)
    with pytest.raises(DeviceLost):
        products.record(500)
    device = fresh.device
    fresh.close()
    with pytest.raises(NotInitialized):
        device.recorder.flush()


def test_tasks_that_compute_the_same_while_one_waits(backend: Any) -> None:
    import browsergpu as bg

    bg.use(backend)
    x = bg.asarray(np.arange(6, dtype=np.float32))
    y = x * 2 + 1

    async def total(wait: bool) -> float:
        backend.device.recorder.is_ahead = wait
        z = y + y  # both tasks need y
        found = bg.sum(z[1:]) + bg.max(y)
        return float(await found.numpy_async())

    async def together() -> list[float]:
        return list(await asyncio.gather(*(total(wait) for wait in (True, True, False))))

    from pyodide.ffi import run_sync

    expected = 2 * (2 * np.arange(1, 6) + 1).sum() + 11
    assert run_sync(together()) == [expected] * 3
