"""Losses with a margin between scores."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import composed
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.nn import gates, inputs
from browsergpu.functions.nn.activations import relu
from browsergpu.functions.nn.losses import broadcast_factor, check_reduction, reduced
from browsergpu.functions.operands import array
from browsergpu.functions.ordering import sorting


@widened("input")
@composed("input")
def hinge_embedding_loss(
    input: Array, target: Array, margin: float = 1.0, *, reduction: str = "mean"
) -> Array:
    """Return ``input`` for targets of 1, and ``max(0, margin - input)`` for targets of -1.

    Parameters
    ----------
    input : Array
        Distances, float32 or float16, of any shape.
    target : Array
        1 or -1 for each element of ``input``.
    margin : float, optional
        The distance from which targets of -1 have no loss.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "hinge_embedding_loss"
    check_reduction(op, reduction)
    x = inputs.floats(op, "input", input)
    sign = inputs.shaped(op, "target", array(op, "target", target), x.shape)
    near = relu(checks.real(op, "margin", margin) - x)
    losses = elementwise.where(elementwise.not_equal(sign, 1), near, 0.0)
    own = elementwise.where(elementwise.not_equal(sign, -1), x, 0.0)
    return reduced(elementwise.add(losses, own), reduction)


@widened("input1", "input2")
@composed("input1", "input2")
def margin_ranking_loss(
    input1: Array, input2: Array, target: Array, margin: float = 0.0, *, reduction: str = "mean"
) -> Array:
    """Return ``max(0, -target * (input1 - input2) + margin)``.

    Parameters
    ----------
    input1, input2 : Array
        Scores, float32 or float16, of one shape.
    target : Array
        1 if the first score is to be higher, -1 if the second is. Of the shape of the scores.
    margin : float, optional
        The least difference without loss.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all pairs.

    Returns
    -------
    Array
        Shape [], or the shape of ``input1`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If the scores are not floats.
    """
    op = "margin_ranking_loss"
    check_reduction(op, reduction)
    a, b = inputs.floats(op, "input1", input1), inputs.floats(op, "input2", input2)
    inputs.shaped(op, "input2", b, a.shape)
    sign = inputs.shaped(op, "target", array(op, "target", target), a.shape)
    bound = checks.real(op, "margin", margin)
    signed = elementwise.multiply(elementwise.subtract(b, a), sign.astype(a.dtype, copy=False))
    return reduced(relu(signed + bound), reduction)


@widened("input")
@composed("input")
def soft_margin_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """Return ``log(1 + exp(-target * input))``.

    Parameters
    ----------
    input : Array
        Scores, float32 or float16, of any shape.
    target : Array
        1 or -1 for each score.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "soft_margin_loss"
    check_reduction(op, reduction)
    x = inputs.floats(op, "input", input)
    sign = inputs.shaped(op, "target", array(op, "target", target), x.shape)
    signed = elementwise.multiply(x, sign.astype(x.dtype, copy=False))
    return reduced(-gates.logsigmoid(signed), reduction)


@widened("input", "target")
@composed("input", "target", "weight")
def multilabel_soft_margin_loss(
    input: Array, target: Array, weight: Array | None = None, *, reduction: str = "mean"
) -> Array:
    """Return the mean over classes of binary cross entropies of logits.

    Parameters
    ----------
    input : Array
        Logits of shape [..., C], float32 or float16.
    target : Array
        Whether each class is present, 0 or 1, as floats of the shape of ``input``.
    weight : Array, optional
        A factor for each class, of shape [C].
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all samples.

    Returns
    -------
    Array
        Shape [], or [...] for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "multilabel_soft_margin_loss"
    check_reduction(op, reduction)
    x, t = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    inputs.shaped(op, "target", t, x.shape)
    if not x.ndim:
        raise InvalidArgument(op, "input", x, "have an axis of classes")
    losses = -(t * gates.logsigmoid(x) + (1 - t) * gates.logsigmoid(-x))
    if weight is not None:
        losses = losses * broadcast_factor(op, "weight", weight, x)
    return reduced(statistics.mean(losses, axis=-1), reduction)


