"""Loading a model and its first call wait for the GPU as rarely as possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.onnx.making import model, node, value

COUNT = 40


@pytest.fixture
def fresh(bg: Any, backend: Any) -> Iterator[Any]:
    """A new backend, which knows no kernel's time and has no free buffers."""
    from browsergpu import WasmBackend

    with WasmBackend() as own:
        own.init()
        bg.use(own)
        yield own
        bg.use(backend)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that wait for the GPU."""
    from browsergpu.engine.gpu import platform

    found: list[str] = []
    block_on = platform.block_on

    def noted(waiting: Any, op: str) -> Any:
        found.append(op)
        return block_on(waiting, op)

    monkeypatch.setattr(platform, "block_on", noted)
    return found


def test_a_first_call_does_not_wait_between_its_kernels(
    bg: Any, fresh: Any, waits: list[str]
) -> None:
    nodes = [node("MatMul", f"x{n} w", f"x{n + 1}") for n in range(COUNT)]
    w = np.roll(np.eye(16, dtype=np.float32), 1, 1)
    found = bg.onnx.load(model(nodes, [value("x0")], f"x{COUNT}", {"w": w}))
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    given = bg.asarray(x)
    fresh.synchronize()
    waits.clear()
    y = found(given)
    assert waits == []
    np.testing.assert_array_equal(y.numpy(), np.roll(x, COUNT, 1))
    fresh.synchronize()


def test_large_weights_wait_once_for_memory(bg: Any, fresh: Any, waits: list[str]) -> None:
    rng = np.random.default_rng(0)
    weights = {f"w{n}": rng.standard_normal((512, 600), dtype=np.float32) for n in range(3)}
    weights["small"] = rng.standard_normal((600, 8), dtype=np.float32)
    data = model(
        [node("Add", "w0 w1", "a"), node("Add", "a w2", "b"), node("MatMul", "b small", "c"),
         node("Add", "c x", "y")],
        [value("x", np.float32, [1])], "y", weights,
    )  # fmt: skip
    waits.clear()
    found = bg.onnx.load(data)
    assert len(waits) <= 1
    total = weights["w0"].astype(np.float64) + weights["w1"] + weights["w2"]
    expected = total @ weights["small"] + 1
    # float32's rounding of sums of 600 products
    np.testing.assert_allclose(found(np.ones(1, np.float32)).numpy(), expected, 1e-4, 1e-3)
    fresh.synchronize()


def test_an_upload_over_memory_in_use_does_not_compile_kernels_again(bg: Any, fresh: Any) -> None:
    pytest.importorskip("js", reason="natively, kernels compile before commands are encoded")
    from inside.spies import watched

    x = np.arange(512, dtype=np.float32)
    given = bg.asarray(x)
    fresh.synchronize()
    with watched("GPUDevice", "createComputePipeline") as calls:
        first = bg.asarray(x)
        y = bg.arctan(first) * 3 + given  # a new kernel, which compiles now
        bg.eval(y)
        buffer = first.node.storage.buffer.id
        del first
        second = bg.asarray(-x)
        assert second.node.storage.buffer.id == buffer, "the memory of the first array"
        found = y.numpy()
    assert calls.of("createComputePipeline") == []
    np.testing.assert_allclose(found, np.arctan(x) * 3 + x, 1e-6)
    np.testing.assert_array_equal(second.numpy(), -x)
