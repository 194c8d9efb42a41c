"""After close(), every call raises an error in its own name, and pending waits end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from inside.gpu import random_array
from inside.test_executor_device import calls


def wait_for(coroutine: Any) -> Any:
    """Return a coroutine's result; a timeout fails a test that hangs."""
    from pyodide.ffi import run_sync

    return run_sync(asyncio.wait_for(coroutine, 240))


@pytest.fixture
def device() -> Iterator[Any]:
    """An open device for this test."""
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        yield backend.device


def raises_closed(op: str, work: Callable[[], Any]) -> None:
    """Assert that the call reports, in the name of ``op``, that the device is closed."""
    from browsergpu.errors import NotInitialized

    with pytest.raises(NotInitialized, match="closed") as caught:
        work()
    assert caught.value.op == op, str(caught.value)


def test_every_operation_on_arrays(device: Any) -> None:
    from browsergpu import KernelExecutor

    executor = KernelExecutor(device)
    every = calls(executor)
    device.close()
    for name, call in every.items():
        # Names may have an addition after the operation's name.
        op = name.split(" ")[0]
        raises_closed(op, call)


def test_calls_that_create_arrays_and_calls_that_wait(device: Any) -> None:
    from browsergpu import KernelExecutor

    executor = KernelExecutor(device)
    x = executor.full((4,), 1.0)
    out = executor.full((4,), 1.0)
    executor.relu(x)
    device.close()
    for op, call in {
        "full": lambda: executor.full((3,), 2.0),
        "empty": lambda: executor.empty((0,)),
        "from_numpy": lambda: executor.from_numpy(np.ones(3, np.float32)),
        "fill": lambda: executor.fill(x, 2.0),
        "relu": lambda: executor.relu(x, out),
        "add": lambda: executor.add(x, x, out),
        "synchronize": executor.synchronize,
        "numpy": x.numpy,
        "write": lambda: x.write(np.ones(4, np.float32)),
        "ready": lambda: wait_for(x.ready()),
        "execute_custom_kernel": lambda: executor.execute_custom_kernel(
            "@group(0) @binding(0) var<storage, read_write> y: array<f32>;"
            "@compute @workgroup_size(1) fn main() { y[0] = 1; }",
            None,
            [x],
            1,
        ),
    }.items():
        raises_closed(op, call)
    x.free()
    x.free()
    assert x.is_freed
    assert executor.pipeline_stats.count == 2  # statistics can still be read
    assert device.memory_usage["buffers"] == 0


def test_the_device_itself(device: Any) -> None:
    from browsergpu import Buffer

    buffer = Buffer(device, 8)
    recorder, memory = device.recorder, device.memory
    pipeline = device.pipeline("fill")
    device.close()
    device.close()
    for op, call in {
        "trim": memory.trim,
        "Buffer": lambda: Buffer(device, 4),
        "warm_up": lambda: device.warm_up(["gemm"]),
        "warm_up_async": lambda: wait_for(device.warm_up_async(["gemm"])),
        "cast.f32_f16": lambda: device.pipeline("cast", "f32_f16"),
        "device": lambda: recorder.dispatch(pipeline, 1, 1, 1, 1, 1, 0),
    }.items():
        raises_closed(op, call)
    for call in (
        buffer.read_data,
        lambda: buffer.write_data(b"1234"),
        lambda: buffer.range(0, 4).read_data(),
        lambda: buffer.map("read").__enter__(),
        lambda: buffer.map("write").__enter__(),
    ):
        raises_closed("Buffer", call)
    for call in (
        lambda: recorder.copy(1, 0, 2, 0, 4),
        lambda: recorder.clear(1, 0, 4),
        recorder.submit,
        recorder.flush,
        lambda: recorder.unfinished,
        lambda: wait_for(recorder.synchronize()),
    ):
        raises_closed("device", call)
    buffer.free()
    assert recorder.counters["buffers"] == 0
    assert device.memory_usage == {
        "allocated": 0, "in_use": 0, "pooled": 0, "peak": device.memory.peak, "buffers": 0
    }  # fmt: skip


