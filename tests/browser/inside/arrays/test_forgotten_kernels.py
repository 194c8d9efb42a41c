"""Kernels that are used once: evicted kernels free their GPU resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

MOST = 40


def live(backend: Any) -> int:
    """Return the number of live pipelines, after unused ones had time to be freed."""
    for _ in range(3):
        backend.synchronize()
        count: int = backend.device.recorder.counters["pipelines"]
    return count


def chain(xp: Any, number: int, x: Any) -> Any:
    """Apply a number's bits as operations, so that each number has its own kernel."""
    for bit in range(8):
        x = xp.abs(x) + x if number >> bit & 1 else -x
    return x


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A new backend without kernels. It remembers fewer of them, so that tests can make few."""
    import browsergpu

    monkeypatch.setattr("browsergpu.engine.device.generated.MOST_KERNELS", MOST)
    monkeypatch.setattr("browsergpu.engine.device.device.MOST_SOURCES", MOST)
    with browsergpu.WasmBackend(warm_up=False) as made:
        made.init()
        yield made


def test_pipelines_of_forgotten_kernels_go(bg: Any, backend: Any) -> None:
    x = sample("float32", 30) * 0.01
    a = bg.asarray(x)
    before = live(backend)
    results = []
    for number in range(150):
        results.append(chain(bg, number, a))
        bg.eval(results[-1])  # none is read before the last one is recorded
    for number, result in enumerate(results):
        assert_same(result, chain(np, number, x), rtol=1e-5)
    assert live(backend) <= before + MOST
    made = backend.device.recorder.counters["pipelines_created"]
    for number in (149, 3, 148):
        assert_same(chain(bg, number, a), chain(np, number, x), rtol=1e-5)
    assert backend.device.recorder.counters["pipelines_created"] == made + 1


def test_pipelines_of_forgotten_shaders_go(bg: Any, backend: Any) -> None:
    a = bg.zeros(8)
    a.numpy()
    before = live(backend)
    for number in range(120):
        kernel = bg.RawKernel(
            f"""
            @group(0) @binding(0) var<storage, read_write> y: array<f32>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
              y[i] += {number}.0;
            }}"""
        )
        kernel(1, a)
    assert a.tolist() == [119 * 120 / 2] * 8
    assert live(backend) <= before + MOST
    assert len(backend.device.smallest_bound) <= before + MOST
    kernel(1, a)
    assert a.tolist() == [119 * 120 / 2 + 119] * 8


@pytest.mark.provokes_errors
def test_errors_of_an_evicted_shader_are_reported(bg: Any, backend: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    a = bg.asarray(sample("float32", 8))
    wrong = bg.ElementwiseKernel("float32 x", "float32 y", "y = nowhere;", "wrong")(a)
    bg.eval(wrong)
    for number in range(2 * MOST):
        bg.eval(chain(bg, number + 150, a))
    with pytest.raises(ShaderCompilation, match="nowhere"):
        backend.synchronize()
