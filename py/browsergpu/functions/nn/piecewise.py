"""Activation functions that are defined piece by piece."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed, differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import elementwise
from browsergpu.functions.nn import activations, inputs
from browsergpu.functions.random.generator import Generator

#: α and λ of :func:`selu`, from the paper.
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _between_gradient(g: Array, input: Array, low: float, high: float, slope: float = 1.0) -> Array:
    """Return the gradient of a line of this slope between two bounds, which is flat elsewhere."""
    inside = elementwise.logical_and(input > float(low), input < float(high))
    return elementwise.where(inside, g * float(slope), 0.0)


def _exponential_gradient(g: Array, input: Array, above: float, below: float, rate: float) -> Any:
    """Return the gradient of ``above`` x above 0, and of ``below`` exp(``rate`` x) below."""
    under = elementwise.exp(elementwise.minimum(input, 0.0) * rate) * (below * rate)
    return g * elementwise.where(input > 0, above, under)


@differentiable(
    input=lambda g, input, threshold: elementwise.where(input <= float(threshold), 0.0, g)
)
def threshold(input: Array, threshold: float, value: float) -> Array:
    """Return ``value`` where ``input`` is at most ``threshold``, and ``input`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    threshold : float
        The largest number that is replaced.
    value : float
        The replacement.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    x = inputs.floats("threshold", "input", input)
    edge = checks.real("threshold", "threshold", threshold)
    replacement = checks.real("threshold", "value", value)
    return elementwise.where(x <= edge, replacement, x)  # NaN stays


@differentiable(
    input=lambda g, input, min_val, max_val: _between_gradient(g, input, min_val, max_val)
)
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    """Return ``input``, clipped to the range from ``min_val`` to ``max_val``.

    Parameters
    ----------
    input : Array
        float32 or float16.
    min_val, max_val : float, optional
        The bounds.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``min_val`` is greater than ``max_val``.
    """
    op = "hardtanh"
    x = inputs.floats(op, "input", input)
    low, high = checks.real(op, "min_val", min_val), checks.real(op, "max_val", max_val)
    if low > high:
        raise InvalidArgument(op, "min_val", min_val, f"a number of at most max_val, {high}")
    return elementwise.clip(x, low, high)


@differentiable(input=lambda g, input: _between_gradient(g, input, 0.0, 6.0))
def relu6(input: Array) -> Array:
    """Return ``min(max(input, 0), 6)``.

    Parameters
    ----------
    input : Array
        float32 or float16.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    return elementwise.clip(inputs.floats("relu6", "input", input), 0.0, 6.0)


@differentiable(input=lambda g, input: _between_gradient(g, input, -3.0, 3.0, 1 / 6))
def hardsigmoid(input: Array) -> Array:
    """Return ``min(max(input + 3, 0), 6) / 6``.

    Parameters
    ----------
    input : Array
        float32 or float16.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    x = inputs.floats("hardsigmoid", "input", input)
    found: Array = elementwise.clip(x + 3, 0.0, 6.0) / 6
    return found


def _shrink_gradient(g: Array, input: Array, lambd: float) -> Array:
    return elementwise.where(elementwise.abs(input) <= float(lambd), 0.0, g)


@differentiable(input=_shrink_gradient)
def hardshrink(input: Array, lambd: float = 0.5) -> Array:
    """Return 0 where the magnitude of ``input`` is at most ``lambd``, and ``input`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    lambd : float, optional
        The largest magnitude that is replaced by 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    x = inputs.floats("hardshrink", "input", input)
    edge = checks.real("hardshrink", "lambd", lambd)
    return elementwise.where(elementwise.abs(x) <= edge, 0.0, x)  # NaN stays


@differentiable(input=_shrink_gradient)
def softshrink(input: Array, lambd: float = 0.5) -> Array:
    """Return ``input`` moved towards 0 by ``lambd``, and 0 where the magnitude is at most that.

    Parameters
    ----------
    input : Array
        float32 or float16.
    lambd : float, optional
        A number of at least 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``lambd`` is negative.
    """
    x = inputs.floats("softshrink", "input", input)
    edge = checks.nonnegative("softshrink", "lambd", lambd)
    found: Array = x - elementwise.clip(x, -edge, edge)
    return found


