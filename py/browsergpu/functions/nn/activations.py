"""Activation functions. All but softmax and log_softmax are fused elementwise operations."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors import nn
from browsergpu.functions import elementwise, statistics
from browsergpu.functions.nn import inputs
from browsergpu.functions.operands import array


def _rectifier_gradient(g: Array, input: Array, negative: Any) -> Array:
    """Return the gradient of a function that is ``x`` above 0. ``negative`` is its slope below."""
    below = elementwise.where(input > 0, 0.0, input)  # avoids overflow of unused slopes
    return elementwise.where(input > 0, g, g * negative(below))


def _sigmoid_gradient(g: Array, y: Array) -> Any:
    return g * y * (1 - y)


def _silu_gradient(g: Array, input: Array) -> Any:
    share = sigmoid(input)
    return g * share * (1 + input * (1 - share))


def _softplus_gradient(g: Array, input: Array, beta: float, threshold: float) -> Array:
    scaled = input * float(beta)
    return elementwise.where(scaled > float(threshold), g, g * sigmoid(scaled))


def _ndtr_gradient(g: Array, x: Array) -> Any:
    return g * elementwise.exp(x * x * -0.5) * (1 / sqrt(2 * pi))


@differentiable(x=_ndtr_gradient)
def _ndtr(x: Array, /) -> Array:
    """Return the standard normal distribution function."""
    return apply.unary("ndtr", x)


def _gelu_gradient(g: Array, input: Array, approximate: str) -> Any:
    square = input * input
    if approximate == "none":
        share = _ndtr(input)
        slope = elementwise.exp(square * -0.5) * input * (1 / sqrt(2 * pi))
    else:
        doubled = (square * 0.044715 + 1) * input * sqrt(8 / pi)
        share = sigmoid(doubled)
        # sigmoid(-x) equals 1 - sigmoid(x), without cancellation.
        rising = (square * (3 * 0.044715) + 1) * input * sqrt(8 / pi)
        slope = share * sigmoid(-doubled) * rising
    return g * (share + slope)


def _hardswish_gradient(g: Array, input: Array) -> Array:
    curved = elementwise.where(input <= -3, 0.0, g * (input * 2 + 3) / 6)
    return elementwise.where(input >= 3, g, curved)


def _softmax_gradient(g: Array, y: Array, dim: int) -> Any:
    return y * (g - statistics.sum(g * y, axis=dim, keepdims=True))


def _log_softmax_gradient(g: Array, y: Array, dim: int) -> Any:
    return g - elementwise.exp(y) * statistics.sum(g, axis=dim, keepdims=True)


@differentiable(input=lambda g, y: elementwise.where(y > 0, g, 0.0))
def relu(input: Array) -> Array:
    """Return ``max(input, 0)``. NaN stays NaN.

    Parameters
    ----------
    input : Array
        Floats or integers. Bools count as the default integers.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is complex, or not an array.
    """
    return elementwise.maximum(array("relu", "input", input), 0)


@differentiable(
    input=lambda g, input, negative_slope: elementwise.where(
        input > 0, g, g * float(negative_slope)
    )
)
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Array:
    """Return ``input`` where it is positive, and ``negative_slope * input`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    negative_slope : float, optional
        The slope below 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    op = "leaky_relu"
    x = inputs.floats(op, "input", input)
    slope = checks.real(op, "negative_slope", negative_slope)
    return elementwise.where(x > 0, x, x * slope)


@differentiable(
    input=lambda g, input, alpha: _rectifier_gradient(
        g, input, lambda x: elementwise.exp(x) * float(alpha)
    )
)
def elu(input: Array, alpha: float = 1.0) -> Array:
    """Return ``input`` where it is positive, and ``alpha * (exp(input) - 1)`` elsewhere.

    Parameters
    ----------
    input : Array
        float32 or float16.
    alpha : float, optional
        The negative of the limit at minus infinity.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    """
    x = inputs.floats("elu", "input", input)
    return elementwise.where(x > 0, x, elementwise.expm1(x) * checks.real("elu", "alpha", alpha))


@differentiable(input=_sigmoid_gradient)
def sigmoid(input: Array) -> Array:
    """Return ``1 / (1 + exp(-input))``.

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
    return apply.unary("sigmoid", inputs.floats("sigmoid", "input", input))


@differentiable(input=_silu_gradient)
def silu(input: Array) -> Array:
    """Return ``input * sigmoid(input)``, also called swish.

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
    return apply.unary("silu", inputs.floats("silu", "input", input))


@differentiable(input=lambda g, y: g * (1 - y * y))
def tanh(input: Array) -> Array:
    """Return the hyperbolic tangent.

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
    return elementwise.tanh(inputs.floats("tanh", "input", input))


@differentiable(input=_softplus_gradient)
def softplus(input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """Return ``log(1 + exp(beta * input)) / beta``.

    Parameters
    ----------
    input : Array
        float32 or float16.
    beta : float, optional
        A positive factor.
    threshold : float, optional
        The result is ``input`` where ``beta * input`` is greater.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``beta`` is not positive.
    """
    op = "softplus"
    x = inputs.floats(op, "input", input)
    factor = checks.positive(op, "beta", beta)
    scaled: Array = x * factor
    curved: Array = elementwise.logaddexp(scaled, 0.0) / factor
    return elementwise.where(scaled > checks.real(op, "threshold", threshold), x, curved)


@differentiable(input=_gelu_gradient)
def gelu(input: Array, approximate: str = "none") -> Array:
    """Return ``input * Φ(input)``, where Φ is the standard normal distribution function.

    Parameters
    ----------
    input : Array
        float32 or float16.
    approximate : {"none", "tanh"}, optional
        "none" computes x (1 + erf(x / √2)) / 2. "tanh" computes x (1 + tanh(√(2/π) (x + 0.044715
        x³))) / 2 (Hendrycks and Gimpel, arXiv 1606.08415).

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``approximate`` has another value.
    """
    x = inputs.floats("gelu", "input", input)
    if approximate not in ("none", "tanh"):
        raise InvalidArgument("gelu", "approximate", approximate, "'none' or 'tanh'")
    return apply.unary("gelu" if approximate == "none" else "gelu_tanh", x)


@differentiable(input=_hardswish_gradient)
def hardswish(input: Array) -> Array:
    """Return ``input * min(max(input + 3, 0), 6) / 6``.

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
    x = inputs.floats("hardswish", "input", input)
    found: Array = x * elementwise.clip(x + 3, 0, 6) / 6
    return found


@widened("input")
@differentiable(input=_softmax_gradient)
def softmax(input: Array, dim: int = -1, *, dtype: Any = None) -> Array:
    """Return exponentials divided by their sum along an axis. Large values do not overflow.

    Parameters
    ----------
    input : Array
        float32 or float16, unless ``dtype`` is given.
    dim : int, optional
        The axis.
    dtype : dtype, optional
        ``input`` is converted to this float dtype first.

    Returns
    -------
    Array
        The shape of ``input``, in its dtype or ``dtype``.

    Raises
    ------
    InvalidType
        If the dtype is not a float.
    InvalidArgument
        If ``dim`` is out of range.
    """
    op = "softmax"
    x, axis = _along(op, input, dim, dtype)
    made = inputs.room(op, x, x.node.kind, x.shape)
    if x.size:
        own = apply.packed(x)
        nn.softmax(x.device, op, inputs.memory(own), inputs.memory(made), axis)
    return made


@widened("input")
@differentiable(input=_log_softmax_gradient)
def log_softmax(input: Array, dim: int = -1, *, dtype: Any = None) -> Array:
    """Return the logarithm of softmax, accurate also where softmax is nearly 0.

    Parameters
    ----------
    input : Array
        float32 or float16, unless ``dtype`` is given.
    dim : int, optional
        The axis.
    dtype : dtype, optional
        ``input`` is converted to this float dtype first.

    Returns
    -------
    Array
        The shape of ``input``, in its dtype or ``dtype``.

    Raises
    ------
    InvalidType
        If the dtype is not a float.
    InvalidArgument
        If ``dim`` is out of range.
    """
    x, axis = _along("log_softmax", input, dim, dtype)
    if not x.size:
        return x
    wide = apply.cast_to("log_softmax", x, FLOAT32, copy=False)
    moved = wide - statistics.max(wide, axis=axis, keepdims=True)
    total = statistics.sum(elementwise.exp(moved), axis=axis, keepdims=True)
    found: Array = moved - elementwise.log(total)
    return apply.cast_to("log_softmax", found, x.node.kind, copy=False)


def _along(op: str, input: Any, dim: Any, dtype: Any) -> tuple[Array, int]:
    x = array(op, "input", input)
    if dtype is not None:
        x = apply.cast_to(op, x, element_type(op, dtype), copy=False)
    return inputs.floats(op, "input", x), shapes.axis(op, "dim", dim, x.ndim)
