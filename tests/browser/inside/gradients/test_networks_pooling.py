"""Gradients of pooling against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays import nn_reference as nn
from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Shape of the input, kernel, stride, padding, and ceil_mode.
POOLS: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], bool]]
POOLS = {
    "side by side": ((1, 2, 4, 6), (2, 3), (2, 3), (0, 0), False),
    "overlapping": ((2, 5, 4), (3, 2), (2, 1), (1, 1), False),
    "with gaps": ((1, 1, 6, 7), (2, 2), (3, 4), (1, 0), False),
    "upwards": ((1, 1, 6, 5), (3, 2), (2, 2), (1, 0), True),
    "one axis": ((2, 2, 7), (3,), (2,), (1,), False),
    "three axes": ((1, 2, 3, 4, 3), (2, 3, 2), (1, 2, 1), (1, 0, 1), False),
}


def _different(shape: tuple[int, ...]) -> np.ndarray:
    """Return random elements that differ by at least 1/8."""
    count = int(np.prod(shape))
    return (np.random.default_rng(count).permutation(count).reshape(shape) / 8).astype(np.float32)


@pytest.mark.parametrize("name", POOLS)
def test_maxima(bg: Any, name: str) -> None:
    shape, kernel, stride, padding, upwards = POOLS[name]
    function = getattr(bg.nn, f"max_pool{len(kernel)}d")
    gradients_agree(
        bg, lambda x: function(x, kernel, stride, padding, ceil_mode=upwards),
        lambda x: nn.pooled("max", x, kernel, stride, padding, upwards), [_different(shape)],
    )  # fmt: skip


@pytest.mark.parametrize("included", [True, False])
@pytest.mark.parametrize("name", POOLS)
def test_means(bg: Any, name: str, included: bool) -> None:
    shape, kernel, stride, padding, upwards = POOLS[name]
    function = getattr(bg.nn, f"avg_pool{len(kernel)}d")
    gradients_agree(
        bg, lambda x: function(x, kernel, stride, padding, upwards, included),
        lambda x: nn.pooled("mean", x, kernel, stride, padding, upwards, included),
        [_different(shape)],
    )  # fmt: skip


def test_maxima_with_indices_and_dilation(bg: Any) -> None:
    x = _different((1, 2, 5, 6))

    def theirs(v: np.ndarray) -> np.ndarray:
        rows = [v[..., a : a + 3, :] for a in (0, 2)]
        tall = np.maximum(*rows)
        return np.maximum(tall[..., :3:2], tall[..., 3::2])

    def ours(v: Any) -> Any:
        return bg.nn.max_pool2d(v, 2, (1, 2), dilation=(2, 3), return_indices=True)[0]

    gradients_agree(bg, ours, theirs, [x])
    second_gradients_agree(bg, lambda v: ours(v) ** 2, lambda v: theirs(v) ** 2, [x[:, :1]])


def test_of_equal_elements_the_first(bg: Any) -> None:
    x = bg.asarray(np.zeros((1, 2, 4), np.float32))
    slope = bg.grad(lambda v: bg.nn.max_pool2d(v, 2, 1).sum())(x)
    assert slope.tolist() == [[[1, 1, 1, 0], [0, 0, 0, 0]]]
    slope = bg.grad(lambda v: bg.nn.max_pool3d(v[None], (1, 2, 2)).sum())(x)
    assert slope.tolist() == [[[1, 0, 1, 0], [0, 0, 0, 0]]]


@pytest.mark.parametrize("size", [(2, 3), (3, None), 1])
def test_adaptive_means(bg: Any, size: Any) -> None:
    sizes = size if isinstance(size, tuple) else (size, size)

    def theirs(x: np.ndarray) -> np.ndarray:
        return nn.averaged(x, sizes)

    x = _different((2, 4, 5))
    gradients_agree(bg, lambda v: bg.nn.adaptive_avg_pool2d(v, size), theirs, [x])
    second_gradients_agree(
        bg, lambda v: bg.nn.adaptive_avg_pool2d(v * v, size), lambda v: theirs(v * v), [x[:1]]
    )
