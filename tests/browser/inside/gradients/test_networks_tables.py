"""Gradients of linear layers and embeddings against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(0)


def _numbers(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def _linear(x: np.ndarray, w: np.ndarray, b: Any = 0.0) -> np.ndarray:
    return x @ w.T + b


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3)])
def test_linear(bg: Any, shape: tuple[int, ...]) -> None:
    arrays = [_numbers(*shape), _numbers(4, 3), _numbers(4)]
    gradients_agree(bg, bg.nn.linear, _linear, arrays)
    gradients_agree(bg, bg.nn.linear, _linear, arrays[:2])
    second_gradients_agree(
        bg, lambda x, w: bg.nn.linear(x * x, w), lambda x, w: _linear(x * x, w), arrays[:2]
    )


def test_embedding(bg: Any) -> None:
    rows = np.array([[0, 2, 2], [3, 0, 2]])
    table = _numbers(4, 2)
    gradients_agree(
        bg, lambda w: bg.nn.embedding(bg.asarray(rows.astype(np.int32)), w),
        lambda w: w[rows], [table],
    )  # fmt: skip
    outside = bg.asarray(np.array([1, -1, 4, 1], np.int32))
    found = bg.grad(lambda w: bg.nn.embedding(outside, w).sum())(bg.asarray(table))
    assert found.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]


def test_one_hot_has_no_gradient(bg: Any) -> None:
    assert not bg.nn.one_hot(bg.asarray(np.array([1, 0], np.int32)), 3).requires_grad
