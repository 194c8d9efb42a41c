"""Gradients of normalisations against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.nn_reference import normalised
from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(0)


def _numbers(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(4,), (2, 4)])
def test_layer_norm(bg: Any, shape: tuple[int, ...]) -> None:
    axes = tuple(range(-len(shape), 0))
    arrays = [_numbers(3, 2, 4), _numbers(*shape), _numbers(*shape)]
    for given in (arrays, arrays[:1]):

        def theirs(x: np.ndarray, w: Any = 1.0, b: Any = 0.0) -> np.ndarray:
            return normalised(x, axes, 1e-3) * w + b

        def ours(x: Any, *more: Any) -> Any:
            return bg.nn.layer_norm(x, shape, *more, eps=1e-3)

        gradients_agree(bg, ours, theirs, given)
    second_gradients_agree(bg, ours, theirs, [_numbers(2, 2, 4)])


def test_layer_norm_of_half_precision(bg: Any) -> None:
    x = _numbers(2, 4).astype(np.float16)
    gradients_agree(
        bg, lambda v: bg.nn.layer_norm(v, 4), lambda v: normalised(v, -1, 1e-5), [x],
        tolerance=1e-2,
    )  # fmt: skip


def test_rms_norm(bg: Any) -> None:
    def theirs(x: np.ndarray, w: Any = 1.0) -> np.ndarray:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * w

    def ours(x: Any, *more: Any) -> Any:
        return bg.nn.rms_norm(x, 4, *more, eps=1e-3)

    x, w = _numbers(2, 3, 4), _numbers(4)
    gradients_agree(bg, ours, theirs, [x, w])
    gradients_agree(bg, ours, theirs, [x])
    second_gradients_agree(bg, ours, theirs, [x[0], w])


def test_group_norm(bg: Any) -> None:
    def theirs(x: np.ndarray, w: Any = None, b: Any = None) -> np.ndarray:
        rows = normalised(x.reshape(2, 2, -1), -1, 1e-3).reshape(x.shape)
        return rows if w is None else rows * w[:, None] + b[:, None]

    def ours(x: Any, *more: Any) -> Any:
        return bg.nn.group_norm(x, 2, *more, eps=1e-3)

    x = _numbers(2, 4, 3)
    gradients_agree(bg, ours, theirs, [x, _numbers(4), _numbers(4)])
    gradients_agree(bg, ours, theirs, [x])


@pytest.mark.parametrize("shape", [(4, 2), (2, 2, 3)])
def test_batch_norm_in_training(bg: Any, shape: tuple[int, ...]) -> None:
    axes, each = (0, *range(2, len(shape))), (-1, *(1,) * (len(shape) - 2))
    mean, variance = bg.zeros(2), bg.ones(2)

    def theirs(x: np.ndarray, w: Any, b: Any) -> np.ndarray:
        return normalised(x, axes, 1e-3) * w.reshape(each) + b.reshape(each)

    def ours(x: Any, w: Any, b: Any) -> Any:
        return bg.nn.batch_norm(x, mean, variance, w, b, training=True, eps=1e-3)

    x = _numbers(*shape)
    gradients_agree(bg, ours, theirs, [x, _numbers(2), _numbers(2)])
    np.testing.assert_allclose(mean.numpy(), x.mean(axes) * 0.1, rtol=1e-4, atol=1e-6)
    second_gradients_agree(bg, ours, theirs, [x, _numbers(2), _numbers(2)])


def test_batch_norm_with_given_statistics(bg: Any) -> None:
    def theirs(x: np.ndarray, m: Any, v: Any, w: Any = None, b: Any = None) -> np.ndarray:
        found = (x - m[:, None]) / np.sqrt(v[:, None] + 1e-3)
        return found if w is None else found * w[:, None] + b[:, None]

    def ours(*given: Any) -> Any:
        return bg.nn.batch_norm(*given, eps=1e-3)

    arrays = [_numbers(2, 2, 3), _numbers(2), np.float32([0.5, 2]), _numbers(2), _numbers(2)]
    gradients_agree(bg, ours, theirs, arrays)
    gradients_agree(bg, ours, theirs, arrays[:3])
