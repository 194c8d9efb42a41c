"""Gradients of loss functions. Means are divided in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.engine.core.checks import product
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.nn.activations import log_softmax, sigmoid


def of_mse_loss(g: Array, input: Array, target: Array, reduction: str) -> tuple[Any, Any]:
    """Return the gradients for input and target."""
    return _difference_gradients(g, (input - target) * 2, reduction)


def of_l1_loss(g: Array, input: Array, target: Array, reduction: str) -> tuple[Any, Any]:
    """Return the gradients for input and target."""
    return _difference_gradients(g, elementwise.sign(input - target), reduction)


def of_huber_loss(
    g: Array, input: Array, target: Array, reduction: str, delta: float
) -> tuple[Any, Any]:
    """Return the gradients for input and target."""
    edge = float(delta)
    return _difference_gradients(g, elementwise.clip(input - target, -edge, edge), reduction)


def of_smooth_l1_loss(
    g: Array, input: Array, target: Array, reduction: str, beta: float
) -> tuple[Any, Any]:
    """Return the gradients for input and target."""
    if not beta:
        return of_l1_loss(g, input, target, reduction)
    return _difference_gradients(
        g, elementwise.clip((input - target) / float(beta), -1, 1), reduction
    )


def _difference_gradients(g: Array, slope: Array, reduction: str) -> tuple[Any, Any]:
    """Return the gradients for input and target of a loss with this slope in their difference."""
    found: Any = slope * _loss_gradient(g, slope, reduction)
    return found, -found


def _loss_gradient(g: Array, like: Array, reduction: str) -> Any:
    """Return the gradient of each loss. It broadcasts to the shape of the losses."""
    if reduction != "mean":
        return g
    return data_types.astype(g, "float32", copy=False) / max(product(like.shape), 1)


def of_logits(
    g: Array, input: Array, target: Array, weight: Any, reduction: str, pos_weight: Any
) -> tuple[Any, ...]:
    """Return the gradients for input, target, weight and pos_weight."""
    x, t = input, target
    own: Any = _loss_gradient(g, x, reduction)
    logs: Any = elementwise.logaddexp(-x, 0.0)
    share: Any = sigmoid(x)
    losses = x * (1 - t)
    of_weight = of_factor = None
    if pos_weight is None:
        slope, of_target = share - t, -x
    else:
        factor = (pos_weight - 1) * t + 1
        slope, of_target = share * factor - pos_weight * t, logs * (pos_weight - 1) - x
    if weight is not None:
        of_weight = own * (losses + (logs if pos_weight is None else logs * factor))
        own = own * weight
    if pos_weight is not None:
        of_factor = own * logs * t
    return own * slope, own * of_target, of_weight, of_factor


def of_logarithms(
    g: Array, y: Array, input: Array, target: Array, weight: Any, ignore_index: int, reduction: str,
    needs: Sequence[bool],
) -> tuple[Any, Any]:  # fmt: skip
    """Return the gradients of nll_loss for input and weight."""
    found, _, of_weight = _class_gradients(
        g, y, input, target, weight, ignore_index, reduction, 0.0, needs[1]
    )  # fmt: skip
    return found, of_weight


def of_cross_entropy(
    g: Array, y: Array, input: Array, target: Array, weight: Any, ignore_index: int,
    reduction: str, label_smoothing: float, sums: Any, needs: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the gradients for input, target and weight.

    ``sums`` has the largest logit of each sample, and the logarithm of the sum of exp(input -
    largest), or is None.
    """
    axis = min(input.ndim - 1, 1)
    is_plain = not any(type(x) in INTERCEPTED for x in (g, input, weight))
    if sums is not None and is_plain and not needs[2]:
        return _of_sums(g, input, target, weight, ignore_index, reduction, sums), None, None
    if input.dtype != y.dtype:  # float16 logits within autocast
        input = data_types.astype(input, y.dtype)
    logs = log_softmax(input, axis)
    of_logs, of_target, of_weight = _class_gradients(
        g, y, logs, target, weight, ignore_index, reduction, float(label_smoothing), needs[2]
    )
    total = statistics.sum(of_logs, axis=axis, keepdims=True)
    return of_logs - elementwise.exp(logs) * total, of_target, of_weight


