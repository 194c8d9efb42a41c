"""Queries, keys and values of one product under ``bg.jit``, with the results of three."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import node, value

pytestmark = pytest.mark.native

LENGTH, HEADS, SIZE = 6, 2, 32
WIDTH = HEADS * SIZE
PERMUTED = {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}


def model(
    outputs: str = "y", swapped: bool = False, other: str = "x", masked: bool = False,
    dtype: Any = np.float32,
) -> bytes:  # fmt: skip
    """Return attention of three products. ``other`` is the value of which v is a product."""
    nodes = []
    rng = np.random.default_rng(3)
    weights: dict[str, Any] = {"split": np.array([1, LENGTH, HEADS, SIZE])}
    for name, perm in PERMUTED.items():
        source = other if name == "v" else "x"
        sums = f"b{name} p{name}" if swapped else f"p{name} b{name}"
        nodes += [
            node("MatMul", f"{source} w{name}", f"p{name}"), node("Add", sums, f"l{name}"),
            node("Reshape", f"l{name} split", f"r{name}"),
            node("Transpose", f"r{name}", name, perm=perm),
        ]  # fmt: skip
        weights[f"w{name}"] = (rng.standard_normal((WIDTH, WIDTH)) / 8).astype(dtype)
        weights[f"b{name}"] = rng.standard_normal(WIDTH).astype(dtype)
    weights["c"] = np.asarray(SIZE**0.5, dtype)
    nodes += [node("MatMul", "q k", "s"), node("Div", "s c", "d")]
    nodes += [node("Add", "d mask", "e")] if masked else []
    nodes += [
        node("Softmax", "e" if masked else "d", "a", axis=-1), node("MatMul", "a v", "o"),
        node("Transpose", "o", "y", perm=[0, 2, 1, 3]),
    ]  # fmt: skip
    inputs = [value(name, dtype) for name in ("x", *(["z"] if other == "z" else []))]
    inputs += [value("mask", dtype)] if masked else []
    return making.model(nodes, inputs, outputs, weights)


def data(seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((1, LENGTH, WIDTH))
    return x.astype(dtype)


def replayed(bg: Any, made: Any, *args: Any) -> tuple[Any, dict[str, int]]:
    """Return a replay's result, and the number of its kernels by name."""
    fast = bg.jit(made)
    for _ in range(3):
        found = fast(*args)
    return found, fast.explain().variants[0]["labels"]


def products(labels: dict[str, int]) -> int:
    return sum(n for name, n in labels.items() if name.startswith("gemm"))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_one_product(bg: Any, dtype: Any, swapped: bool) -> None:
    made = bg.onnx.load(model(swapped=swapped, dtype=dtype))
    want = made(data(dtype=dtype)).numpy()
    found, labels = replayed(bg, made, data(dtype=dtype))
    assert products(labels) == 1
    assert len(list(made.parameters())) == 6
    tolerance = 1e-5 if dtype is np.float32 else 4e-3
    np.testing.assert_allclose(found.numpy(), want, rtol=tolerance, atol=tolerance)


def test_a_mask(bg: Any) -> None:
    mask = np.random.default_rng(1).standard_normal((LENGTH, LENGTH)).astype(np.float32)
    made = bg.onnx.load(model(masked=True))
    found, labels = replayed(bg, made, data(), mask)
    assert products(labels) == 1
    np.testing.assert_allclose(found.numpy(), made(data(), mask).numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["pq", "lk", "rv", "v"])
def test_values_that_others_read_are_kept(bg: Any, name: str) -> None:
    made = bg.onnx.load(model(f"y {name}"))
    want = [x.numpy() for x in made(data())]
    found, labels = replayed(bg, made, data())
    assert products(labels) >= 3
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-5, atol=1e-5)


def test_products_of_different_values(bg: Any) -> None:
    made = bg.onnx.load(model(other="z"))
    found, labels = replayed(bg, made, data(), data(1))
    assert products(labels) == 3
    np.testing.assert_allclose(found.numpy(), made(data(), data(1)).numpy(), rtol=1e-5, atol=1e-5)


def test_a_changed_weight(bg: Any) -> None:
    made = bg.onnx.load(model())
    fast = bg.jit(made)
    for _ in range(3):
        fast(data())
    with bg.no_grad():
        next(iter(made.parameters()))[...] *= 2
    np.testing.assert_allclose(fast(data()).numpy(), made(data()).numpy(), rtol=1e-5, atol=1e-5)


def test_weights_that_require_gradients(bg: Any) -> None:
    made = bg.onnx.load(model()).requires_grad_()
    losses = []
    for call in (made, bg.jit(made)):
        for _ in range(3):
            made.zero_grad()
            bg.sum(call(data()) ** 2).backward()
        losses.append([x.grad.numpy() for x in made.parameters()])
    assert max(np.abs(one).max() for one in losses[0]) > 1
    for one, other in zip(*losses, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