def _samples(op: str, input: Any) -> tuple[Array, bool]:
    """Return scores as [N, C], and whether they were one sample."""
    x = inputs.floats(op, "input", input)
    if x.ndim not in (1, 2) or not x.shape[-1]:
        raise InvalidArgument(op, "input", x, "have shape [N, C] or [C], with classes")
    return (manipulation.expand_dims(x, axis=0), True) if x.ndim == 1 else (x, False)


def _finished(losses: Array, alone: bool, reduction: str) -> Array:
    return reduced(manipulation.squeeze(losses, 0) if alone else losses, reduction)


@widened("input")
@composed("input", "weight")
def multi_margin_loss(
    input: Array, target: Array, p: int = 1, margin: float = 1.0, weight: Array | None = None, *,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """Return the mean over other classes of ``max(0, margin - input[y] + input[i])**p``.

    y is the target's class. The sum is divided by the number of all classes.

    Parameters
    ----------
    input : Array
        Scores of shape [N, C] or [C], float32 or float16.
    target : Array
        Classes, as integers of shape [N] or [].
    p : {1, 2}, optional
        The exponent.
    margin : float, optional
        The least difference without loss.
    weight : Array, optional
        A factor for each target's class, of shape [C].
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all samples.

    Returns
    -------
    Array
        Shape [], or the shape of ``target`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or an option is invalid.
    InvalidType
        If ``input`` does not consist of floats, or ``target`` of integers.
    """
    op = "multi_margin_loss"
    check_reduction(op, reduction)
    x, alone = _samples(op, input)
    goals = inputs.whole(op, "target", target)
    inputs.shaped(op, "target", goals, () if alone else x.shape[:1])
    goals = manipulation.reshape(goals, (x.shape[0], 1))
    if p not in (1, 2):
        raise InvalidArgument(op, "p", p, "1 or 2")
    own = sorting.take_along_axis(x, goals, axis=1)
    terms = relu(checks.real(op, "margin", margin) - own + x)
    if p == 2:
        terms = elementwise.square(terms)
    factors = inputs.vector(op, "weight", weight, x.shape[1])
    if factors is not None:
        terms = terms * factors[goals]
    classes = creation.arange(x.shape[1], dtype="int32", device=x.device)
    terms = elementwise.where(elementwise.equal(classes, goals), 0.0, terms)
    return _finished(statistics.mean(terms, axis=1), alone, reduction)


@widened("input")
@composed("input")
def multilabel_margin_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """Return the sum of ``max(0, 1 - input[y] + input[i])`` over target classes y and others i.

    The sum is divided by the number of all classes.

    Parameters
    ----------
    input : Array
        Scores of shape [N, C] or [C], float32 or float16.
    target : Array
        Classes of each sample, as integers of the shape of ``input``. They end before the first
        negative number.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all samples.

    Returns
    -------
    Array
        Shape [], or [N] for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If ``input`` does not consist of floats, or ``target`` of integers.
    """
    op = "multilabel_margin_loss"
    check_reduction(op, reduction)
    x, alone = _samples(op, input)
    goals = inputs.whole(op, "target", target)
    inputs.shaped(op, "target", goals, x.shape[1:] if alone else x.shape)
    goals = manipulation.reshape(goals, x.shape)
    ended = sorting.cumulative_sum((goals < 0).astype("int32"), axis=1) > 0
    places = elementwise.where(ended, 0, goals)
    classes = creation.arange(x.shape[1], dtype="int32", device=x.device)
    pairs = elementwise.equal(goals[:, :, None], classes)  # [N, targets, classes]
    is_goal = statistics.any(elementwise.logical_and(pairs, ~ended[:, :, None]), axis=1)
    own = sorting.take_along_axis(x, places, axis=1)
    terms = relu(1 - manipulation.expand_dims(own, axis=2)
                      + manipulation.expand_dims(x, axis=1))  # fmt: skip
    counts = elementwise.logical_and(~ended[:, :, None], ~is_goal[:, None, :])
    terms = elementwise.where(counts, terms, 0.0)
    losses = elementwise.divide(statistics.sum(terms, axis=(1, 2)), float(x.shape[1]))
    return _finished(losses, alone, reduction)
