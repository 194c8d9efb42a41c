"""Kernels compiled in advance, and commands that wait for kernels to compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu, random_array

BROKEN = """@group(0) @binding(0) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(1)
fn main() {
  y[0] = unknown_name;
}
"""


@pytest.fixture
def fresh() -> Iterator[Any]:
    """A backend without compiled kernels."""
    from browsergpu import WasmBackend

    with WasmBackend() as backend:
        backend.init()
        yield backend


def created(backend: Any) -> int:
    count: int = backend.device.recorder.counters["pipelines_created"]
    return count


def wait_for(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


# -- ahead of need ---------------------------------------------------------------------------------


def test_warmed_up_kernels_are_not_compiled_again(fresh: Any) -> None:
    from browsergpu import KernelExecutor

    wait_for(fresh.device.warm_up_async(["cast.f32_f16", "cast.f16_f32", "cast.f32_f16"]))
    assert created(fresh) == 2
    assert fresh.device.pipeline_misses == 0
    executor = KernelExecutor(fresh.device)
    data = random_array(1, 50, dtype=np.float16).astype(np.float32)
    x = executor.from_numpy(data)
    assert_same_bits(executor.cast(executor.cast(x, "f16"), "f32").numpy(), data, "cast twice")
    assert created(fresh) == 2
    assert (fresh.device.pipeline_misses, fresh.device.pipeline_hits) == (0, 2)


def test_warming_up_does_not_wait(fresh: Any) -> None:
    from browsergpu import KernelExecutor

    fresh.device.warm_up(["cast.f32_f16"])
    executor = KernelExecutor(fresh.device)
    x = executor.from_numpy(np.ones(4, np.float32))
    half = executor.cast(x, "f16")  # during compilation
    assert_same_bits(half.numpy(), np.ones(4, np.float16), "cast")
    assert created(fresh) == 1


def test_operations_and_kernels_by_name(fresh: Any) -> None:
    from browsergpu.engine.kernels.table import KERNELS

    fresh.device.warm_up(["cross_entropy"])
    assert created(fresh) == len(KERNELS["cross_entropy"].configurations)
    before = created(fresh)
    fresh.device.warm_up(["gemm"])
    assert created(fresh) == before + len(fresh.device.variants.preferred("gemm"))
    fresh.synchronize()


@pytest.mark.parametrize("ops", [["gem"], ["cast.mul"], [3], "gemm", 5, ["cast.x.y"]])
def test_names_that_are_refused(backend: Any, ops: Any) -> None:
    from browsergpu.errors import InvalidArgument

    before = created(backend)
    with pytest.raises(InvalidArgument, match="ops"):
        backend.device.warm_up(ops)
    with pytest.raises(InvalidArgument, match="ops"):
        wait_for(backend.device.warm_up_async(ops))
    assert created(backend) == before


@pytest.mark.provokes_errors
def test_an_unused_shader_reports_nothing(fresh: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    recorder = fresh.device.recorder
    pipeline = recorder.create_pipeline(
        label="broken", file="broken.wgsl", code=BROKEN, entry_point="main", signature="0w",
        constants={}, parameter_format="", immediate=False, ahead=True,
    )  # fmt: skip
    wait_for(recorder.compiled(pipeline))
    fresh.synchronize()
    with on_gpu(fresh) as gpu:
        x = gpu.upload(random_array(1, 4))
        recorder.dispatch(pipeline, 1, 1, 1, fresh._buffers[x].id)
        with pytest.raises(ShaderCompilation) as caught:
            fresh.synchronize()
        assert (caught.value.op, caught.value.line) == ("broken", 5)
        fresh.synchronize()


def test_a_software_adapter_is_not_warmed_up(fresh: Any) -> None:
    if fresh.device.device_type != "cpu":
        pytest.skip("a GPU warms up by itself")
    wait_for(pause(0.1))
    assert created(fresh) == 0


async def pause(seconds: float) -> None:
    from asyncio import sleep

    await sleep(seconds)


def test_a_gpu_warms_up_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu import WasmBackend
    from browsergpu.engine.device import warm_up
    from browsergpu.engine.device.device import Device

    names = ("cast.f32_f16", "cast.f16_f32", "fill")
    monkeypatch.setattr(Device, "device_type", "gpu")
    monkeypatch.setattr(warm_up, "MOST_USED", names)
    with WasmBackend() as backend:
        backend.init()
        assert backend.device._warming is not None
        wait_for(backend.device._warming)
        assert created(backend) == len(names)
        backend.synchronize()
    with WasmBackend() as backend:  # closed before warm-up ends
        backend.init()
        warming = backend.device._warming
    assert warming is not None
    wait_for(warming)
    with WasmBackend(warm_up=False) as backend:
        backend.init()
        assert backend.device._warming is None


def test_the_most_used_kernels_exist(backend: Any) -> None:
    from browsergpu.engine.device import warm_up

    variants = backend.device.variants
    assert len(warm_up.kernels("test", warm_up.MOST_USED, variants)) >= len(warm_up.MOST_USED)


# -- commands that wait ----------------------------------------------------------------------------


def test_an_upload_waits_for_earlier_commands(fresh: Any) -> None:
    first, second = random_array(1, 8), random_array(2, 8)
    with on_gpu(fresh) as gpu:
        x, y = gpu.upload(first), gpu.alloc(32)
        fresh.unary("neg", x, y, 8)  # not compiled yet
        fresh.copy_htod(x, second)
        assert_same_bits(gpu.download(y, 8), -first, "of what x was before")
        assert_same_bits(gpu.download(x, 8), second, "x")


def test_several_kernels_in_order(fresh: Any) -> None:
    data = np.abs(random_array(1, 300))
    with on_gpu(fresh) as gpu:
        x = gpu.upload(data)
        for op in ("neg", "abs", "sqrt", "neg", "abs"):
            fresh.unary(op, x, x, 300)
        y = gpu.alloc(1200)
        fresh.binary("mul", x, x, y, 300)
        np.testing.assert_allclose(gpu.download(y, 300), data, rtol=1e-5)
    assert fresh.device.recorder.unfinished == 0


def test_more_commands_than_may_wait(fresh: Any) -> None:
    with on_gpu(fresh) as gpu:
        x = gpu.upload(np.zeros(4, np.float32))
        one = gpu.upload(np.ones(4, np.float32))
        for _ in range(4000):
            fresh.binary("add", x, one, x, 4)
        assert fresh.device.recorder.unfinished > 0
        assert_same_bits(gpu.download(x, 4), np.full(4, 4000, np.float32), "sum of ones")


def test_a_buffer_destroyed_while_its_commands_wait(fresh: Any) -> None:
    data = random_array(1, 64)
    with on_gpu(fresh) as gpu:
        y = gpu.alloc(256)
        x = fresh.alloc(256)
        fresh.copy_htod(x, data)
        fresh.unary("neg", x, y, 64)
        fresh.free(x)
        fresh.device.memory.trim()
        assert_same_bits(gpu.download(y, 64), -data, "y")


def test_a_read_sees_only_commands_recorded_before_it(fresh: Any) -> None:
    from asyncio import ensure_future, sleep

    data = random_array(1, 64)

    async def read_and_change() -> tuple[np.ndarray, np.ndarray]:
        early, late = np.zeros(64, np.float32), np.zeros(64, np.float32)
        fresh.unary("neg", x, x, 64)
        reading = ensure_future(fresh.copy_dtoh_async(early, x))
        await sleep(0)
        fresh.unary("abs", x, x, 64)
        await fresh.copy_dtoh_async(late, x)
        await reading
        return early, late

    with on_gpu(fresh) as gpu:
        x = gpu.upload(data)
        early, late = wait_for(read_and_change())
    assert_same_bits(early, -data, "before")
    assert_same_bits(late, np.abs(data), "after")


def test_closing_while_commands_wait() -> None:
    from browsergpu import WasmBackend

    backend = WasmBackend()
    backend.init()
    x = backend.alloc(16)
    backend.unary("neg", x, x, 4)
    backend.device.recorder.flush()
    backend.close()
