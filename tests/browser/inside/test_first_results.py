"""First results: while a kernel compiles, a call runs another one that compiles faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.native


@pytest.fixture
def bg() -> Iterator[Any]:
    """browsergpu on a new device without compiled kernels, as on a GPU."""
    from pyodide.ffi import run_sync

    import browsergpu
    from browsergpu.arrays import context

    before = context._current[:]
    device = run_sync(browsergpu.Device.request(warm_up=False))
    device.has_quick_results = True
    browsergpu.use(device)
    yield browsergpu
    context._current[:] = before
    device.close()


def kernels(bg: Any, work: Any) -> tuple[list[str], np.ndarray]:
    """Return the kernels that some work runs, and its result."""
    device = bg.default_device()
    found: list[str] = []

    def note(pipeline: Any, _: Any) -> None:
        found.append(pipeline.kernel)

    device.recorder.observers.append(note)
    result = work()
    bg.eval(result)
    device.recorder.observers.remove(note)
    return [one for one in found if one], np.asarray(result)


def compiled(bg: Any) -> None:
    """Wait until all pending kernels are compiled."""
    from pyodide.ffi import run_sync

    device = bg.default_device()
    for pipeline in list(device._compiled.values()):
        run_sync(device.recorder.compiled(pipeline))


def test_the_first_call_runs_a_quick_kernel_and_later_ones_the_selected(bg: Any) -> None:
    x = bg.asarray(np.random.default_rng(1).random((96, 64), np.float32))
    first, result = kernels(bg, lambda: x @ x.T)
    compiled(bg)
    later, again = kernels(bg, lambda: x @ x.T)
    last, _ = kernels(bg, lambda: x @ x.T)
    assert first == ["gemm_tiny"]
    assert "gemm_tiny" not in later
    assert later == last
    np.testing.assert_allclose(result, again, rtol=1e-5)


def test_a_prompt_of_a_quantized_model_does_not_wait(bg: Any) -> None:
    """Many vectors multiply by packed weights until the product of dequantized ones is compiled."""
    from browsergpu.engine.device import first_results

    device = bg.default_device()
    random = np.random.default_rng(2)
    data = random.integers(0, 256, (64, 2, 34), np.uint8)
    data[:, :, 1] = 0x10  # of the scales, which are small then
    weight = bg.llm.QuantizedArray(data.reshape(-1), (64, 64), "Q8_0")
    x = bg.asarray(random.random((96, 64), np.float32))
    # The bound of other kernels: a prompt has more operations.
    before, first_results._MOST_OPERATIONS = first_results._MOST_OPERATIONS, 1.0
    try:
        first, result = kernels(bg, lambda: bg.nn.linear(x, weight))
        asked = [name for name in dict(device._compiled) if name[0].startswith("gemm")]
        compiled(bg)
        later, again = kernels(bg, lambda: bg.nn.linear(x, weight))
    finally:
        first_results._MOST_OPERATIONS = before
    assert first == ["quantized_tile"]
    assert asked  # compiled in the background
    assert later[0] == "dequantize"
    assert "quantized_tile" not in later
    np.testing.assert_allclose(result, again, rtol=1e-4, atol=1e-4)


def test_attention(bg: Any) -> None:
    x = bg.asarray(np.random.default_rng(1).random((1, 1, 96, 64), np.float32))

    def attention() -> Any:
        return bg.nn.scaled_dot_product_attention(x, x, x)

    with bg.default_device().variants.only("attention", "64x32"):
        expected = np.asarray(attention())
    first, result = kernels(bg, attention)
    assert first == ["attention"]
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_large_products_wait(bg: Any) -> None:
    from browsergpu.engine.device import first_results

    x = bg.ones((64, 64))
    before, first_results._MOST_OPERATIONS = first_results._MOST_OPERATIONS, 1.0
    try:
        first, _ = kernels(bg, lambda: x @ x)
    finally:
        first_results._MOST_OPERATIONS = before
    assert "gemm_tiny" not in first


def test_many_products_wait(bg: Any) -> None:
    """Quick kernels of a long series would take longer than the compilation."""
    from browsergpu.engine.device import first_results

    x = bg.ones((64, 64))
    bg.eval(x)
    before, first_results._MOST_OPERATIONS = first_results._MOST_OPERATIONS, 3.0 * 64**3
    try:
        first, _ = kernels(bg, lambda: x @ x)
        second, _ = kernels(bg, lambda: x @ x)
    finally:
        first_results._MOST_OPERATIONS = before
    assert first == ["gemm_tiny"]
    assert "gemm_tiny" not in second


def test_captured_graphs_hold_the_selected_kernels(bg: Any) -> None:
    x = bg.ones((64, 64))
    bg.eval(x)
    with bg.capture() as graph:
        x @ x
    assert "gemm_tiny" not in graph.kernels


def test_the_setting(bg: Any) -> None:
    from pyodide.ffi import run_sync

    device = run_sync(bg.Device.request(warm_up=False, tune_by_use=False))
    try:
        assert not device.has_quick_results
    finally:
        device.close()
