"""The excitation of squeeze-and-excite in one kernel under ``bg.jit``, with the nodes' results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

NAME = "excitation"


def model(
    channels: int = 24, hidden: int = 6, filters: int | None = None, *, gate: str = "HardSigmoid",
    biases: str = "nodes", outputs: str = "y", dtype: Any = np.float32, kernel: int = 1,
    pooled: bool = True, **options: Any,
) -> bytes:  # fmt: skip
    """Return squeeze-and-excite of an image. ``biases`` are "nodes", "operands" or "none"."""
    rng = np.random.default_rng(7)
    count = channels if filters is None else filters
    scale = channels**-0.5
    weights = {
        "w1": rng.standard_normal((hidden, channels, kernel, kernel)) * scale,
        "w2": rng.standard_normal((count, hidden, 1, 1)),
    }
    if biases == "nodes":
        weights |= {"b1": rng.standard_normal((1, hidden, 1, 1))}
        weights |= {"b2": rng.standard_normal((count, 1, 1))}
        ends = [node("Add", "b1 c1", "a1")], [node("Add", "c2 b2", "a2")]
    elif biases == "operands":
        weights |= {"b1": rng.standard_normal(hidden), "b2": rng.standard_normal(count)}
    extra = (" b1", " b2") if biases == "operands" else ("", "")
    first, second = ("a1", "a2") if biases == "nodes" else ("c1", "c2")
    pads = [kernel // 2] * 4
    nodes = [
        *([node("GlobalAveragePool", "x", "m")] if pooled else []),
        node("Conv", f"{'m' if pooled else 'x'} w1{extra[0]}", "c1", pads=pads),
        *(ends[0] if biases == "nodes" else []),
        node("Relu", first, "r"),
        node("Conv", f"r w2{extra[1]}", "c2"),
        *(ends[1] if biases == "nodes" else []),
        node(gate, second, "g", **options),
        *([node("Mul", "x g", "y")] if count == channels else [node("Identity", "g", "y")]),
    ]
    arrays = {name: x.astype(dtype) for name, x in weights.items()}
    return making.model(nodes, [value("x", dtype)], outputs, arrays)


def data(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def results(found: Any) -> list[np.ndarray]:
    return [x.numpy() for x in (found if isinstance(found, tuple) else (found,))]


def check(
    bg: Any, file: bytes, x: np.ndarray, count: int, tolerance: float = 1e-5, **options: Any
) -> None:
    """Compare a replay with a plain call, and the number of its excitation kernels."""
    made = bg.onnx.load(file)
    want = results(made(x))
    fast = bg.jit(made, **options)
    for _ in range(3):
        found = results(fast(x))
    assert fast.explain().variants[0]["labels"].get(NAME, 0) == count
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("gate", ["HardSigmoid", "Sigmoid"])
@pytest.mark.parametrize("biases", ["nodes", "operands", "none"])
def test_gates(bg: Any, gate: str, biases: str) -> None:
    check(bg, model(gate=gate, biases=biases), data(1, 24, 5, 7), 1)


@pytest.mark.parametrize(
    ("images", "channels", "hidden", "filters"),
    [(1, 4, 1, 4), (3, 96, 24, 96), (2, 384, 96, 384), (1, 1024, 128, 65), (5, 20, 17, 3)],
)
def test_sizes(bg: Any, images: int, channels: int, hidden: int, filters: int) -> None:
    check(bg, model(channels, hidden, filters), data(images, channels, 3, 4), 1)


def test_the_numbers_of_a_hard_sigmoid(bg: Any) -> None:
    check(bg, model(alpha=1 / 6, beta=0.25), data(2, 24, 4, 4), 1)


def test_nan_and_infinity(bg: Any) -> None:
    x = data(3, 24, 2, 2)
    x[0, 3, 0, 0], x[1, 5, 1, 1] = np.nan, np.inf
    check(bg, model(), x, 1)


@pytest.mark.parametrize(
    ("channels", "hidden"), [(22, 6), (1028, 6), (24, 129)], ids=["odd", "wide", "deep"]
)
def test_sizes_of_other_kernels(bg: Any, channels: int, hidden: int) -> None:
    check(bg, model(channels, hidden), data(1, channels, 3, 3), 0)


def test_float16(bg: Any) -> None:
    file, x = model(dtype=np.float16), data(1, 24, 5, 5, dtype=np.float16)
    check(bg, file, x, 0, 4e-3)


def test_an_image_of_more_pixels(bg: Any) -> None:
    check(bg, model(pooled=False), data(1, 24, 3, 5), 0)


def test_windows_of_more_pixels(bg: Any) -> None:
    check(bg, model(kernel=3), data(1, 24, 3, 5), 0)


@pytest.mark.parametrize("name", ["c1", "a1", "r", "c2", "a2"])
def test_values_that_the_graph_returns_are_kept(bg: Any, name: str) -> None:
    check(bg, model(outputs=f"y {name}"), data(1, 24, 3, 3), 0)


def test_a_returned_gate(bg: Any) -> None:
    check(bg, model(outputs="y g"), data(1, 24, 3, 3), 1)


def test_without_optimization(bg: Any) -> None:
    check(bg, model(), data(1, 24, 3, 3), 0, optimize=False)


def test_a_changed_weight(bg: Any) -> None:
    made, x = bg.onnx.load(model()), data(1, 24, 3, 3)
    fast = bg.jit(made)
    for _ in range(3):
        fast(x)
    with bg.no_grad():
        for one in made.parameters():
            one[...] *= 1.5
    np.testing.assert_allclose(fast(x).numpy(), made(x).numpy(), rtol=1e-5, atol=1e-5)


def test_gradients(bg: Any) -> None:
    made, x = bg.onnx.load(model()).requires_grad_(), data(1, 24, 3, 3)
    losses = []
    for call in (made, bg.jit(made)):
        for _ in range(3):
            made.zero_grad()
            bg.sum(call(x) ** 2).backward()
        losses.append([one.grad.numpy() for one in made.parameters()])
    assert max(np.abs(one).max() for one in losses[0]) > 0.01
    for one, other in zip(*losses, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_gradients_of_the_input(bg: Any) -> None:
    made, x = bg.onnx.load(model()), bg.asarray(data(1, 24, 3, 3))
    slope = bg.grad(lambda x: bg.sum(made(x) ** 2))
    want, fast = slope(x).numpy(), bg.jit(slope)
    for _ in range(3):
        found = fast(x)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-4, atol=1e-5)


def test_vmap(bg: Any) -> None:
    made, x = bg.onnx.load(model()), bg.asarray(data(4, 1, 24, 3, 3))
    want = np.concatenate([made(one).numpy() for one in x])[:, None]
    fast = bg.jit(bg.vmap(made))
    for _ in range(3):
        found = fast(x).numpy()
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
