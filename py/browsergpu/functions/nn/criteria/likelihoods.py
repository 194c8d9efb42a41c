"""Losses that are negative logarithms of likelihoods."""

from __future__ import annotations

from math import log, pi
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import composed, differentiable
from browsergpu.arrays.autograd.variable import plain
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.losses import broadcast_factor, check_reduction, reduced

#: The least logarithm of a probability, as in PyTorch.
_LEAST_LOG = -100.0


def _logs(x: Array) -> tuple[Array, Array]:
    """Return log(x) and log(1 - x), at least -100."""
    hit = elementwise.maximum(elementwise.log(x), _LEAST_LOG)
    return hit, elementwise.maximum(elementwise.log1p(-x), _LEAST_LOG)


def _entropy_gradients(g: Array, input: Array, target: Array, weight: Any) -> tuple[Any, Any, Any]:
    hit, missed = _logs(plain(input))
    own = g if weight is None else g * weight
    spread = elementwise.maximum((1 - input) * input, 1e-12)
    of_weight = None
    if weight is not None:
        of_weight = g * -(target * hit + (1 - target) * missed)
    return own * (input - target) / spread, own * (missed - hit), of_weight


@differentiable(joint=(("input", "target", "weight"), _entropy_gradients))
def _entropy(input: Array, target: Array, weight: Array | None) -> Array:
    """Return the binary cross entropy of each probability."""
    hit, missed = _logs(input)
    found: Array = -(target * hit + (1 - target) * missed)
    return found if weight is None else found * weight


@widened("input", "target")
@composed("input", "target", "weight")
def binary_cross_entropy(
    input: Array, target: Array, weight: Array | None = None, *, reduction: str = "mean"
) -> Array:
    """Return the binary cross entropy of probabilities.

    The loss is ``-(target * log(input) + (1 - target) * log(1 - input))``, times ``weight``.
    Logarithms are at least -100, as in PyTorch.

    Parameters
    ----------
    input : Array
        Probabilities, float32 or float16, of any shape.
    target : Array
        Probabilities of the shape of ``input``.
    weight : Array, optional
        Factors of the losses. Floats that broadcast to the shape of ``input``.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "binary_cross_entropy"
    check_reduction(op, reduction)
    x = inputs.floats(op, "input", input)
    t = inputs.shaped(op, "target", inputs.floats(op, "target", target), x.shape)
    factor = None if weight is None else broadcast_factor(op, "weight", weight, x)
    return reduced(_entropy(x, t, factor), reduction)


@widened("input", "target")
@composed("input", "target")
def kl_div(
    input: Array, target: Array, *, reduction: str = "mean", log_target: bool = False
) -> Array:
    """Return the Kullback-Leibler divergence, ``target * (log(target) - input)``.

    Parameters
    ----------
    input : Array
        Log-probabilities, float32 or float16, of any shape.
    target : Array
        Probabilities of the shape of ``input``.
    reduction : {"mean", "batchmean", "sum", "none"}, optional
        "batchmean" divides the sum by the length of the first axis, which gives the divergence of
        distributions. "mean" divides by the number of elements, as in PyTorch.
    log_target : bool, optional
        Whether ``target`` has log-probabilities.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes differ, or ``reduction`` has another value.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "kl_div"
    if reduction != "batchmean":
        check_reduction(op, reduction)
    x, t = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    inputs.shaped(op, "target", t, x.shape)
    if checks.flag(op, "log_target", log_target):
        losses = elementwise.multiply(elementwise.exp(t), elementwise.subtract(t, x))
    else:
        positive = elementwise.where(elementwise.greater(t, 0), t, 1.0)
        losses = elementwise.multiply(t, elementwise.subtract(elementwise.log(positive), x))
    if reduction != "batchmean":
        return reduced(losses, reduction)
    if not x.ndim:
        raise InvalidArgument(op, "reduction", reduction, "'mean' for an array without axes")
    return elementwise.divide(statistics.sum(losses), float(x.shape[0]))


@widened("input", "target")
@composed("input", "target")
def poisson_nll_loss(
    input: Array, target: Array, log_input: bool = True, full: bool = False, eps: float = 1e-8, *,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """Return the negative log-likelihood of counts with a Poisson distribution.

    Parameters
    ----------
    input : Array
        Expected counts or their logarithms, float32 or float16, of any shape.
    target : Array
        Counts of the shape of ``input``, as floats.
    log_input : bool, optional
        Whether ``input`` has logarithms. The loss is ``exp(input) - target * input``, or else
        ``input - target * log(input + eps)``.
    full : bool, optional
        Whether to add Stirling's approximation of the term of the target.
    eps : float, optional
        Added to ``input`` in the logarithm.
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
        If an operand does not consist of floats.
    """
    op = "poisson_nll_loss"
    check_reduction(op, reduction)
    x, t = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    inputs.shaped(op, "target", t, x.shape)
    if checks.flag(op, "log_input", log_input):
        losses = elementwise.exp(x) - t * x
    else:
        losses = x - t * elementwise.log(x + checks.real(op, "eps", eps))
    if checks.flag(op, "full", full):
        large = elementwise.greater(t, 1)
        own = elementwise.where(large, t, 1.0)
        stirling = own * elementwise.log(own) - own + elementwise.log(own * (2 * pi)) * 0.5
        losses = losses + elementwise.where(large, stirling, 0.0)
    return reduced(losses, reduction)


@widened("input", "target", "var")
@composed("input", "target", "var")
def gaussian_nll_loss(
    input: Array, target: Array, var: Any, full: bool = False, eps: float = 1e-6, *,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """Return the negative log-likelihood of a normal distribution.

    The loss is ``(log(var) + (input - target)**2 / var) / 2``.

    Parameters
    ----------
    input : Array
        Means, float32 or float16, of any shape.
    target : Array
        Samples of the shape of ``input``.
    var : Array or float
        Variances of the shape of ``input``, or without its last axis, or with a last axis of 1.
    full : bool, optional
        Whether to add log(2 π) / 2.
    eps : float, optional
        The least variance. It does not change the gradient.
    reduction : {"mean", "sum", "none"}, optional
        "none" returns the losses of all elements.

    Returns
    -------
    Array
        Shape [], or the shape of ``input`` for "none".

    Raises
    ------
    InvalidArgument
        If the shapes do not fit, or ``reduction`` or ``eps`` is invalid.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "gaussian_nll_loss"
    check_reduction(op, reduction)
    x, t = inputs.floats(op, "input", input), inputs.floats(op, "target", target)
    inputs.shaped(op, "target", t, x.shape)
    least = checks.positive(op, "eps", eps)
    if not isinstance(var, Array):
        number = checks.real(op, "var", var)
        var = creation.full(x.shape, number, dtype=x.dtype, device=x.device)
    spread = inputs.floats(op, "var", var)
    if spread.shape != x.shape and spread.shape == x.shape[:-1]:
        spread = manipulation.expand_dims(spread, axis=-1)
    elif spread.shape not in (x.shape, (*x.shape[:-1], 1)):
        raise InvalidArgument(op, "var", spread, f"have shape {x.shape}, or a last axis of 1")
    own = plain(spread)
    # This difference is 0, and its gradient is the gradient of the variance.
    small = elementwise.add(elementwise.subtract(spread, own), least)
    spread = elementwise.where(elementwise.less(own, least), small, spread)
    losses = (elementwise.log(spread) + elementwise.square(x - t) / spread) * 0.5
    if checks.flag(op, "full", full):
        losses = losses + 0.5 * log(2 * pi)
    return reduced(losses, reduction)
