"""Resize to the nearest elements along several axes, against NumPy's indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import compute, node, value

pytestmark = pytest.mark.native


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def scaled(x: np.ndarray, factors: Any) -> np.ndarray:
    """Return the elements at floor(place / factor)."""
    places = [
        np.floor(np.arange(int(n * factor)) / factor).astype(int)
        for n, factor in zip(x.shape, factors, strict=True)
    ]
    return x[np.ix_(*places)]


OPTIONS: Any = {"mode": "nearest", "nearest_mode": "floor"}


@pytest.mark.parametrize(
    "factors",
    [
        (1, 1, 2, 2), (1, 1, 4, 2), (1, 1, 2, 1), (1, 1, 1, 1), (1, 2, 2, 3), (2, 1, 1, 2),
        (1, 1, 0.5, 2), (1, 1, 1.5, 2.5), (1, 3, 0.5, 0.5), (2, 2, 2, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8])
def test_factors(bg: Any, factors: Any, dtype: Any) -> None:
    x = (data(2, 3, 4, 6) * 50 + 100).astype(dtype)
    scales = np.array(factors, np.float32)
    (found,) = compute(
        bg, "Resize", [x, None, scales], coordinate_transformation_mode="asymmetric", **OPTIONS
    )
    np.testing.assert_array_equal(found, scaled(x, factors))


def test_axes_and_extents(bg: Any) -> None:
    x = data(2, 5, 4)
    inputs = [x, None, None, np.array([10, 12])]
    (found,) = compute(bg, "Resize", inputs, axes=[-2, -1], **OPTIONS)
    rows = np.floor((np.arange(10) + 0.5) / 2 - 0.5).clip(0).astype(int)
    columns = np.floor((np.arange(12) + 0.5) / 3 - 0.5).clip(0).astype(int)
    np.testing.assert_array_equal(found, x[:, rows[:, None], columns])


def model(outputs: str = "y") -> bytes:
    """Return the sum of an image and of a smaller one, as in feature pyramids."""
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    options = {"coordinate_transformation_mode": "asymmetric", **OPTIONS}
    nodes = [node("Resize", "x _ s", "r", **options), node("Add", "r z", "y")]
    return making.model(nodes, [value("x"), value("z")], outputs, scales)


@pytest.mark.parametrize("outputs", ["y", "y r"])
@pytest.mark.parametrize("optimize", [True, False])
def test_one_kernel_with_a_sum(bg: Any, outputs: str, optimize: bool) -> None:
    x, z = data(1, 3, 4, 5), data(1, 3, 8, 10)
    fast = bg.jit(bg.onnx.load(model(outputs)), optimize=optimize)
    for _ in range(3):
        found = fast(x, z)
    first, *others = found if isinstance(found, tuple) else (found,)
    twice = scaled(x, (1, 1, 2, 2))
    np.testing.assert_array_equal(first.numpy(), twice + z)
    for one in others:
        np.testing.assert_array_equal(one.numpy(), twice)
    assert fast.explain().variants[0]["kernels"] == 1


def test_gradient(bg: Any) -> None:
    made, x, z = bg.onnx.load(model()), bg.asarray(data(1, 3, 4, 5)), bg.asarray(data(1, 3, 8, 10))
    found = bg.grad(lambda x: bg.sum(made(x, z) ** 2))(x).numpy()
    whole = 2 * (scaled(x.numpy(), (1, 1, 2, 2)) + z.numpy())
    want = whole.reshape((1, 3, 4, 2, 5, 2)).sum((3, 5))
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
