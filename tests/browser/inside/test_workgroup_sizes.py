"""Workgroup sizes: selected, used by the kernels, measured, saved and forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import random_array

pytestmark = [pytest.mark.kernels("worker", "main"), pytest.mark.firefox, pytest.mark.all]


@pytest.fixture
def device(backend: Any) -> Iterator[Any]:
    """The device. Its sizes are restored afterwards, here and in the browser's storage."""
    from browsergpu import forget_workgroup_sizes

    device = backend.device
    before = device.workgroup_sizes
    yield device
    forget_workgroup_sizes(device)
    device.workgroup_sizes = before


SIZES = [1, 2, 64, 256]


@pytest.mark.kernels("worker")
@pytest.mark.parametrize("size", SIZES)
def test_results_do_not_depend_on_them(device: Any, size: int) -> None:
    from browsergpu import KernelExecutor, WorkgroupSizes

    executor = KernelExecutor(device)
    a, b = random_array(1, 7, 333), random_array(2, 333)
    x, y = executor.from_numpy(a), executor.from_numpy(b)
    device.workgroup_sizes = WorkgroupSizes(size, size)
    assert_same_bits(executor.add(x, y).numpy(), a + b, "broadcast")
    assert_same_bits(executor.add(x, x).numpy(), a + a, "binary")
    assert_same_bits(executor.relu(x).numpy(), np.maximum(a, 0), "unary")
    assert_same_bits(executor.cast(x, "f16").numpy(), a.astype(np.float16), "cast")
    assert_same_bits(executor.full((999,), 3.0).numpy(), np.full(999, 3.0, np.float32), "fill")
    wide = executor.transpose(executor.reshape(x, (7, 3, 111)), (1, 0, 2)).numpy()
    assert_same_bits(wide, a.reshape(7, 3, 111).transpose(1, 0, 2).copy(), "strided")
    whole = executor.from_numpy(np.arange(5000, dtype=np.int32))
    assert executor.sum(whole).numpy() == 12_497_500
    for axis in (0, 1, None):
        assert_same_bits(executor.max(x, axis).numpy(), np.asarray(a.max(axis=axis)), "max")
        assert_matches(
            executor.sum(x, axis).numpy(), a.astype(np.float64).sum(axis=axis),
            rtol=0.0, atol=2331 * 2.0**-24 * 2.0 * 2331, why="a sum of up to 2331",
        )  # fmt: skip
        assert_matches(
            executor.variance(x, axis).numpy(), a.astype(np.float64).var(axis=axis),
            rtol=1e-5, atol=0.0, why="merged moments",
        )  # fmt: skip


def test_kernels_really_have_them(device: Any) -> None:
    import js

    from browsergpu import KernelExecutor, WorkgroupSizes

    executor = KernelExecutor(device)
    x = executor.full((2**14,), 1.0)
    groups = {}
    for size in (64, 256):
        device.workgroup_sizes = WorkgroupSizes(elementwise=size)
        executor.synchronize()
        js.gpuWatch.widestGrid = 0
        assert executor.relu(x).numpy().sum() == 2**14
        groups[size] = js.gpuWatch.widestGrid
    # Fewer threads per workgroup need more workgroups. If the shader had 256 threads at both sizes,
    # the smaller one's indices would have gaps, which the sum would show.
    assert groups == {64: 64, 256: 16}


def test_pipelines_of_a_size_are_found_again(device: Any) -> None:
    from browsergpu import KernelExecutor, WorkgroupSizes

    executor = KernelExecutor(device)
    x = executor.full((10,), 1.0)
    made = []
    for size in (16, 8, 16, 8):
        device.workgroup_sizes = WorkgroupSizes(elementwise=size)
        executor.tanh(x)
        made.append(device.pipeline_misses)
    assert made[1] == made[0] + 1
    assert made[1:] == [made[1]] * 3


@pytest.mark.parametrize(
    "sizes", [(0, 64), (48, 64), (64, 2**20), (64, -1), (64.0, 64), ((8, 3, 2), 64)]
)
def test_sizes_that_are_refused(device: Any, sizes: tuple[Any, Any]) -> None:
    from browsergpu import WorkgroupSizes
    from browsergpu.errors import InvalidArgument

    before = device.workgroup_sizes
    with pytest.raises(InvalidArgument, match="workgroup_sizes"):
        device.workgroup_sizes = WorkgroupSizes(*sizes)
    assert device.workgroup_sizes == before


@pytest.mark.parametrize(
    ("triple", "size"), [((64, 1, 1), 64), ((8, 8, 2), 128), ([1, 1, 32], 32), ((16, 16, 1), 256)]
)
def test_a_size_as_a_triple_is_its_threads(device: Any, triple: Any, size: int) -> None:
    from browsergpu import KernelExecutor, WorkgroupSizes

    sizes = WorkgroupSizes(elementwise=triple, reduction=triple)
    assert sizes == WorkgroupSizes(size, size)
    assert (sizes.elementwise, sizes["reduction"]) == (size, size)
    device.workgroup_sizes = sizes
    assert device.optimal_workgroup_size(10**6) == size
    x = random_array(1, 1000)
    executor = KernelExecutor(device)
    result = executor.sub(0.0, executor.from_numpy(x)).numpy()
    assert_same_bits(result, 0.0 - x, f"workgroups of {triple}")