def _of_sums(
    g: Array, input: Array, target: Array, weight: Any, ignore_index: int, reduction: str, sums: Any
) -> Any:
    """Return the gradient for logits. One kernel reads them, once."""
    axis = min(input.ndim - 1, 1)
    classes = input.shape[axis]
    goals = _as_int32(target)
    counts = elementwise.not_equal(goals, ignore_index)
    is_outside = elementwise.logical_or(goals < 0, goals >= classes)
    scale: Any = data_types.astype(counts, "float32")
    if weight is not None:
        scale = scale * weight[elementwise.where(is_outside, 0, goals)]
    own: Any = data_types.astype(g, "float32", copy=False)
    if reduction == "mean":
        own = own / statistics.sum(scale)
    is_wrong = elementwise.logical_and(is_outside, counts)
    scale = elementwise.where(is_wrong, float("nan"), scale * own)
    numbers = creation.arange(classes, dtype="int32", device=g.device)
    places = manipulation.reshape(numbers, (classes, *(1,) * (input.ndim - axis - 1)))
    largest, logarithm, goal, factor = (
        manipulation.expand_dims(x, axis=axis) for x in (sums[..., 0], sums[..., 1], goals, scale)
    )
    logits = data_types.astype(input, "float32", copy=False)
    shares = elementwise.exp(logits - largest - logarithm)
    hot = data_types.astype(elementwise.equal(goal, places), "float32")
    return (shares - hot) * factor


def _class_gradients(
    g: Any, y: Any, logs: Any, target: Any, weight: Any, ignore_index: int, reduction: str,
    smoothing: float, needs_weight: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the gradients for log-probabilities, target probabilities and class weights.

    A loss is the sum of log-probabilities times targets times weights.
    """
    axis = min(logs.ndim - 1, 1)
    classes = logs.shape[axis]
    by_class = (classes, *(1,) * (logs.ndim - axis - 1))
    factors = 1.0 if weight is None else manipulation.reshape(weight, by_class)
    own: Any = data_types.astype(g, "float32", copy=False)
    if reduction == "none":
        own = manipulation.expand_dims(own, axis=axis)
    of_target = spare = None
    if target.dtype.kind == "f":
        goals = target * (1 - smoothing) + smoothing / classes
        if reduction == "mean":
            own = own / max(product(logs.shape) // classes, 1)
        of_target = logs * factors * own * (smoothing - 1)
    else:
        hot, counted = _one_hot(target, ignore_index, axis, classes, logs)
        goals = hot * (1 - smoothing) + counted * (smoothing / classes) if smoothing else hot
        if reduction == "mean":
            own = own / statistics.sum(counted if weight is None else hot * factors)
            spare = hot * y  # the weights are in the divisor, too
    of_weight = None
    if needs_weight:
        terms = elementwise.where(elementwise.equal(goals, 0), 0.0, goals * logs)
        slopes = -(terms if spare is None else terms + spare) * own
        others = tuple(n for n in range(logs.ndim) if n != axis)
        of_weight = statistics.sum(slopes, axis=others)
    return -(goals * factors) * own, of_target, of_weight


def _as_int32(target: Any) -> Any:
    """Return classes as int32. 64-bit ones are clamped to its range, and stay out of range."""
    if target.dtype.itemsize == 8:
        target = elementwise.minimum(target, 2**31 - 1)
        if target.dtype.kind == "i":
            target = elementwise.maximum(target, -(2**31))
    return data_types.astype(target, "int32")


def _one_hot(target: Any, ignore_index: int, axis: int, classes: int, like: Any) -> tuple[Any, Any]:
    """Return one-hot targets, and 1 for each target that counts.

    The targets are NaN for all classes if a target that counts is out of range.
    """
    goals = manipulation.expand_dims(_as_int32(target), axis=axis)
    counts = elementwise.not_equal(goals, ignore_index)
    numbers = creation.arange(classes, dtype="int32", device=like.device)
    places = manipulation.reshape(numbers, (classes, *(1,) * (like.ndim - axis - 1)))
    is_hot = elementwise.logical_and(elementwise.equal(goals, places), counts)
    is_outside = elementwise.logical_or(goals < 0, goals >= classes)
    is_wrong = elementwise.logical_and(is_outside, counts)
    hot = elementwise.where(is_wrong, float("nan"), data_types.astype(is_hot, "float32"))
    return hot, data_types.astype(counts, "float32")
