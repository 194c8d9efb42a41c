"""Losses, and the optimizers of ONNX's training domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator

_DOMAIN = "ai.onnx.preview.training"


def _picked_loss(log_p: Any, target: Any, weight: Any, ignore: int | None, reduction: str) -> Any:
    """Return the negative logarithms of the targets' probabilities, weighted and reduced."""
    own = target.astype("int64", copy=False)
    counted = None if ignore is None else own != ignore
    safe = own if counted is None else bg.where(counted, own, 0)
    picked = bg.take_along_axis(log_p, bg.expand_dims(safe, 1), 1)
    losses = -picked.reshape(target.shape)
    share = None
    if weight is not None:
        share = bg.take(weight, safe)
    if counted is not None:
        ones = share if share is not None else bg.ones(target.shape, dtype=log_p.dtype)
        share = bg.where(counted, ones, 0)
        losses = bg.where(counted, losses, 0)
    if share is not None:
        losses = losses * share
    if reduction == "none":
        return losses.astype(log_p.dtype, copy=False)
    total = bg.sum(losses)
    if reduction == "mean":
        total = total / (losses.size if share is None else bg.sum(share))
    elif reduction != "sum":
        raise ValueError(f"reduction must be none, sum or mean, got {reduction!r}")
    return total.astype(log_p.dtype, copy=False)


@operator("NegativeLogLikelihoodLoss", since=12)
def nll_loss(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int | None = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the negative log likelihood of targets."""
    return _picked_loss(x, target, weight, ignore_index, reduction)


@operator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(
    scores: Any, labels: Any, weights: Any = None, *, ignore_index: int | None = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the cross entropy of labels, and the log probabilities."""
    log_p = bg.nn.log_softmax(scores, 1)
    return _picked_loss(log_p, labels, weights, ignore_index, reduction), log_p


def _groups(tensors: tuple[Any, ...], each: int) -> list[tuple[Any, ...]]:
    count = len(tensors) // each
    return [tuple(tensors[n * count + at] for n in range(each)) for at in range(count)]


def _joined(results: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(one for part in zip(*results, strict=True) for one in part)


def _updated(
    tensors: tuple[Any, ...], each: int, update: Callable[..., tuple[Any, ...]]
) -> tuple[Any, ...]:
    return _joined([update(*group) for group in _groups(tensors, each)])


@operator("Adam", domain=_DOMAIN, host=("t",))
def adam(
    r: Any, t: Any, *tensors: Any, alpha: float = 0.9, beta: float = 0.999, epsilon: float = 1e-6,
    norm_coefficient: float = 0.0, norm_coefficient_post: float = 0.0,
) -> Any:  # fmt: skip
    """Return the parameters and states after a step of Adam."""
    step = int(np.asarray(t).reshape(-1)[0])
    rate = r * ((1 - beta**step) ** 0.5 / (1 - alpha**step)) if step > 0 else r

    def update(x: Any, g: Any, v: Any, h: Any) -> tuple[Any, ...]:
        own = g + x * norm_coefficient
        v_new = v * alpha + own * (1 - alpha)
        h_new = h * beta + own * own * (1 - beta)
        x_new = x - rate * (v_new / (bg.sqrt(h_new) + epsilon))
        return x_new * (1 - norm_coefficient_post), v_new, h_new

    return _updated(tensors, 4, update)


@operator("Adagrad", domain=_DOMAIN, host=("t",))
def adagrad(
    r: Any, t: Any, *tensors: Any, decay_factor: float = 0.0, epsilon: float = 0.0,
    norm_coefficient: float = 0.0,
) -> Any:  # fmt: skip
    """Return the parameters and states after a step of Adagrad."""
    rate = r / (1 + int(np.asarray(t).reshape(-1)[0]) * decay_factor)

    def update(x: Any, g: Any, h: Any) -> tuple[Any, ...]:
        own = g + x * norm_coefficient
        h_new = h + own * own
        return x - rate * own / (bg.sqrt(h_new) + epsilon), h_new

    return _updated(tensors, 3, update)


@operator("Momentum", domain=_DOMAIN, host=("t",))
def momentum(
    r: Any, t: Any, *tensors: Any, alpha: float, beta: float, mode: str, norm_coefficient: float
) -> Any:
    """Return the parameters and states after a step of gradient descent with momentum."""
    factor = beta if int(np.asarray(t).reshape(-1)[0]) > 0 else 1.0

    def update(x: Any, g: Any, v: Any) -> tuple[Any, ...]:
        own = g + x * norm_coefficient
        v_new = v * alpha + own * factor
        return x - r * (own + v_new * alpha if mode == "nesterov" else v_new), v_new

    return _updated(tensors, 3, update)
