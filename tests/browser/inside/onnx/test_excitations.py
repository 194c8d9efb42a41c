"""Squeeze-and-excite in one or two kernels under ``bg.jit``, with the nodes' results."""

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
    assert len(excitations(bg, file, x, tolerance, **options)) == count


def excitations(
    bg: Any, file: bytes, x: np.ndarray, tolerance: float = 1e-5, **options: Any
) -> list[str]:
    """Compare a replay with a plain call. Returns its excitation kernels."""
    made = bg.onnx.load(file)
    want = results(made(x))
    fast = bg.jit(made, **options)
    for _ in range(3):
        found = results(fast(x))
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    labels = fast.explain().variants[0]["labels"]
    return [name for name, count in labels.items() if name.startswith(NAME) for _ in range(count)]


def block(
    channels: int, hidden: int = 6, *, mean: str = "GlobalAveragePool", of: str = "c g",
    added: bool = False, outputs: str = "y", end: str = "Conv", mean_options: Any = None,
) -> bytes:  # fmt: skip
    """Return a convolution, squeeze-and-excite of its result, and a convolution of the product."""
    rng = np.random.default_rng(8)
    shapes = {
        "w0": (channels, channels, 1, 1), "w1": (hidden, channels, 1, 1), "b1": (hidden,),
        "w2": (channels, hidden, 1, 1), "b2": (channels,), "w3": (5, channels, 1, 1),
    }  # fmt: skip
    weights = {name: (rng.standard_normal(one) * 0.4).astype(np.float32)
               for name, one in shapes.items()}  # fmt: skip
    options = dict(mean_options or {})
    axes = options.pop("given", None)
    if axes is not None:
        weights["axes"] = np.array(axes)
    last = "p" if not added else "s"
    nodes = [
        node("Conv", "x w0", "c"),
        node(mean, "c axes" if axes is not None else "c", "m", **options),
        node("Conv", "m w1 b1", "c1"),
        node("Relu", "c1", "r"),
        node("Conv", "r w2 b2", "c2"),
        node("HardSigmoid", "c2", "g"),
        node("Mul", of, "p"),
        *([node("Add", "p c", "s")] if added else []),
        node("Conv", f"{last} w3", "y") if end == "Conv" else node(end, last, "y"),
    ]
    return making.model(nodes, [value("x")], outputs, weights)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(
    ("shape", "kernel"),
    [
        ((1, 4, 1, 1), "excitation.mean product"), ((3, 24, 5, 7), "excitation.mean product"),
        ((1, 1024, 4, 8), "excitation.mean product"), ((2, 96, 18, 18), "excitation.mean product"),
        ((2, 100, 19, 18), "excitation.product"), ((1, 8, 100, 97), "excitation.mean product"),
        ((1, 1024, 1, 40), "excitation.product"), ((2, 4, 1, 9000), "excitation.mean product"),
    ],
)  # fmt: skip
def test_products_that_convolutions_read(bg: Any, added: bool, shape: Any, kernel: str) -> None:
    file = block(shape[1], added=added, of="g c" if added else "c g")
    assert excitations(bg, file, data(*shape), 1e-4) == [kernel]


def test_means_of_large_images(bg: Any) -> None:
    file, x = block(24, end="Relu"), data(2, 24, 70, 75)
    assert excitations(bg, file, x, 1e-4) == ["excitation.mean"]
    fast = bg.jit(bg.onnx.load(file))
    for _ in range(3):
        fast(x)
    assert fast.explain().variants[0]["kernels"] == 4  # with those of the convolution and rows


@pytest.mark.parametrize("end", ["Relu", "Transpose"])
def test_products_that_other_nodes_read(bg: Any, end: str) -> None:
    assert excitations(bg, block(24, end=end), data(2, 24, 5, 7), 1e-4) == ["excitation.mean"]


@pytest.mark.parametrize(
    "options",
    [{"given": [2, 3]}, {"given": [-1, -2]}, {"given": [2, 3], "keepdims": 1}],
)
def test_means_as_reductions(bg: Any, options: Any) -> None:
    file = block(24, mean="ReduceMean", mean_options=options)
    assert excitations(bg, file, data(2, 24, 5, 7), 1e-4) == ["excitation.mean product"]


def test_means_over_one_axis(bg: Any) -> None:
    file = block(24, mean="ReduceMean", mean_options={"given": [3]})
    assert excitations(bg, file, data(2, 24, 1, 7), 1e-4) == ["excitation"]


def test_maxima(bg: Any) -> None:
    assert excitations(bg, block(24, mean="GlobalMaxPool"), data(2, 24, 5, 7), 1e-4) == [NAME]


def test_products_of_other_images(bg: Any) -> None:
    assert excitations(bg, block(24, of="x g"), data(2, 24, 5, 7), 1e-4) == ["excitation.mean"]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("m", "excitation"), ("g", "excitation.mean"), ("c", "excitation.mean product"),
     ("p", "excitation.mean product")],
)  # fmt: skip
def test_values_of_a_block_that_the_graph_returns(bg: Any, name: str, kernel: str) -> None:
    file = block(24, outputs=f"y {name}")
    assert excitations(bg, file, data(2, 24, 5, 7), 1e-4) == [kernel]


def test_nan_and_infinity_in_a_block(bg: Any) -> None:
    x = data(3, 24, 4, 5)
    x[0, 3, 0, 0], x[1, 5, 1, 1] = np.nan, np.inf
    assert excitations(bg, block(24), x, 1e-4) == ["excitation.mean product"]


def test_gradients_of_a_block(bg: Any) -> None:
    made, x = bg.onnx.load(block(24, added=True)), bg.asarray(data(1, 24, 3, 3))
    slope = bg.grad(lambda x: bg.sum(made(x) ** 2))
    want, fast = slope(x).numpy(), bg.jit(slope)
    for _ in range(3):
        found = fast(x)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-3, atol=1e-4)


def test_a_block_of_float16(bg: Any) -> None:
    made = bg.onnx.load(block(24)).to(dtype="float16")
    x = data(2, 24, 5, 7)
    want, fast = made(x).numpy(), bg.jit(made)
    for _ in range(3):
        found = fast(x)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-2, atol=1e-2)


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
