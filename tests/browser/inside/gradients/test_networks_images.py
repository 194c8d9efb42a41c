"""Gradients of image filters and resizing against central differences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree
from inside.tensors import reference

pytestmark = [pytest.mark.native, pytest.mark.firefox]

SHAPES = ((3, 4), (3, 2, 2), (2, 3, 3), (2, 3, 4))
Filter = Callable[[np.ndarray], np.ndarray]
FILTERS: dict[str, tuple[tuple[float, ...], Filter]] = {
    "grayscale": ((), reference.luminance),
    "brightness": ((1.6,), lambda x: x * 1.6),
    "contrast": ((2.5,), lambda x: (x - 0.5) * 2.5 + 0.5),
    "invert": ((), lambda x: 1 - x),
    "sharpen": ((), reference.sharpened),
}


def _picture(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(0.05, 0.95, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FILTERS)
def test_filters(bg: Any, name: str, shape: tuple[int, ...]) -> None:
    settings, theirs = FILTERS[name]
    gradients_agree(
        bg, lambda x: getattr(bg.image, name)(x, *settings),
        lambda x: reference.with_alpha_of(x, theirs(x)), [_picture(shape)],
    )  # fmt: skip


@pytest.mark.parametrize("sigma", [0.6, 2.0])
def test_gaussian_blur(bg: Any, sigma: float) -> None:
    for shape in ((3, 4), (2, 3, 2)):
        gradients_agree(
            bg, lambda x: bg.image.gaussian_blur(x, sigma),
            lambda x: reference.blurred(x, sigma), [_picture(shape)],
        )  # fmt: skip


def test_second_gradients(bg: Any) -> None:
    image = bg.image
    for ours, theirs in (
        (lambda x: image.gaussian_blur(x, 0.8), lambda x: reference.blurred(x, 0.8)),
        (lambda x: image.resize(x, (2, 5)), lambda x: _linear(_linear(x, 0, 2), 1, 5)),
    ):
        second_gradients_agree(
            bg, lambda x, f=ours: f(x * x), lambda x, f=theirs: f(x * x), [_picture((3, 3))]
        )


def test_steps_have_no_gradient(bg: Any) -> None:
    x = bg.asarray(_picture((3, 3)))
    for function in (bg.image.threshold, bg.image.sobel):
        assert (bg.grad(lambda v, f=function: f(v, 0.5).sum() + 0 * v.sum())(x).numpy() == 0).all()


def _linear(x: np.ndarray, axis: int, size: int) -> np.ndarray:
    extent = x.shape[axis]
    at = np.clip((np.arange(size) + 0.5) * extent / size - 0.5, 0, extent - 1)
    low = np.minimum(np.floor(at).astype(int), extent - 1)
    share = (at - low).reshape(-1, *(1,) * (x.ndim - axis - 1))
    high = np.minimum(low + 1, extent - 1)
    return np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share


@pytest.mark.parametrize(
    ("method", "antialias"),
    [("nearest", False), *product(["bilinear", "bicubic"], [False, True])],
)
def test_resize(bg: Any, method: str, antialias: bool) -> None:
    x = _picture((5, 3, 2))
    for size in ((3, 7), (5, 2)):

        def resized(v: Any, size: tuple[int, int] = size) -> Any:
            return bg.image.resize(v, size, method, antialias=antialias)

        # Resizing is linear, so its results for single pixels determine it.
        units = np.eye(15, dtype=np.float32).reshape(15, 5, 3)
        parts = [resized(bg.asarray(unit)).numpy().astype(float) for unit in units]
        matrix = np.stack(parts, -1)
        gradients_agree(
            bg, resized,
            lambda v, m=matrix: np.tensordot(m, v.reshape(15, -1), 1), [x],
        )  # fmt: skip
    if method == "bilinear" and not antialias:
        gradients_agree(
            bg, lambda v: bg.image.resize(v, (3, 7)),
            lambda v: _linear(_linear(v, 0, 3), 1, 7), [x],
        )  # fmt: skip
