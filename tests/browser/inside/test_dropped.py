"""Unreferenced devices, buffers, tensors and profiles are freed immediately, also after interrupts.

No test waits for a garbage collector, neither Python's nor JavaScript's.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from inside.gpu import random_array
from inside.losing import destroy

MIB = 2**20


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Disable garbage collection: in these tests, only reference counts free objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def opened(**options: Any) -> Any:
    """Open an initialised backend with the given options."""
    from browsergpu import WasmBackend

    backend = WasmBackend(**options)
    backend.init()
    return backend


def wait_for(coroutine: Any) -> Any:
    """Return a coroutine's result; a timeout fails a test that hangs."""
    from pyodide.ffi import run_sync

    return run_sync(asyncio.wait_for(coroutine, 240))


def why_lost(device: Any) -> str:
    """Wait until JavaScript's GPUDevice is lost, and return the reason."""

    async def reason() -> str:
        return str((await device.lost).reason)

    reason_: str = wait_for(reason())
    return reason_


def use(backend: Any) -> None:
    """Use buffers, kernels, uploads and reads."""
    x = backend.alloc(64, keep=True)
    backend.copy_htod(x, np.ones(16, np.float32))
    backend.unary("neg", x, x, 16)
    backend.copy_dtoh(np.zeros(16, np.float32), x)
    backend.unary("abs", x, x, 16)  # stays unsubmitted


def use_tensors(backend: Any) -> None:
    from browsergpu import TensorBackend

    tensors = TensorBackend(backend)
    x = tensors.alloc_tensor((3,), "f32")
    tensors.write_tensor(x, np.ones(3, np.float32))
    tensors.relu(x, x)
    tensors.read_numpy(x)


def use_arrays(backend: Any) -> None:
    from browsergpu import Buffer, KernelExecutor

    executor = KernelExecutor(backend.device)
    executor.add(executor.full((5, 5), 1.0), 2.0).numpy()
    Buffer(backend.device, 12).write_data(bytes(12))


