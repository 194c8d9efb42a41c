"""Layer normalization that graphs write as nodes: one kernel, with the results of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

WIDTH, EPSILON = 12, np.float32(1e-3)
SQUARES = {"power": node("Pow", "d two", "p"), "product": node("Mul", "d d", "p")}


def norm(
    squares: Any, dtype: Any = np.float32, axes: Any = (-1,), affine: bool = True,
    outputs: str = "y", last: str = "n w", width: int = WIDTH, more: tuple[Any, ...] = (),
) -> bytes:  # fmt: skip
    """Return a model of the nodes."""
    rng = np.random.default_rng(5)
    mean = {"axes": list(axes), "keepdims": 1}
    nodes = [
        node("ReduceMean", "x", "m", **mean), node("Sub", "x m", "d"), squares,
        node("ReduceMean", "p", "v", **mean), node("Add", "v e", "t"), node("Sqrt", "t", "r"),
        node("Div", "d r", "n" if affine else "y"),
    ]  # fmt: skip
    if affine:
        nodes += [node("Mul", last, "q"), node("Add", "q b", "y")]
    weights = {
        "two": np.asarray(2, dtype), "e": np.asarray(EPSILON, dtype),
        **{name: rng.standard_normal(width).astype(dtype) for name in "wb"},
    }  # fmt: skip
    return making.model([*nodes, *more], [value("x", dtype)], outputs, weights, opset=17)


def expected(x: np.ndarray, affine: bool = True, axis: int = -1) -> np.ndarray:
    wide = x.astype(np.float64)
    mean = wide.mean(axis, keepdims=True)
    spread = wide.var(axis, keepdims=True)
    rng = np.random.default_rng(5)
    w, b = (rng.standard_normal(WIDTH) for _ in "wb") if affine else (1, 0)
    return (wide - mean) / np.sqrt(spread + EPSILON) * w + b


def data(dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((2, 5, WIDTH)).astype(dtype) * 3 + 1


def is_one_node(model: Any) -> bool:
    return model.explain().operators == {"LayerNormalization": 1}


@pytest.mark.parametrize("squares", SQUARES)
@pytest.mark.parametrize("affine", [True, False])
def test_one_node(bg: Any, squares: str, affine: bool) -> None:
    model = bg.onnx.load(norm(SQUARES[squares], affine=affine))
    assert is_one_node(model)
    found = model(data()).numpy()
    np.testing.assert_allclose(found, expected(data(), affine), rtol=1e-4, atol=1e-5)
    fast = bg.jit(model)
    for _ in range(3):
        fast(data())
    assert fast.explain().variants[0]["kernels"] == 1


def test_the_weight_first(bg: Any) -> None:
    model = bg.onnx.load(norm(SQUARES["power"], last="w n"))
    assert is_one_node(model)
    np.testing.assert_allclose(model(data()).numpy(), expected(data()), rtol=1e-4, atol=1e-5)


def test_float16(bg: Any) -> None:
    model = bg.onnx.load(norm(SQUARES["power"], np.float16))
    assert is_one_node(model)
    found = model(data(np.float16)).numpy()
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected(data(np.float16)), rtol=1e-2, atol=1e-2)


def test_a_weight_of_another_length_uses_the_nodes(bg: Any) -> None:
    model = bg.onnx.load(norm(SQUARES["power"], width=1))
    assert is_one_node(model)
    rng = np.random.default_rng(5)
    w, b = (rng.standard_normal(1) for _ in "wb")
    want = expected(data(), affine=False) * w + b
    np.testing.assert_allclose(model(data()).numpy(), want, rtol=1e-4, atol=1e-5)


def test_other_axes_keep_their_nodes(bg: Any) -> None:
    model = bg.onnx.load(norm(SQUARES["power"], axes=(1,), affine=False))
    assert "LayerNormalization" not in model.explain().operators
    found = model(data()).numpy()
    np.testing.assert_allclose(found, expected(data(), affine=False, axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["m", "d", "p", "v", "t", "r"])
def test_values_that_others_read_are_kept(bg: Any, name: str) -> None:
    returned = bg.onnx.load(norm(SQUARES["power"], outputs=f"y {name}"))
    read = bg.onnx.load(norm(SQUARES["power"], outputs="y z", more=(node("Neg", name, "z"),)))
    for model in (returned, read):
        assert "LayerNormalization" not in model.explain().operators
        found = model(data())[0].numpy()
        np.testing.assert_allclose(found, expected(data()), rtol=1e-4, atol=1e-5)