def test_tools(device: Any) -> None:
    from browsergpu import benchmark_workgroup_sizes, profile, tune

    device.close()
    raises_closed("profile", lambda: profile(device))
    raises_closed("tune", lambda: tune(device, ["gemm"]))
    raises_closed("benchmark_workgroup_sizes", lambda: benchmark_workgroup_sizes(device))


def test_closing_within_a_profile(device: Any) -> None:
    from browsergpu import KernelExecutor, profile

    executor = KernelExecutor(device)

    def close_within() -> None:
        with profile(device):
            executor.full((3,), 1.0)
            device.close()

    raises_closed("device", close_within)


def test_a_profile_begun_after_closing(device: Any) -> None:
    from browsergpu import profile

    later = profile(device)
    device.close()
    raises_closed("profile", later.__enter__)


# -- what is under way -----------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
@pytest.mark.parametrize("work", ["read", "synchronize", "ready", "profile", "compile"])
def test_pending_waits_end_with_an_error(device: Any, work: str, turns: int) -> None:
    from browsergpu import KernelExecutor, profile
    from browsergpu.errors import NotInitialized

    executor = KernelExecutor(device)
    x = executor.from_numpy(random_array(1, 2**20))
    executor.relu(x)

    async def profiled() -> None:
        async with profile(device):
            executor.relu(x)

    works: dict[str, Callable[[], Any]] = {
        "read": x.numpy_async,
        "synchronize": executor.synchronize_async,
        "ready": x.ready,
        "profile": profiled,
        "compile": lambda: device.warm_up_async(["cast.f32_f16", "fill"]),
    }

    async def wait_and_close() -> str:
        waiting = asyncio.ensure_future(works[work]())
        for _ in range(turns):
            await asyncio.sleep(0)
        device.close()
        try:
            await waiting
        except NotInitialized as error:
            return str(error)
        return ""

    told = wait_for(wait_and_close())
    # A compilation reports to nobody, and work that ended before the close succeeded.
    assert "closed" in told or work == "compile" or turns > 0


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 10, 30])
def test_closing_while_opening_ends_closed(turns: int) -> None:
    import js

    from browsergpu import WasmBackend
    from browsergpu.engine.device.device import open_devices
    from browsergpu.errors import NotInitialized

    backend = WasmBackend()
    before, alive = len(open_devices()), js.gpuWatch.buffersAlive

    async def open_and_close() -> tuple[bool, list[Any]]:
        opening = [asyncio.ensure_future(backend.init_async()) for _ in range(2)]
        await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        was_open = backend.is_initialized
        backend.close()
        return was_open, await asyncio.gather(*opening, return_exceptions=True)

    was_open, answers = wait_for(open_and_close())
    for answer in answers:
        if was_open:  # the device opened before the close
            assert answer is None
            continue
        assert isinstance(answer, NotInitialized)
        assert "init: the backend was closed while init() opened it" in str(answer)
    assert not backend.is_initialized
    assert len(open_devices()) == before
    with pytest.raises(NotInitialized, match="closed"):
        backend.alloc(4)
    backend.init()
    assert backend.is_initialized
    backend.close()
    assert js.gpuWatch.buffersAlive <= alive


def test_opening_again_while_a_closed_backend_still_opens() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import NotInitialized

    backend = WasmBackend()

    async def open_close_open() -> Any:
        first = asyncio.ensure_future(backend.init_async())
        await asyncio.sleep(0)
        backend.close()
        second = asyncio.ensure_future(backend.init_async())
        return await asyncio.gather(first, second, return_exceptions=True)

    refused, opened = wait_for(open_close_open())
    assert isinstance(refused, NotInitialized)
    assert opened is None
    assert backend.is_initialized
    backend.free(backend.alloc(4))
    backend.close()
