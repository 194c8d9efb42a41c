"""Gradients of losses against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.nn_reference import log_softmax
from inside.gradients.checking import gradients_agree, second_gradients_agree
from inside.gradients.losses_reference import REDUCTIONS, entropy

pytestmark = [pytest.mark.native, pytest.mark.firefox]

RNG = np.random.default_rng(0)
X, T = (RNG.normal(size=(3, 2)).astype(np.float32) * 2 for _ in range(2))


def _huber(d: np.ndarray) -> np.ndarray:
    return np.where(d < 0.7, d * d / 2, 0.7 * (d - 0.35))


def _smooth(d: np.ndarray) -> np.ndarray:
    return np.where(d < 0.7, d * d / 1.4, d - 0.35)


BETWEEN: dict[str, tuple[dict[str, Any], Callable[[np.ndarray], np.ndarray]]] = {
    "mse_loss": ({}, np.square),
    "l1_loss": ({}, np.abs),
    "huber_loss": ({"delta": 0.7}, _huber),
    "smooth_l1_loss": ({"beta": 0.7}, _smooth),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", BETWEEN)
def test_of_differences(bg: Any, name: str, reduction: str) -> None:
    settings, theirs = BETWEEN[name]
    ours = getattr(bg.nn, name)
    gradients_agree(
        bg, lambda x, t: ours(x, t, reduction=reduction, **settings),
        lambda x, t: REDUCTIONS[reduction](theirs(np.abs(x - t))), [X, T],
    )  # fmt: skip


def test_smooth_l1_without_a_bend(bg: Any) -> None:
    gradients_agree(
        bg, lambda x, t: bg.nn.smooth_l1_loss(x, t, beta=0),
        lambda x, t: np.abs(x - t).mean(), [X, T],
    )  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("given", ["", "weight", "pos_weight", "weight pos_weight"])
def test_binary_cross_entropy(bg: Any, given: str, reduction: str) -> None:
    names = given.split()
    more = {"weight": np.float32([[0.5], [2], [1]]), "pos_weight": np.float32([3, 0.4])}
    target = RNG.random((3, 2)).astype(np.float32)

    def theirs(x: np.ndarray, t: np.ndarray, *factors: np.ndarray) -> Any:
        by = dict(zip(names, factors, strict=True))
        losses = by.get("pos_weight", 1.0) * t * np.logaddexp(-x, 0) + (1 - t) * np.logaddexp(x, 0)
        return REDUCTIONS[reduction](losses * by.get("weight", 1.0))

    def ours(x: Any, t: Any, *factors: Any) -> Any:
        by = dict(zip(names, factors, strict=True))
        return bg.nn.binary_cross_entropy_with_logits(x, t, reduction=reduction, **by)

    gradients_agree(bg, ours, theirs, [X, target, *(more[name] for name in names)])


SHAPES = {
    "one": ((4,), np.array(2)),
    "rows": ((3, 4), np.array([1, -1, 3])),
    "pictures": ((2, 3, 2), np.array([[0, -1], [2, 1]])),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_of_classes(bg: Any, name: str, reduction: str) -> None:
    shape, target = SHAPES[name]
    logits = RNG.normal(size=shape).astype(np.float32)
    weight = RNG.uniform(0.5, 2, shape[min(len(shape) - 1, 1)]).astype(np.float32)
    goals = bg.asarray(target.astype(np.int32))
    for arrays in ([logits], [logits, weight]):

        def likelihood(x: Any, *w: Any) -> Any:
            return bg.nn.nll_loss(x, goals, *w, ignore_index=-1, reduction=reduction)

        gradients_agree(
            bg, likelihood,
            lambda x, w=None: entropy(x, target, w, reduction), arrays,
        )  # fmt: skip
        for smoothing in (0.0, 0.3):

            def ours(x: Any, *w: Any, smoothing: float = smoothing) -> Any:
                return bg.nn.cross_entropy(
                    x, goals, *w, ignore_index=-1, reduction=reduction, label_smoothing=smoothing
                )

            gradients_agree(
                bg, ours,
                lambda x, w=None, s=smoothing: entropy(
                    log_softmax(x, min(x.ndim - 1, 1)), target, w, reduction, s
                ), arrays,
            )  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_of_probabilities(bg: Any, reduction: str) -> None:
    logits, weight = RNG.normal(size=(2, 3)).astype(np.float32), np.float32([0.5, 1, 2])
    target = RNG.dirichlet(np.ones(3), 2).astype(np.float32)
    for arrays in ([logits, target], [logits, target, weight]):
        gradients_agree(
            bg, lambda x, t, *w: bg.nn.cross_entropy(
                x, t, *w, reduction=reduction, label_smoothing=0.2
            ),
            lambda x, t, w=None: entropy(log_softmax(x, 1), t, w, reduction, 0.2), arrays,
        )  # fmt: skip


def test_second_gradients(bg: Any) -> None:
    logits, target = RNG.normal(size=(2, 3)).astype(np.float32), np.array([2, 0])
    goals = bg.asarray(target.astype(np.int32))
    second_gradients_agree(
        bg, lambda x: bg.nn.cross_entropy(x, goals),
        lambda x: entropy(log_softmax(x, 1), target, None, "mean"), [logits],
    )  # fmt: skip
    second_gradients_agree(bg, bg.nn.mse_loss, lambda x, t: np.mean((x - t) ** 2), [X, T])