KERNEL = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1) fn main() { y[0] = 1; }
"""


def use_own_kernels(backend: Any) -> None:
    from browsergpu import KernelExecutor, TensorBackend

    executor, tensors = KernelExecutor(backend.device), TensorBackend(backend)
    handle = tensors.alloc_tensor((3,), "f32")
    for _ in range(2):
        executor.execute_custom_kernel(KERNEL, None, [executor.full((4,), 0.0)], 1)
        tensors.dispatch_compute(KERNEL, [handle], None, 1)


def draw(backend: Any) -> None:
    x = backend.alloc(48)
    backend.copy_htod(x, np.ones(12, np.float32))
    backend.draw(x, 2, 2, 3, "gpu-canvas")


def fail(backend: Any) -> None:
    from browsergpu.errors import InvalidArgument, OutOfMemory

    with pytest.raises(OutOfMemory):
        backend.alloc(2**50)
    with pytest.raises(InvalidArgument):
        backend.copy_dtoh(bytearray(4), 0)


def lose_and_recover(backend: Any) -> None:
    from browsergpu.errors import DeviceLost

    use(backend)
    destroy(backend.device)
    with pytest.raises(DeviceLost):
        backend.synchronize()
    wait_for(recovered(backend))
    use(backend)


async def recovered(backend: Any) -> None:
    await backend.recover()


def warm_up(backend: Any) -> None:
    backend.device.warm_up(["cast.f32_f16", "fill"])


USES: dict[str, Callable[[Any], Any]] = {
    "opened": lambda backend: None,
    "used": use,
    "tensors": use_tensors,
    "arrays": use_arrays,
    "own kernels": use_own_kernels,
    "drawn": draw,
    "errors": fail,
    "recovered": lose_and_recover,
    "warm-up": warm_up,
}


@pytest.mark.parametrize("options", [{}, {"debug_mode": True, "check_nan": True}], ids=str)
@pytest.mark.parametrize("name", USES)
def test_a_dropped_backend_closes_its_device(name: str, options: dict[str, Any]) -> None:
    import js

    alive = js.gpuWatch.buffersAlive
    backend = opened(**options)
    USES[name](backend)
    device = js.gpuWatch.devices[-1]
    del backend
    assert why_lost(device) == "destroyed"
    assert js.gpuWatch.buffersAlive <= alive


def test_backends_opened_again_and_again_leave_no_device_open() -> None:
    import js

    from browsergpu.engine.device.device import open_devices

    before = len(open_devices())
    first = js.gpuWatch.devices.length
    backend = None
    for _ in range(4):
        backend = opened()
        use(backend)
        assert len(open_devices()) == before + 1
    for i in range(first, first + 3):
        assert why_lost(js.gpuWatch.devices[i]) == "destroyed"
    assert backend is not None
    use(backend)
    del backend
    assert len(open_devices()) == before


def test_a_device_that_warms_up_is_not_kept_open_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    import js

    from browsergpu.engine.device import warm_up
    from browsergpu.engine.device.device import Device

    monkeypatch.setattr(Device, "device_type", "gpu")
    monkeypatch.setattr(warm_up, "MOST_USED", ("cast.f32_f16", "cast.f16_f32", "fill"))
    backend = opened()
    warming = backend.device._warming
    del backend
    assert why_lost(js.gpuWatch.devices[-1]) == "destroyed"
    wait_for(warming)


def test_a_profile_that_is_looked_at_later_keeps_no_device_open() -> None:
    import js

    from browsergpu import profile
    from browsergpu.errors import Unsupported

    backend = opened()
    with profile(backend) as seen:
        use(backend)
    del backend
    assert why_lost(js.gpuWatch.devices[-1]) == "destroyed"
    assert "fused" in seen.table()
    with pytest.raises(Unsupported, match="has ended"):
        seen.__enter__()


def test_objects_on_a_device_keep_it_open() -> None:
    import js

    from browsergpu import Buffer, KernelExecutor, TensorBackend

    backend = opened()
    kept: dict[str, Any] = {
        "executor": KernelExecutor(backend.device),
        "tensors": TensorBackend(backend),
        "buffer": Buffer(backend.device, 4),
    }
    kept["array"] = kept["executor"].full((3,), 2.0)
    handle = kept["tensors"].alloc_tensor((2,), "f32")
    del backend
    kept["tensors"].write_tensor(handle, np.ones(2, np.float32))
    assert kept["tensors"].read_numpy(handle).tolist() == [1, 1]
    del kept["tensors"]
    kept["buffer"].write_data(b"1234")
    assert kept.pop("buffer").read_data() == b"1234"
    assert kept["executor"].add(kept["array"], 1.0).numpy().tolist() == [3, 3, 3]
    del kept["executor"]
    assert kept["array"].numpy().tolist() == [2, 2, 2]
    device = js.gpuWatch.devices[-1]
    del kept["array"]
    assert why_lost(device) == "destroyed"


def test_a_task_that_waits_keeps_its_backend_open() -> None:
    from pyodide.ffi import run_sync

    data = random_array(1, MIB)
    result = np.zeros_like(data)

    async def read_and_forget() -> Any:
        backend = opened()
        x = backend.alloc(data.nbytes)
        backend.copy_htod(x, data)
        return asyncio.ensure_future(backend.copy_dtoh_async(result, x))

    async def wait() -> None:
        await (await read_and_forget())

    run_sync(wait())
    np.testing.assert_array_equal(result, data)


def test_buffers_of_a_dropped_backend_go_back_to_a_device_that_is_still_held() -> None:
    backend = opened()
    device = backend.device
    for _ in range(3):
        backend.alloc(10_000)
    assert device.memory.buffers == 3
    del backend
    assert (device.memory.buffers, device.memory.in_use) == (0, 0)
    assert not device.is_closed
    device.close()


# -- tensors ---------------------------------------------------------------------------------------


def test_tensors_of_a_dropped_tensor_backend_are_freed(backend: Any) -> None:
    from browsergpu import TensorBackend

    memory = backend.device.memory
    before = (memory.buffers, memory.in_use)
    for _ in range(3):
        tensors = TensorBackend(backend)
        for dtype in ("f32", "f16", "bool"):
            x = tensors.alloc_tensor((100,), dtype)
        tensors.free_tensor(x)
        assert memory.buffers == before[0] + 2
        del tensors
        assert (memory.buffers, memory.in_use) == before


def test_a_handle_is_a_number_that_may_be_kept_anywhere(backend: Any) -> None:
    # Therefore a tensor lives as long as its TensorBackend, and not as long as an int.
    from browsergpu import TensorBackend

    tensors = TensorBackend(backend)
    handles = np.array([tensors.alloc_tensor((2,), "f32") for _ in range(2)])
    tensors.write_tensor(handles[0], np.array([-1, 2], np.float32))
    tensors.relu(handles[0], handles[1])
    assert tensors.read_numpy(handles[1]).tolist() == [0, 2]


def test_dropped_tensors_of_closed_or_reopened_backends() -> None:
    from browsergpu import TensorBackend

    backend = opened()
    tensors = TensorBackend(backend)
    tensors.alloc_tensor((3,), "f32")
    backend.close()
    backend.init()
    other = TensorBackend(backend)
    other.alloc_tensor((3,), "f32")
    tensors.alloc_tensor((5,), "f32")
    memory = backend.device.memory
    assert memory.buffers == 2
    del tensors
    assert memory.buffers == 1
    backend.close()
    del other
    assert memory.buffers == 0


# -- interrupts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", ["nothing", "asking", "the answer"])
def test_an_interrupted_alloc_leaves_no_buffer(
    backend: Any, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    # The notebook's run_sync does this when Interrupt is pressed (see waiting.py there).
    import js
    from pyodide.ffi import run_sync

    from browsergpu.engine.gpu.browser import interop as _js

    def interrupted(awaitable: Any) -> Any:
        task = asyncio.ensure_future(awaitable)
        if after == "asking":
            run_sync(asyncio.sleep(0))
        elif after == "the answer":
            run_sync(asyncio.wait([task]))
        task.cancel()
        raise KeyboardInterrupt

    memory = backend.device.memory
    memory.trim()
    backend.synchronize()
    alive, told = js.gpuWatch.buffersAlive, backend.device.recorder.counters["buffers"]
    before = memory.statistics()
    with monkeypatch.context() as patch:
        patch.setattr(_js, "run_sync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            backend.alloc(3 * MIB)
    backend.synchronize()  # wait for the results of earlier requests
    assert js.gpuWatch.buffersAlive == alive
    assert backend.device.recorder.counters["buffers"] == told
    after_ = memory.statistics()
    assert {**after_, "peak": 0} == {**before, "peak": 0}
    backend.free(backend.alloc(3 * MIB))
    memory.trim()
    assert js.gpuWatch.buffersAlive == alive


def test_an_interrupted_init_leaves_no_device() -> None:
    import js
    from pyodide.code import run_js

    from browsergpu import WasmBackend
    from browsergpu.engine.device.device import open_devices

    async def cancel_when_a_device_is_asked_for() -> None:
        backend = WasmBackend()
        opening = asyncio.ensure_future(backend.init_async())
        while not asked.length:
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert not backend.is_initialized
        while js.gpuWatch.devices.length == known:  # the device still arrives later
            await asyncio.sleep(0)

    spy = run_js("""(() => {
      const { requestDevice } = GPUAdapter.prototype;
      const asked = [];
      GPUAdapter.prototype.requestDevice = function (...args) {
        asked.push(1);
        return requestDevice.apply(this, args);
      };
      return { asked, stop: () => { GPUAdapter.prototype.requestDevice = requestDevice; } };
    })()""")
    asked = spy.asked
    before, known = len(open_devices()), js.gpuWatch.devices.length
    try:
        wait_for(cancel_when_a_device_is_asked_for())
    finally:
        spy.stop()
    assert len(open_devices()) == before
    assert why_lost(js.gpuWatch.devices[known]) == "destroyed"
