"""KernelExecutor and its device: custom kernels, statistics, tasks, and work on the GPU."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import random_array
from inside.shared import shared_backend

SCALE = """
struct Factor { value: f32, offset: f32 }
@group(0) @binding(2) var<uniform> factor: Factor;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&y)) {
    y[id.x] = x[id.x] * factor.value + factor.offset;
  }
}

@compute @workgroup_size(1)
fn unused() { y[0] = x[0] * factor.value; }
"""
DOUBLE = """
@group(0) @binding(0) var<storage, read_write> y: array<i32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] *= 2; }
"""


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


# -- kernels of the user's -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, str.encode])
def test_a_custom_kernel(executor: Any, kind: Callable[[str], Any]) -> None:
    data = random_array(1, 64)
    x, y = executor.from_numpy(data), executor.full((64,), np.nan)
    factor = np.array([2.0, 0.5], np.float32)
    executor.execute_custom_kernel(kind(SCALE), "scale", [x, y], 1, factor)
    assert_same_bits(y.numpy(), data * 2 + np.float32(0.5), "scaled")
    executor.execute_custom_kernel(SCALE, "scale", (x, y), (1, 1, 1), factor.tobytes())
    assert_same_bits(y.numpy(), data * 2 + np.float32(0.5), "scaled")


def test_a_custom_kernel_of_one_entry_point(executor: Any) -> None:
    whole = executor.from_numpy(np.arange(-8, 8, dtype=np.int32))
    executor.execute_custom_kernel(DOUBLE, None, [whole], [2])
    executor.execute_custom_kernel(DOUBLE, "main", [executor.reshape(whole, (4, 4))], 2)
    assert whole.numpy().tolist() == list(range(-32, 32, 4))


def test_a_custom_kernel_on_a_buffer(executor: Any) -> None:
    from browsergpu import Buffer
    from browsergpu.errors import InvalidArgument

    buffer = Buffer(executor.device, 64)
    buffer.write_data(np.arange(16, dtype=np.int32))
    executor.execute_custom_kernel(DOUBLE, None, [buffer], 2)
    assert np.frombuffer(buffer.read_data(), np.int32).tolist() == list(range(0, 32, 2))
    with pytest.raises(InvalidArgument, match=r"buffers\[0\] must .*whole Buffer"):
        executor.execute_custom_kernel(DOUBLE, None, [buffer.range(0, 32)], 1)


LENGTH = """
@group(0) @binding(0) var<storage, read> x: array<i32>;
@group(0) @binding(3) var<uniform> factor: i32;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@compute @workgroup_size(1)
fn main() { y[0] = i32(arrayLength(&x)) * factor; y[1] = i32(arrayLength(&y)); }
"""


@pytest.mark.parametrize("n", [1, 5, 64, 1001])
def test_array_length_in_a_custom_kernel(executor: Any, n: int) -> None:
    from browsergpu import Buffer

    factor, out = np.array([3], np.int32), executor.full((2,), 0, "i32")
    array, buffer = executor.full((n, 1), 1, "i32"), Buffer(executor.device, 4 * n)
    for x in (array, executor.reshape(array, -1), buffer):
        executor.execute_custom_kernel(LENGTH, None, [x, out], 1, factor)
        assert out.numpy().tolist() == [3 * n, 2]
    odd = Buffer(executor.device, 4 * n + 1)  # WebGPU binds whole words
    executor.execute_custom_kernel(LENGTH, None, [odd, out], 1, factor)
    assert out.numpy().tolist() == [3 * (n + 1), 2]


def test_custom_kernels_that_are_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x, y = executor.full((64,), 1.0), executor.full((64,), 0.0)
    good: dict[str, Any] = {
        "source": SCALE, "entry_point": "scale", "buffers": [x, y], "workgroup_count": 1,
        "uniform_data": bytes(8),
    }  # fmt: skip
    before = executor.device.recorder.counters["dispatches"]
    for change, words in (
        ({"source": None}, "source must be WGSL source, .*, got None"),
        ({"source": b"\xff\xfe"}, "source must "),
        ({"source": "fn f() {}"}, "@compute"),
        ({"source": SCALE.replace("binding(1)", f"binding({10**20})")}, f"binding.{10**20}. of y"),
        ({"source": SCALE.replace("binding(2)", "binding(1000000)")}, "1000000. of factor"),
        ({"entry_point": "other"}, "entry_point must be one of scale, unused, got 'other'"),
        ({"entry_point": None}, "entry_point must be one of scale, unused, got None"),
        ({"entry_point": ["scale"]}, "entry_point must .*a name"),
        ({"buffers": [x]}, "2 buffers.*1 buffers"),
        ({"buffers": [x, x]}, "one buffer as x and y"),
        ({"buffers": [x, executor.reshape(x, (8, 8))]}, "one buffer as x and y"),
        ({"buffers": [x, np.zeros(3, np.float32)]}, r"buffers\[1\] must"),
        ({"buffers": x}, "buffers must"),
        ({"buffers": "xy"}, "buffers must .*, got 'xy'"),
        ({"workgroup_count": 0}, "workgroup_count must "),
        ({"workgroup_count": (1, 2, 3, 4)}, "workgroup_count must "),
        ({"workgroup_count": 65_536}, "workgroup_count must "),
        ({"workgroup_count": 1.0}, "workgroup_count must "),
        ({"uniform_data": None}, "uniform_data must .*, got None"),
        ({"uniform_data": np.zeros(2)}, "uniform_data.*float32"),
    ):
        with pytest.raises(InvalidArgument, match=f"execute_custom_kernel: .*{words}"):
            executor.execute_custom_kernel(**{**good, **change})
    assert executor.device.recorder.counters["dispatches"] == before
    with pytest.raises(InvalidArgument, match="uniform_data"):
        executor.execute_custom_kernel(DOUBLE, None, [x], 1, bytes(8))


def test_a_custom_kernels_source_is_read_once(executor: Any) -> None:
    from browsergpu.engine.kernels.text import reflect
    from browsergpu.engine.tensors import custom

    reads = (reflect.reflect, reflect.without_comments, custom.sha256)
    names = {function.__name__ for function in reads}
    called: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        name = frame.f_code.co_name if event == "call" else getattr(argument, "__name__", "")
        if name in names:
            called.append(name)

    data = random_array(1, 64)
    x, y = executor.from_numpy(data), executor.full((64,), np.nan)
    for first in (True, False):
        # A new object, because programs build their sources again at each call.
        source = "".join(["// read once", SCALE])
        sys.setprofile(note)
        try:
            executor.execute_custom_kernel(source, "scale", [x, y], 1, bytes(8))
            executor.execute_custom_kernel(source.encode(), "scale", [x, y], 1, bytes(8))
        finally:
            sys.setprofile(None)
        assert set(called) == (names if first else set())
        called.clear()


@pytest.mark.provokes_errors
def test_a_custom_kernel_that_does_not_compile(executor: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    x = executor.full((8,), 1, "i32")
    executor.synchronize()  # an invalid command invalidates its whole batch
    executor.execute_custom_kernel(DOUBLE.replace("*= 2", "*= two"), None, [x], 1)
    with pytest.raises(ShaderCompilation, match="two") as caught:
        executor.synchronize()
    assert caught.value.line == 4
    assert x.numpy().tolist() == [1] * 8


# -- statistics ------------------------------------------------------------------------------------


def test_pipeline_stats() -> None:
    from browsergpu import KernelExecutor, WasmBackend

    with WasmBackend() as backend:
        backend.init()
        executor = KernelExecutor(backend.device)
        assert vars(executor.pipeline_stats) == {
            "count": 0, "hits": 0, "misses": 0, "compile_ms": 0.0
        }  # fmt: skip
        x = executor.full((5,), 1.0)  # fill
        executor.relu(x)
        executor.synchronize()
        first = executor.pipeline_stats
        assert (first.count, first.hits, first.misses) == (2, 0, 2)
        assert first.compile_ms > 0
        executor.relu(x)
        executor.relu(executor.full((7,), 2.0))
        executor.synchronize()
        second = executor.pipeline_stats
        assert (second.count, second.hits, second.misses) == (2, 3, 2)
        assert second.compile_ms == first.compile_ms
        executor.execute_custom_kernel(DOUBLE, None, [executor.full((8,), 1, "i32")], 1)
        executor.execute_custom_kernel(DOUBLE, None, [executor.full((8,), 1, "i32")], 1)
        executor.synchronize()
        third = executor.pipeline_stats
        assert (third.count, third.hits, third.misses) == (3, 6, 3)
        assert third.compile_ms > second.compile_ms


# -- tasks -----------------------------------------------------------------------------------------


def test_operations_issued_together(executor: Any) -> None:
    from pyodide.ffi import run_sync

    a, b = random_array(1, 6, 6), random_array(2, 6, 6)
    x, y = executor.from_numpy(a), executor.from_numpy(b)

    async def together() -> Any:
        return await asyncio.gather(
            executor.add(x, y).ready(), executor.matmul(x, y).ready(), executor.relu(x).ready(),
            executor.sum(x, 1).ready(), executor.transpose(y).ready(), executor.variance(y).ready(),
        )  # fmt: skip

    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected = [
        wide_a + wide_b, wide_a @ wide_b, np.maximum(wide_a, 0), wide_a.sum(axis=1), wide_b.T,
        wide_b.var(),
    ]  # fmt: skip
    for result, wanted in zip(run_sync(together()), expected, strict=True):
        assert_matches(result.numpy(), wanted, rtol=1e-5, atol=1e-5, why="a few float32 sums")


def test_many_tasks_at_once(executor: Any) -> None:
    from pyodide.ffi import run_sync

    async def chain(seed: int) -> tuple[np.ndarray, np.ndarray]:
        data = random_array(seed, 3 + seed, 7)
        x = executor.from_numpy(data)
        expected = data.astype(np.float64)
        for step in range(5):
            x = executor.add(executor.mul(x, 0.5), float(step))
            expected = expected * 0.5 + step
            if step % 2:
                await x.ready()
            else:
                await asyncio.sleep(0)
        mean = await executor.mean(x, 0).numpy_async()
        return mean, expected.mean(axis=0)

    async def together() -> Any:
        return await asyncio.gather(*(chain(seed) for seed in range(12)))

    for mean, expected in run_sync(together()):
        assert_matches(mean, expected, rtol=1e-5, atol=1e-6, why="a few float32 operations")


@pytest.mark.provokes_errors
def test_waiting_for_an_array_raises_reported_errors(executor: Any) -> None:
    from pyodide.ffi import run_sync

    from browsergpu.errors import ShaderCompilation

    x = executor.full((8,), 1, "i32")
    executor.execute_custom_kernel(DOUBLE.replace("id.x]", "id.q]"), None, [x], 1)

    # No reference to an array may cross run_sync: JavaScript would keep a result or traceback, and
    # with it the array, until its next garbage collection.
    async def told() -> bool:
        try:
            await x.ready()
        except ShaderCompilation:
            return (await x.ready()) is x
        return False

    assert run_sync(told())


# -- where work is done ----------------------------------------------------------------------------


def calls(executor: Any) -> dict[str, Callable[[], Any]]:
    x = executor.from_numpy(random_array(1, 2, 4, 6, 6))
    matrix, w = executor.reshape(x, (-1, 6)), executor.from_numpy(random_array(2, 4, 2, 3, 3))
    channels = executor.full((4,), 1.0)
    six = executor.full((6, 6), 1.0)
    packed, halves = executor.full((6, 18), 0.5), executor.full((2, 40, 64), 0.5, "f16")
    return {
        "add": lambda: executor.add(x, x),
        "add broadcast": lambda: executor.add(x, six),
        "sub": lambda: executor.sub(x, 1.0),
        "mul": lambda: executor.mul(x, six),
        "div": lambda: executor.div(x, six),
        "matmul": lambda: executor.matmul(matrix, six),
        "batched_matmul": lambda: executor.batched_matmul(x, x),
        "linear": lambda: executor.linear(x, six, activation="gelu", residual=x),
        "transpose": lambda: executor.transpose(x),
        "transpose tiles": lambda: executor.transpose(matrix),
        "conv2d": lambda: executor.conv2d(x, w, channels, groups=2),
        "relu": lambda: executor.relu(x),
        "softmax": lambda: executor.softmax(x),
        "sigmoid": lambda: executor.sigmoid(x),
        "tanh": lambda: executor.tanh(x),
        "batch_norm": lambda: executor.batch_norm(x, channels, channels),
        "batch_norm training": lambda: executor.batch_norm(x, training=True),
        "layer_norm": lambda: executor.layer_norm(x),
        "add_layer_norm": lambda: executor.add_layer_norm(x, x),
        "max_pool2d": lambda: executor.max_pool2d(x, 2),
        "max_pool2d_with_indices": lambda: executor.max_pool2d_with_indices(x, 2),
        "avg_pool2d": lambda: executor.avg_pool2d(x, 2),
        "sum": lambda: executor.sum(x, (0, 2)),
        "mean": lambda: executor.mean(x),
        "max": lambda: executor.max(x, 1),
        "min": lambda: executor.min(x, -1),
        "variance": lambda: executor.variance(x),
        "fill": lambda: executor.fill(six, 2.0),
        "full": lambda: executor.full((5,), 2.0),
        "cast": lambda: executor.cast(x, "f16"),
        "copy": lambda: executor.copy(x),
        "reshape": lambda: executor.reshape(x, -1),
        "attention": lambda: executor.attention(x, x, x, causal=True),
        "attention of halves": lambda: executor.attention(halves, halves, halves),
        "attention_block": lambda: executor.attention_block(
            matrix, packed, None, six, None, heads=2
        ),
    }


NO_DISPATCH = {"copy", "reshape"}


def test_every_operation_computes_on_the_gpu(executor: Any) -> None:
    import js

    for name, call in calls(executor).items():
        executor.synchronize()
        before = executor.device.recorder.counters
        dispatches, mappings = js.gpuWatch.dispatches, js.gpuWatch.mappings
        kept = call()
        executor.synchronize()
        after = executor.device.recorder.counters
        assert (js.gpuWatch.dispatches > dispatches) == (name not in NO_DISPATCH), name
        assert js.gpuWatch.mappings == mappings, f"{name} read something back"
        assert after["uploads"] == before["uploads"], f"{name} computed on the CPU"
        assert after["copies"] - before["copies"] == (name == "copy"), name
        del kept


def test_the_uniform_ring_carries_the_same_parameters(executor: Any) -> None:
    from browsergpu import KernelExecutor

    with shared_backend(immediates=False) as backend:
        assert backend.device.immediate_bytes == 0
        other = KernelExecutor(backend.device)
        for (name, call), (_, same) in zip(
            calls(executor).items(), calls(other).items(), strict=True
        ):
            first, second = call(), same()
            pairs = (
                zip(first, second, strict=True) if isinstance(first, tuple) else [(first, second)]
            )
            for one, two in pairs:
                assert_same_bits(two.numpy(), one.numpy(), name)


@pytest.mark.parametrize("limit", [2, 3, 7])
def test_grids_that_fold(executor: Any, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    import js

    from browsergpu.engine.core import grids

    monkeypatch.setattr(grids, "MAX_PER_DIMENSION", limit)
    js.gpuWatch.widestGrid = 0
    # Plans are cached by their arguments, so the sizes differ from other tests.
    x = random_array(1, 11, 3, 40 + limit, 50)
    array = executor.from_numpy(x)
    for order in ((0, 1, 3, 2), (3, 1, 0, 2)):
        result = executor.transpose(array, order).numpy()
        assert_same_bits(result, np.ascontiguousarray(x.transpose(order)), "transposed")
    row = random_array(2, 50)
    assert_same_bits(executor.add(array, executor.from_numpy(row)).numpy(), x + row, "sum")
    pooled = executor.max_pool2d(array, (2, 5)).numpy()
    windows = x[:, :, : (40 + limit) // 2 * 2].reshape(11, 3, (40 + limit) // 2, 2, 10, 5)
    assert_same_bits(pooled, windows.max(axis=(3, 5)), "pooled")
    for axis in ((0, 2), (1, 3)):
        assert_matches(
            executor.variance(array, axis).numpy(), x.astype(np.float64).var(axis=axis),
            rtol=1e-5, atol=0.0, why="moments merged in chunks",
        )  # fmt: skip
    trained = executor.batch_norm_training(array).output.numpy()
    wide = x.astype(np.float64)
    mean, variance = (
        wide.mean(axis=(0, 2, 3), keepdims=True),
        wide.var(axis=(0, 2, 3), keepdims=True),
    )
    assert_matches(
        trained, (wide - mean) / np.sqrt(variance + 1e-5), rtol=1e-5, atol=1e-5, why="a few steps"
    )
    assert 1 <= js.gpuWatch.widestGrid <= limit
