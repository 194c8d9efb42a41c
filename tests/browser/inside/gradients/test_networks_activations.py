"""Gradients of activations and dropout against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays import nn_reference as nn
from inside.gradients.checking import gradients_agree, second_gradients_agree

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: On both sides of every kink, and on no kink.
VALUES = np.float32([[-4, -2.2, -0.7, -0.1], [0.2, 1.1, 2.6, 3.7]])
SMOOTH = ("sigmoid", "silu", "tanh", "softplus", "gelu")


@pytest.mark.parametrize("name", nn.ACTIVATIONS)
def test_activations(bg: Any, name: str) -> None:
    ours, theirs = getattr(bg.nn, name), nn.ACTIVATIONS[name]
    gradients_agree(bg, ours, theirs, [VALUES])
    if name in SMOOTH:
        second_gradients_agree(bg, ours, theirs, [VALUES[:, 1:3]])


def test_settings_of_activations(bg: Any) -> None:
    gradients_agree(
        bg, lambda x: bg.nn.leaky_relu(x, 0.3), lambda x: np.where(x > 0, x, 0.3 * x), [VALUES]
    )
    gradients_agree(
        bg, lambda x: bg.nn.elu(x, 0.6),
        lambda x: np.where(x > 0, x, 0.6 * np.expm1(np.minimum(x, 0))), [VALUES],
    )  # fmt: skip
    gradients_agree(
        bg, lambda x: bg.nn.softplus(x, 2.0, 3.0),
        lambda x: np.where(2 * x > 3, x, np.logaddexp(2 * x, 0) / 2), [VALUES],
    )  # fmt: skip

    def approximate(x: np.ndarray) -> np.ndarray:
        return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2

    gradients_agree(bg, lambda x: bg.nn.gelu(x, "tanh"), approximate, [VALUES])
    second_gradients_agree(bg, lambda x: bg.nn.gelu(x, "tanh"), approximate, [VALUES[:, 1:3]])


def test_slopes_are_finite_far_out(bg: Any) -> None:
    far = bg.asarray(np.float32([-200, 200]))
    for name in nn.ACTIVATIONS:
        slope = bg.grad(lambda x, name=name: getattr(bg.nn, name)(x).sum())
        assert np.isfinite(slope(far).numpy()).all(), name
        second = bg.grad(lambda x, slope=slope: slope(x).sum())
        assert np.isfinite(second(far).numpy()).all(), name


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(bg: Any, axis: int) -> None:
    x = np.random.default_rng(axis % 3).normal(size=(2, 3, 2)).astype(np.float32)

    def soft(x: np.ndarray) -> np.ndarray:
        return np.exp(nn.log_softmax(x, axis))

    gradients_agree(bg, lambda v: bg.nn.softmax(v, axis), soft, [x])
    gradients_agree(
        bg, lambda v: bg.nn.log_softmax(v, axis), lambda v: nn.log_softmax(v, axis), [x]
    )
    if axis == 1:
        second_gradients_agree(bg, lambda v: bg.nn.softmax(v, axis), soft, [x])
        second_gradients_agree(
            bg, lambda v: bg.nn.log_softmax(v, axis), lambda v: nn.log_softmax(v, axis), [x]
        )


def test_softmax_of_half_precision_as_float32(bg: Any) -> None:
    x = np.float16([[0.5, -1, 2]])
    gradients_agree(
        bg, lambda v: bg.nn.softmax(v, dtype="float32"),
        lambda v: np.exp(nn.log_softmax(v, -1)), [x],
    )  # fmt: skip


def test_the_gradient_of_dropout_uses_its_mask(bg: Any) -> None:
    x = bg.asarray(np.zeros(64, np.float32))  # zeros hide the mask in the result
    weights = np.arange(1, 65, dtype=np.float32)

    def dropped(v: Any) -> Any:
        generator = bg.random.default_rng(3)
        return (bg.nn.dropout(v + 1, 0.25, generator=generator) * bg.asarray(weights)).sum()

    kept = bg.nn.dropout(x + 1, 0.25, generator=bg.random.default_rng(3)).numpy()
    assert 0 < (kept == 0).sum() < 64
    np.testing.assert_allclose(bg.grad(dropped)(x).numpy(), kept * weights, rtol=1e-6)
    for p, training, expected in ((0.5, False, 1), (0.0, True, 1), (1.0, True, 0)):
        generator = bg.random.default_rng(1)
        slope = bg.grad(
            lambda v, p=p, t=training, g=generator: bg.nn.dropout(v, p, t, generator=g).sum()
        )
        assert (slope(x).numpy() == expected).all()
