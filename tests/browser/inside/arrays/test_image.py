"""Image filters and resizing, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same
from inside.tensors import reference

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def picture(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape).astype("float32")


def sampled(x: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Return bilinear samples along an axis, by definition."""
    extent = x.shape[axis]
    at = np.clip((np.arange(size) + 0.5) * extent / size - 0.5, 0, extent - 1)
    low = np.floor(at).astype(int)
    share = (at - low).reshape(-1, *(1,) * (x.ndim - axis - 1))
    high = np.minimum(low + 1, extent - 1)
    return np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share


def test_filters(bg: Any) -> None:
    x = picture((9, 11, 4))
    wide, a, image = x.astype(np.float64), bg.asarray(x), bg.image
    cut = np.float32(0.4)
    for got, expected in (
        (image.grayscale(a), reference.luminance(wide)),
        (image.threshold(a, 0.4), (x >= cut).astype(float)),
        (image.brightness(a, 1.5), wide * 1.5),
        (image.contrast(a, 2), (wide - 0.5) * 2 + 0.5),
        (image.invert(a), 1 - wide),
        (image.sharpen(a), reference.sharpened(wide)),
        (image.sobel(a, 0.9), (reference.gradient(wide) > 0.9)[..., None] * np.ones(4)),
    ):
        assert_same(got, np.clip(reference.with_alpha_of(wide, expected), 0, 1).astype("f4"),
                    rtol=1e-5)  # fmt: skip
    blurred = image.gaussian_blur(a, 1.3)
    assert_same(blurred, reference.blurred(wide, 1.3).astype("f4"), rtol=1e-5)
    whole = (x[..., 0] * 255).round().astype("uint8")
    assert_same(image.invert(bg.asarray(whole)), 255 - whole)
    assert_same(image.invert(bg.asarray(whole).T), 255 - whole.T)


def test_sizes(bg: Any) -> None:
    x = picture((8, 6, 3), 1)
    a, resize = bg.asarray(x), bg.image.resize
    expected = sampled(sampled(x.astype(np.float64), 0, 5), 1, 9)
    assert_same(resize(a, (5, 9)), expected, rtol=1e-6)
    whole = (x * 255).astype("uint8")
    got = resize(bg.asarray(whole), (5, 9)).numpy()
    expected = sampled(sampled(whole.astype(np.float64), 0, 5), 1, 9)
    assert got.dtype == np.uint8
    assert np.abs(got - expected).max() <= 0.501
    assert_same(resize(a, (4, 12), "nearest"), x[1::2].repeat(2, 1))
    smaller = resize(a[..., 0], (4, 3), antialias=True).numpy()
    weights = np.float64([1, 3, 3, 1]) / 8
    inside = np.einsum("ijkl,k,l->ij", np.lib.stride_tricks.sliding_window_view(
        x[..., 0], (4, 4))[1::2, 1::2], weights, weights)  # fmt: skip
    np.testing.assert_allclose(smaller[1:-1, 1:-1], inside, rtol=1e-5)
    flat = bg.ones((3, 5))
    for antialias in (False, True):
        got = resize(flat, (4, 2), "bicubic", antialias=antialias)
        assert_same(got, np.ones((4, 2)), rtol=1e-6)


def test_long_rows(bg: Any) -> None:
    # The product of both lengths exceeds 32 bits, the size of indices in a page.
    x = np.arange(60_000, dtype=np.float32)[None]
    a = bg.asarray(x)
    places = (2 * np.arange(50_000, dtype=np.int64) + 1) * 60_000 // 100_000
    assert_same(bg.image.resize(a, (1, 50_000), "nearest"), x[:, places])
    # Each new element is interpolated between two old ones, so the gradients add up to their
    # number.
    gradient = bg.grad(lambda v: bg.image.resize(v, (1, 50_000)).sum())(a).numpy()
    assert abs(gradient.sum(dtype=np.float64) - 50_000) < 1
    assert gradient.max() < 2
    assert gradient.min() >= 0


def test_invalid_arguments_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    image, a = bg.image, bg.zeros((4, 4))
    for name, call in (
        ("image", lambda: image.invert(bg.zeros((2, 2, 5)))),
        ("image", lambda: image.invert(bg.zeros((2, 2), dtype="int32"))),
        ("sigma", lambda: image.gaussian_blur(a, 0)),
        ("value", lambda: image.threshold(a, None)),
        ("size", lambda: image.resize(a, 3)),
        ("method", lambda: image.resize(a, (2, 2), "lanczos")),
        ("image", lambda: image.resize(bg.zeros((2, 2), dtype="int32"), (1, 1))),
    ):
        with pytest.raises(InvalidArgument) as raised:
            call()
        assert raised.value.argument == name, raised.value
