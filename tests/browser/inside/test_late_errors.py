"""Errors that the GPU reports late, and the loss of the GPU."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import SENTINEL, on_gpu, random_array
from inside.losing import destroy


def record_an_invalid_dispatch(backend: Any, pointer: int) -> None:
    """Dispatch more workgroups than WebGPU allows, past all argument checks."""
    device = backend.device
    pipeline = device.pipeline("fill")
    device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[pointer].id, 4, 0)


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
    assert caught.value.op == "fill"
    assert "fill" in str(caught.value)


@pytest.mark.provokes_errors
def test_the_device_works_on_after_a_validation_error(backend: Any) -> None:
    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        data = random_array(1, 4)
        x = gpu.upload(data)
        record_an_invalid_dispatch(backend, x)
        with pytest.raises(ValidationError):
            backend.synchronize()
        backend.synchronize()  # the error is raised once
        backend.copy_htod(x, data)
        backend.unary("neg", x, x, 4)
        assert_same_bits(gpu.download(x, 4), -data, "after the error")


def lose(backend: Any) -> None:
    """Take the device away, as a crash of the GPU process would."""
    destroy(backend.device)


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

    # Recording may not notice immediately, but the next wait does.
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
def test_closing_ends_pending_waits(work: str) -> None:
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
        await asyncio.wait_for(waiting, 240)

    # The wait may finish or raise a BackendError, but must not hang.
    with contextlib.suppress(BackendError):
        run_sync(wait_and_close())
    assert not backend.is_initialized


# -- waits side by side ----------------------------------------------------------------------------

BROKEN = """
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = two; }
"""


def outcomes(*waits: Any) -> list[str]:
    """Return how concurrent waits end: "", or the exception's name and message."""
    from pyodide.ffi import run_sync

    ends = []

    # JavaScript keeps run_sync's arguments for a while, and a traceback holds arrays.
    async def together() -> None:
        for end in await asyncio.gather(*waits, return_exceptions=True):
            raised = isinstance(end, BaseException)
            ends.append(f"{type(end).__name__}: {end}" if raised else "")

    run_sync(together())
    return ends


def run_a_broken_shader(backend: Any, name: str) -> None:
    """Run a kernel that does not compile and that no other test uses."""
    from browsergpu import KernelExecutor

    executor = KernelExecutor(backend.device)
    executor.execute_custom_kernel(f"{BROKEN}// {name}", None, [executor.full((8,), 1.0)], 1)


@pytest.mark.provokes_errors
@pytest.mark.parametrize("cause", ["ShaderCompilation", "ValidationError"])
@pytest.mark.parametrize("nbytes", [32, 9 * 2**20])
def test_reads_side_by_side_raise_each(backend: Any, cause: str, nbytes: int) -> None:
    with on_gpu(backend) as gpu:
        data = random_array(1, nbytes // 4)
        pointers = [gpu.upload(data) for _ in range(3)]
        results = [np.full(nbytes // 4, SENTINEL, np.float32) for _ in pointers]
        backend.synchronize()
        if cause == "ShaderCompilation":
            run_a_broken_shader(backend, f"read side by side, {nbytes} bytes")
        else:
            record_an_invalid_dispatch(backend, gpu.alloc(4))
        ends = outcomes(
            *map(backend.copy_dtoh_async, results, pointers),
            backend.synchronize_async(), backend.synchronize_async(),
        )  # fmt: skip
        assert len(set(ends)) == 1, "the same error for all"
        assert ends[0].startswith(cause)
        backend.synchronize()  # the error is not raised again
        for result, pointer in zip(results, pointers, strict=True):
            assert (result == SENTINEL).all(), "who raises leaves the array alone"
            backend.copy_dtoh(result, pointer)
            assert_same_bits(result, data, "after the error")


@pytest.mark.provokes_errors
def test_arrays_read_side_by_side_raise_each(backend: Any) -> None:
    from browsergpu import Buffer, KernelExecutor, TensorBackend

    executor, tensors = KernelExecutor(backend.device), TensorBackend(backend)
    arrays = [executor.full((5,), float(i)) for i in range(3)]
    handle = tensors.alloc_tensor((5,), "f32")
    tensors.write_tensor(handle, np.ones(5, np.float32))
    buffer = Buffer(backend.device, 20)
    buffer.write_data(bytes(range(20)))
    executor.synchronize()
    run_a_broken_shader(backend, "arrays read side by side")
    ends = outcomes(
        *(array.numpy_async() for array in arrays), arrays[0].ready(),
        executor.synchronize_async(), tensors.read_numpy_async(handle),
        tensors.read_tensor_async(handle), tensors.sync_async(), buffer.read_data_async(),
        buffer.read_data_async(3, 5),
    )  # fmt: skip
    assert len(set(ends)) == 1
    assert ends[0].startswith("ShaderCompilation")
    assert [array.numpy().tolist() for array in arrays] == [[float(i)] * 5 for i in range(3)]
    assert tensors.read_numpy(handle).tolist() == [1.0] * 5
    assert buffer.read_data(3, 5) == bytes(range(3, 8))
    tensors.free_tensor(handle)
    buffer.free()


@pytest.mark.provokes_errors
def test_a_read_after_one_that_raised_is_filled(backend: Any) -> None:
    async def read_twice(result: np.ndarray, pointer: int) -> None:
        with pytest.raises(ValidationError):
            await backend.copy_dtoh_async(result, pointer)
        await backend.copy_dtoh_async(result, pointer)

    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        data = random_array(1, 8)
        pointers = [gpu.upload(data) for _ in range(3)]
        results = [np.full(8, SENTINEL, np.float32) for _ in pointers]
        backend.synchronize()
        record_an_invalid_dispatch(backend, gpu.alloc(4))
        assert outcomes(*map(read_twice, results, pointers)) == [""] * 3
        for result in results:
            assert_same_bits(result, data, "read again")


@pytest.mark.provokes_errors
def test_a_cancelled_wait_takes_no_error_away(backend: Any) -> None:
    async def cancelled(wait: Any) -> None:
        waiting = asyncio.ensure_future(wait)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    from browsergpu.errors import ValidationError

    with on_gpu(backend) as gpu:
        x = gpu.upload(random_array(1, 8))
        result = np.full(8, SENTINEL, np.float32)
        backend.synchronize()
        record_an_invalid_dispatch(backend, gpu.alloc(4))
        waits = (backend.copy_dtoh_async(result, x), backend.synchronize_async())
        assert outcomes(*map(cancelled, waits)) == ["", ""]
        with pytest.raises(ValidationError):
            backend.synchronize()
        record_an_invalid_dispatch(backend, gpu.alloc(4))
        gone, alone = outcomes(
            cancelled(backend.copy_dtoh_async(result, x)), backend.copy_dtoh_async(result, x)
        )
        assert gone == ""
        assert alone.startswith("ValidationError")
        backend.synchronize()
        assert (result == SENTINEL).all()
        assert backend.device.recorder.counters["errors"] == 0, "none is kept for those that went"


@pytest.mark.provokes_errors
def test_a_profile_that_ends_beside_a_read(backend: Any) -> None:
    from browsergpu import profile

    async def profiled() -> None:
        async with profile(backend):
            record_an_invalid_dispatch(backend, pointer)

    with on_gpu(backend) as gpu:
        pointer, x = gpu.alloc(4), gpu.upload(random_array(1, 8))
        result = np.full(8, SENTINEL, np.float32)
        ends = outcomes(profiled(), backend.copy_dtoh_async(result, x))
        assert [end.split(":")[0] for end in ends] == ["ValidationError"] * 2
        assert (result == SENTINEL).all()
