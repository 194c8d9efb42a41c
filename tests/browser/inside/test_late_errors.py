"""What the GPU reports late, and its loss."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu, random_array


def record_an_invalid_dispatch(backend: Any, pointer: int) -> None:
    """More workgroups than WebGPU allows, past all checks of arguments."""
    device = backend.device
    pipeline = device.pipeline("unary_in_place", "neg")
    device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[pointer].id, 4)


@pytest.mark.provokes_errors
@pytest.mark.parametrize("wait", ["synchronize", "copy_dtoh"])
def test_a_validation_error_names_the_op(backend: Any, wait: str) -> None:
    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 4))
        backend.synchronize()
        backend.unary("abs", x, x, 4)
        record_an_invalid_dispatch(backend, x)
        backend.unary("relu", x, x, 4)
        with pytest.raises(ValidationError) as caught:
            backend.synchronize() if wait == "synchronize" else gpu.download(x, 4)
    assert caught.value.op == "unary_in_place.neg"
    assert "unary_in_place.neg" in str(caught.value)


@pytest.mark.provokes_errors
def test_the_device_works_on_after_a_validation_error(backend: Any) -> None:
    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        data = random_array(1, 4)
        x = gpu.upload(data)
        record_an_invalid_dispatch(backend, x)
        with pytest.raises(ValidationError):
            backend.synchronize()
        backend.synchronize()  # the error is told once
        backend.copy_htod(x, data)
        backend.unary("neg", x, x, 4)
        assert_same_bits(gpu.download(x, 4), -data, "after the error")


def lose(backend: Any) -> None:
    """Take the device away, as a crash of the GPU process would."""
    import js

    del backend
    js.gpuWatch.devices[-1].destroy()


def test_a_lost_device_raises_and_does_not_hang() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import DeviceLost

    backend = WasmBackend()
    backend.init()
    data = np.ones(8, np.float32)
    x = backend.alloc(32)
    backend.copy_htod(x, data)
    backend.synchronize()
    lose(backend)
    with pytest.raises(DeviceLost):
        backend.synchronize()
    for work in (
        lambda: backend.copy_dtoh(data, x),
        lambda: backend.synchronize(),
    ):
        with pytest.raises(DeviceLost, match="lost"):
            work()

    # Recording may not notice at once, but the next wait does.
    def record_and_wait() -> None:
        for _ in range(10_000):
            backend.unary("neg", x, x, 8)
        backend.synchronize()

    with pytest.raises(DeviceLost):
        record_and_wait()
    backend.close()
    assert not backend.is_initialized


def test_a_loss_during_a_read() -> None:
    import asyncio

    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend
    from browsergpu.errors import DeviceLost

    backend = WasmBackend()
    backend.init()
    x = backend.alloc(2**20)

    async def read_and_lose() -> None:
        reading = asyncio.ensure_future(backend.copy_dtoh_async(bytearray(2**20), x))
        await asyncio.sleep(0)
        lose(backend)
        await reading

    with pytest.raises(DeviceLost):
        run_sync(read_and_lose())
    backend.close()


def test_a_new_backend_after_a_loss() -> None:
    from browsergpu import WasmBackend

    first = WasmBackend()
    first.init()
    lose(first)
    first.close()
    first.init()
    with on_gpu(first) as gpu:
        data = random_array(1, 5)
        assert_same_bits(gpu.download(gpu.upload(data), 5), data, "array")
    first.close()


@pytest.mark.parametrize("work", ["copy_dtoh_async", "synchronize_async"])
def test_closing_ends_what_waits(work: str) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend
    from browsergpu.errors import BackendError

    backend = WasmBackend()
    backend.init()
    x = backend.alloc(2**22)

    async def wait_and_close() -> None:
        backend.unary("neg", x, x, 2**20)
        arguments = (bytearray(2**22), x) if work == "copy_dtoh_async" else ()
        waiting = asyncio.ensure_future(getattr(backend, work)(*arguments))
        await asyncio.sleep(0)
        backend.close()
        await asyncio.wait_for(waiting, 600)

    # Finishing and failing as a backend fails are both fine; hanging is not.
    with contextlib.suppress(BackendError):
        run_sync(wait_and_close())
    assert not backend.is_initialized
