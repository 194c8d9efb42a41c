"""Convolutions and pooling with other pads before than after, which their kernels add."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import compute, node, value

pytestmark = pytest.mark.native

#: Attributes, and the pads (before, after) of rows and columns of 7 × 8 elements.
CASES: dict[str, Any] = {
    "upper": ({"auto_pad": "SAME_UPPER"}, [(0, 1), (0, 1)]),
    "lower": ({"auto_pad": "SAME_LOWER"}, [(1, 0), (1, 0)]),
    "pads": ({"pads": [1, 0, 0, 1]}, [(1, 0), (0, 1)]),
    "strides": ({"pads": [0, 0, 1, 1], "strides": [2, 2]}, [(0, 1), (0, 1)]),
    "strides, rounded up": (
        {"pads": [0, 1, 1, 0], "strides": [2, 2], "ceil_mode": 1}, [(0, 1), (1, 0)]
    ),
}  # fmt: skip


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def padded(x: np.ndarray, pairs: Any, number: float) -> np.ndarray:
    return np.pad(x, [(0, 0), (0, 0), *pairs], constant_values=number)


def windows(x: np.ndarray, kernel: Any, options: Any) -> np.ndarray:
    """Return the windows of a padded image. With ceil_mode, those beyond its end have NaN."""
    rows, columns = options.get("strides", (1, 1))
    if options.get("ceil_mode"):
        more = -(x.shape[2] - kernel[0]) % rows, -(x.shape[3] - kernel[1]) % columns
        x = padded(x, [(0, n) for n in more], np.nan)
    found = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return found[:, :, ::rows, ::columns]


def check(bg: Any, kind: str, inputs: str, x: np.ndarray, weights: Any, options: Any,
          want: np.ndarray) -> None:  # fmt: skip
    """Compare one operator, and replays that take one kernel, with the expected values."""
    whole = [x, *weights.values()]
    np.testing.assert_allclose(compute(bg, kind, whole, **options)[0], want, rtol=1e-4, atol=1e-5)
    file = making.model([node(kind, inputs, "y", **options)], [value("x")], "y", weights)
    fast = bg.jit(bg.onnx.load(file))
    for _ in range(3):
        found = fast(bg.asarray(x))
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-4, atol=1e-5)
    assert sum(fast.explain().variants[0]["labels"].values()) == 1


@pytest.mark.parametrize("case", [name for name in CASES if "rounded" not in name])
@pytest.mark.parametrize("group", [1, 4])
def test_convolutions(bg: Any, case: str, group: int) -> None:
    options, pairs = CASES[case]
    x, w = data(2, 4, 7, 8), data(8, 4 // group, 2, 2)
    parts = windows(padded(x, pairs, 0), (2, 2), options)
    split = parts.reshape(2, group, 4 // group, *parts.shape[2:])
    filters = w.reshape(group, 8 // group, *w.shape[1:])
    want = np.einsum("ngchwij,gfcij->ngfhw", split, filters).reshape(2, 8, *parts.shape[2:4])
    check(bg, "Conv", "x w", x, {"w": w}, {**options, "group": group}, want)


@pytest.mark.parametrize("case", CASES)
def test_maxima(bg: Any, case: str) -> None:
    options, pairs = CASES[case]
    x = data(2, 3, 7, 8)
    parts = windows(padded(x, pairs, -np.inf), (2, 2), options)
    check(bg, "MaxPool", "x", x, {}, {**options, "kernel_shape": [2, 2]},
          np.nanmax(parts, (-2, -1)))  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_means(bg: Any, case: str) -> None:
    options, pairs = CASES[case]
    x = data(2, 3, 7, 8)
    parts = windows(padded(x, pairs, np.nan), (2, 2), options)
    check(bg, "AveragePool", "x", x, {}, {**options, "kernel_shape": [2, 2]},
          np.nanmean(parts, (-2, -1)))  # fmt: skip


def test_nan_and_infinity_beside_zeros(bg: Any) -> None:
    x = data(1, 1, 4, 4)
    x[0, 0, 3, 3], x[0, 0, 0, 0] = np.inf, np.nan
    want = windows(padded(x, [(0, 1), (0, 1)], -np.inf), (2, 2), {}).max((-2, -1))
    options = {"auto_pad": "SAME_UPPER", "kernel_shape": [2, 2]}
    check(bg, "MaxPool", "x", x, {}, options, want)
    w = np.ones((1, 1, 2, 2), np.float32)
    want = windows(padded(x, [(0, 1), (0, 1)], 0), (2, 2), {}).sum((-2, -1))
    check(bg, "Conv", "x w", x, {"w": w}, {"auto_pad": "SAME_UPPER"}, want)


def test_gradients(bg: Any) -> None:
    options = {"auto_pad": "SAME_UPPER", "kernel_shape": [2, 2]}
    nodes = [node("Conv", "x w", "c", **options), node("MaxPool", "c", "m", **options),
             node("AveragePool", "m", "y", **options)]  # fmt: skip
    x, w = data(1, 2, 5, 6), data(3, 2, 2, 2)
    made = bg.onnx.load(making.model(nodes, [value("x")], "y", {"w": w})).requires_grad_()
    (filters,) = made.parameters()
    own = bg.nn.Parameter(bg.asarray(x))
    bg.sum(made(own) ** 2).backward()

    def plain(x: Any, w: Any) -> Any:
        c = bg.nn.conv2d(bg.nn.pad(x, (0, 1, 0, 1)), w)
        m = bg.nn.max_pool2d(bg.nn.pad(c, (0, 1, 0, 1), value=-np.inf), 2, 1)
        whole = bg.nn.pad(m, (0, 1, 0, 1))
        counts = bg.nn.pad(bg.ones_like(m), (0, 1, 0, 1))
        return bg.sum((bg.nn.avg_pool2d(whole, 2, 1) / bg.nn.avg_pool2d(counts, 2, 1)) ** 2)

    wanted = bg.grad(plain, (0, 1))(bg.asarray(x), bg.asarray(w))
    for found, want in zip((own.grad, filters.grad), wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-3, atol=1e-4)