@differentiable(
    input=lambda g, input: _exponential_gradient(
        g, input, _SELU_SCALE, _SELU_SCALE * _SELU_ALPHA, 1.0
    )
)
def selu(input: Array) -> Array:
    """Return λ ``input`` where it is positive, and λ α ``(exp(input) - 1)`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.

    Notes
    -----
    λ is 1.0507 and α 1.6733: Klambauer et al., "Self-normalizing neural networks", arXiv
    1706.02515.
    """
    x = inputs.floats("selu", "input", input)
    below = elementwise.expm1(elementwise.minimum(x, 0.0)) * (_SELU_SCALE * _SELU_ALPHA)
    return elementwise.where(x > 0, x * _SELU_SCALE, below)


@differentiable(
    input=lambda g, input, alpha: _exponential_gradient(
        g, input, 1.0, float(alpha), 1 / float(alpha)
    )
)
def celu(input: Array, alpha: float = 1.0) -> Array:
    """Return ``input`` where it is positive, and ``alpha * (exp(input / alpha) - 1)`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    alpha : float, optional
        A number other than 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``alpha`` is 0.

    Notes
    -----
    Source: Barron, "Continuously differentiable exponential linear units", arXiv 1704.07483.
    """
    x = inputs.floats("celu", "input", input)
    scale = checks.real("celu", "alpha", alpha)
    if scale == 0:
        raise InvalidArgument("celu", "alpha", alpha, "a number other than 0")
    below = elementwise.expm1(elementwise.minimum(x, 0.0) * (1 / scale)) * scale
    return elementwise.where(x > 0, x, below)


@composed("input", "weight")
def prelu(input: Array, weight: Array) -> Array:
    """Return ``input`` where it is positive, and ``weight * input`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16. With a weight for each channel, of shape [N, C, ...].
    weight : Array
        Floats of shape [1], [] or [C].

    Returns
    -------
    Array
        The shape of ``input``, of the promoted dtype.

    Raises
    ------
    InvalidType
        If an operand does not consist of floats.
    InvalidArgument
        If ``weight`` has another shape.

    Notes
    -----
    Source: He et al., "Delving deep into rectifiers", arXiv 1502.01852.
    """
    op = "prelu"
    x, slope = inputs.floats(op, "input", input), inputs.floats(op, "weight", weight)
    if slope.size != 1:
        channels = x.shape[1] if x.ndim > 1 else 1
        inputs.shaped(op, "weight", slope, (channels,))
        slope = inputs.of_channels(slope, x.ndim)
    elif slope.ndim > 1:
        raise InvalidArgument(op, "weight", slope, "have at most one axis")
    return elementwise.where(x > 0, x, x * slope)


@composed("input")
def rrelu(
    input: Array, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *,
    generator: Any = None,
) -> Array:  # fmt: skip
    """Return ``input`` where it is positive, and ``input`` times a slope elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    lower, upper : float, optional
        Bounds of the slopes.
    training : bool, optional
        Whether each element has a slope of its own, drawn uniformly from the bounds. Otherwise the
        slope is the mean of the bounds.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``. Required in training.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats, or the generator is missing.
    InvalidArgument
        If ``lower`` is greater than ``upper``.

    Notes
    -----
    Source: Xu et al., "Empirical evaluation of rectified activations", arXiv 1505.00853.
    """
    op = "rrelu"
    x = inputs.floats(op, "input", input)
    low, high = checks.real(op, "lower", lower), checks.real(op, "upper", upper)
    if low > high:
        raise InvalidArgument(op, "lower", lower, f"a number of at most upper, {high}")
    if not checks.flag(op, "training", training):
        return activations.leaky_relu(x, (low + high) / 2)
    if not isinstance(generator, Generator):
        raise InvalidType(op, "generator", generator, "one of browsergpu.random.default_rng")
    slopes = generator.random(x.shape) * (high - low) + low
    return elementwise.where(x > 0, x, x * slopes.astype(x.dtype, copy=False))