@pytest.mark.parametrize(
    "triple", [(64,), (64, 1), (64, 1, 1, 1), (0, 1, 1), (64, 1.0, 1), (-8, -8, 1), "641", ()]
)
def test_triples_that_are_refused(triple: Any) -> None:
    from browsergpu import WorkgroupSizes
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"WorkgroupSizes: reduction must .*sequence of 3"):
        WorkgroupSizes(reduction=triple)


def test_the_optimal_size_for_a_number_of_elements(device: Any) -> None:
    from browsergpu import WorkgroupSizes
    from browsergpu.errors import InvalidArgument

    device.workgroup_sizes = WorkgroupSizes(elementwise=128)
    sizes = [device.optimal_workgroup_size(n) for n in (0, 1, 32, 33, 64, 65, 128, 10**9)]
    assert sizes == [32, 32, 32, 64, 64, 128, 128, 128]
    device.workgroup_sizes = WorkgroupSizes(elementwise=16)
    assert device.optimal_workgroup_size(1) == 16
    for n in (-1, 1.5, "4", None):
        with pytest.raises(InvalidArgument, match="optimal_workgroup_size: n must"):
            device.optimal_workgroup_size(n)


def test_benchmark(device: Any) -> None:
    from browsergpu import WorkgroupSizes, benchmark_workgroup_sizes

    buffers = device.memory.buffers
    result = benchmark_workgroup_sizes(device, (64, 32, 2**20), elements=5000)
    assert device.memory.buffers == buffers
    assert set(result.seconds) == {"elementwise", "reduction"}
    for family, seconds in result.seconds.items():
        assert set(seconds) == {32, 64}, "sizes beyond the device are left out"
        assert all(0 < value < np.inf for value in seconds.values())
        assert result.sizes[family] == min(seconds, key=seconds.__getitem__)
    assert device.workgroup_sizes == result.sizes
    assert device.optimal_workgroup_size(10**6) == result.sizes.elementwise
    has_clock = "timestamp-query" in device.features
    assert result.clock == ("timestamp-query" if has_clock else "wall")
    assert result.stored
    assert isinstance(result.sizes, WorkgroupSizes)


def test_found_sizes_are_stored_until_forgotten(device: Any) -> None:
    from browsergpu import (
        WasmBackend,
        WorkgroupSizes,
        benchmark_workgroup_sizes,
        forget_workgroup_sizes,
    )

    def of_a_new_device(**options: Any) -> Any:
        with WasmBackend(**options) as backend:
            backend.init()
            return backend.device.workgroup_sizes

    assert of_a_new_device() == WorkgroupSizes()
    benchmark_workgroup_sizes(device, [64], elements=1000)
    assert of_a_new_device() == WorkgroupSizes(64, 64)
    benchmark_workgroup_sizes(device, [32], elements=1000)
    assert of_a_new_device() == WorkgroupSizes(32, 32)
    forget_workgroup_sizes(device)
    assert device.workgroup_sizes == WorkgroupSizes()
    assert of_a_new_device() == WorkgroupSizes()


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", '{"elementwise": 64}', '{"elementwise": 63, "reduction": 64}',
     '{"elementwise": "64", "reduction": 64}', '{"elementwise": 1048576, "reduction": 64}', "null"],
)  # fmt: skip
def test_stored_values_are_validated(device: Any, text: str) -> None:
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend, WorkgroupSizes
    from browsergpu.engine.device import tuned
    from browsergpu.engine.gpu import platform

    assert run_sync(platform.write_setting(tuned._key(tuned._SIZES, device.info), text))
    with WasmBackend() as backend:
        backend.init()
        assert backend.device.workgroup_sizes == WorkgroupSizes()


def test_without_storage(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyodide.code import run_js

    from browsergpu import WasmBackend, WorkgroupSizes, benchmark_workgroup_sizes

    # As on a page without storage, such as one in a sandboxed frame.
    restore = run_js(
        """(() => {
          const open = IDBFactory.prototype.open;
          IDBFactory.prototype.open = () => { throw new DOMException("no", "SecurityError"); };
          return () => { IDBFactory.prototype.open = open; };
        })()"""
    )
    try:
        result = benchmark_workgroup_sizes(device, [64], elements=1000)
        assert not result.stored
        assert device.workgroup_sizes == WorkgroupSizes(64, 64)
        with WasmBackend() as backend:
            backend.init()
            assert backend.device.workgroup_sizes == WorkgroupSizes()
    finally:
        restore()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([48],), "candidates must .*powers of two"),
        (([],), "candidates must .*at most"),
        (([2**20],), "candidates must .*at most"),
        ((64,), "candidates must .*, got 64"),
        (([64.0],), "candidates must"),
        (([0],), "candidates must"),
        (([64], 0), "elements must .*, got 0"),
        (([64], 2**40), "elements must"),
    ],
)
def test_a_benchmark_that_is_refused(device: Any, arguments: Any, words: str) -> None:
    from browsergpu import benchmark_workgroup_sizes
    from browsergpu.errors import InvalidArgument

    before = device.workgroup_sizes
    with pytest.raises(InvalidArgument, match=f"benchmark_workgroup_sizes: {words}"):
        benchmark_workgroup_sizes(device, *arguments)
    assert device.workgroup_sizes == before
