"""Indices and weights of resized arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsergpu.functions.images.interpolation import nearest, taps

pytestmark = pytest.mark.fast

SIZES = [(1, 1), (1, 7), (5, 5), (5, 9), (9, 5), (100, 3), (4, 1)]


def resized(x: np.ndarray, size: int, *how: Any) -> np.ndarray:
    places, weights = taps(len(x), size, *how)
    return np.asarray((x[places] * weights).sum(1))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("extent", "size"), SIZES)
def test_weights(extent: int, size: int, method: str, antialias: bool) -> None:
    places, weights = taps(extent, size, method, antialias)
    assert places.shape == weights.shape
    assert len(places) == size
    assert places.min() >= 0
    assert places.max() < extent
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-6)
    x = np.random.default_rng(0).random(extent)
    np.testing.assert_allclose(resized(x, extent, method, antialias), x, atol=1e-6)
    mirrored = resized(x[::-1], size, method, antialias)[::-1]
    np.testing.assert_allclose(resized(x, size, method, antialias), mirrored, atol=1e-6)


def test_a_line_stays_a_line_inside() -> None:
    for method, antialias in (("bilinear", False), ("bilinear", True), ("bicubic", True)):
        found = resized(np.arange(20.0), 40, method, antialias)
        np.testing.assert_allclose(found[5:-5], ((np.arange(40) + 0.5) / 2 - 0.5)[5:-5], rtol=1e-6)
    for method in ("bilinear", "bicubic"):
        assert resized(np.arange(20.0), 5, method, True)[2] == pytest.approx(9.5)


def test_values_equal_pytorchs() -> None:
    # torch.nn.functional.interpolate documents these rules: bilinear reads at (j + 1/2) / scale -
    # 1/2, and bicubic uses a = -0.75.
    np.testing.assert_allclose(
        resized(np.float64([1, 2, 3]), 6, "bilinear", False), [1, 1.25, 1.75, 2.25, 2.75, 3]
    )
    weights = taps(8, 16, "bicubic", False)[1][7]
    np.testing.assert_allclose(weights, [-0.10546875, 0.87890625, 0.26171875, -0.03515625])


def test_nearest() -> None:
    np.testing.assert_array_equal(nearest(3, 6), [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(nearest(5, 2), [1, 3])
    np.testing.assert_array_equal(nearest(2, 5), [0, 0, 1, 1, 1])
