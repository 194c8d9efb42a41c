"""Activation functions that are products or logarithms of others, and other forms of softmax."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed, differentiable
from browsergpu.arrays.autograd.variable import plain
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.nn import activations, inputs
from browsergpu.functions.operands import array
from browsergpu.functions.ordering import sorting
from browsergpu.functions.random.generator import Generator


def _mish_gradient(g: Array, input: Array) -> Any:
    bent = elementwise.tanh(elementwise.logaddexp(input, 0.0))
    return g * (bent + input * (1 - bent * bent) * activations.sigmoid(input))


@differentiable(input=_mish_gradient)
def mish(input: Array) -> Array:
    """Return ``input * tanh(log(1 + exp(input)))``.

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
    Source: Misra, "Mish: a self regularized non-monotonic activation function", arXiv 1908.08681.
    """
    x = inputs.floats("mish", "input", input)
    found: Array = x * elementwise.tanh(elementwise.logaddexp(x, 0.0))
    return found


@differentiable(input=lambda g, input: g * activations.sigmoid(-input))
def logsigmoid(input: Array) -> Array:
    """Return the logarithm of the sigmoid function. It does not overflow.

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
    x = inputs.floats("logsigmoid", "input", input)
    found: Array = -elementwise.logaddexp(-x, 0.0)
    return found


@differentiable(input=lambda g, input: g / elementwise.square(elementwise.abs(input) + 1))
def softsign(input: Array) -> Array:
    """Return ``input / (1 + abs(input))``.

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
    x = inputs.floats("softsign", "input", input)
    found: Array = x / (elementwise.abs(x) + 1)
    return found


@differentiable(input=lambda g, input: g * elementwise.square(elementwise.tanh(input)))
def tanhshrink(input: Array) -> Array:
    """Return ``input - tanh(input)``.

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
    x = inputs.floats("tanhshrink", "input", input)
    found: Array = x - elementwise.tanh(x)
    return found


@composed("input")
def glu(input: Array, dim: int = -1) -> Array:
    """Return the first half along an axis times the sigmoid of the second half.

    Parameters
    ----------
    input : Array
        float32 or float16, with an even number of elements along the axis.
    dim : int, optional
        The axis.

    Returns
    -------
    Array
        The shape of ``input`` with half the elements along the axis, in its dtype.

    Raises
    ------
    InvalidType
        If ``input`` is not an array of floats.
    InvalidArgument
        If ``dim`` is out of range, or the number of elements along it is odd.

    Notes
    -----
    Source: Dauphin et al., "Language modeling with gated convolutional networks", arXiv 1612.08083.
    """
    x = inputs.floats("glu", "input", input)
    axis = shapes.axis("glu", "dim", dim, x.ndim)
    half, rest = divmod(x.shape[axis], 2)
    if rest:
        raise InvalidArgument("glu", "input", x, f"have an even number of elements on axis {axis}")
    lead = (slice(None),) * axis
    gate = activations.sigmoid(x[(*lead, slice(half, None))])
    return elementwise.multiply(x[(*lead, slice(half))], gate)


@composed("input")
def softmin(input: Array, dim: int = -1, *, dtype: Any = None) -> Array:
    """Return :func:`softmax` of ``-input`` along an axis.

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
    x = array("softmin", "input", input)
    if dtype is not None:
        x = x.astype(element_type("softmin", dtype).numpy, copy=False)
    return activations.softmax(-inputs.floats("softmin", "input", x), dim)


@composed("logits")
def gumbel_softmax(
    logits: Array, tau: float = 1.0, hard: bool = False, dim: int = -1, *, generator: Any
) -> Array:
    """Draw from the Gumbel-softmax distribution, a continuous form of one-hot samples.

    Parameters
    ----------
    logits : Array
        Unnormalized log-probabilities, float32 or float16.
    tau : float, optional
        The temperature, above 0.
    hard : bool, optional
        Whether to return one-hot samples. Their gradient is that of the continuous samples.
    dim : int, optional
        The axis of the classes.
    generator : Generator
        A generator of ``browsergpu.random.default_rng``.

    Returns
    -------
    Array
        The shape and dtype of ``logits``.

    Raises
    ------
    InvalidType
        If ``logits`` is not an array of floats, or ``generator`` is not a Generator.
    InvalidArgument
        If ``tau`` is not above 0, or ``dim`` is out of range.

    Notes
    -----
    Source: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", arXiv
    1611.01144.
    """
    op = "gumbel_softmax"
    x = inputs.floats(op, "logits", logits)
    heat = checks.positive(op, "tau", tau)
    axis = shapes.axis(op, "dim", dim, x.ndim)
    if not isinstance(generator, Generator):
        raise InvalidType(op, "generator", generator, "one of browsergpu.random.default_rng")
    noise = -elementwise.log(generator.standard_exponential(x.shape))
    soft = activations.softmax((x + noise.astype(x.dtype, copy=False)) / heat, axis)
    if not checks.flag(op, "hard", hard):
        return soft
    values = plain(soft)
    best = manipulation.expand_dims(sorting.argmax(values, axis=axis), axis=axis)
    classes = creation.arange(x.shape[axis], dtype="int32", device=x.device)
    places = classes.reshape((x.shape[axis], *(1,) * (x.ndim - axis - 1)))
    hot = apply.cast_to(op, elementwise.equal(places, best), values.node.kind)
    # This difference is 0, and its gradient is the gradient of soft.
    return elementwise.add(hot, elementwise.subtract(soft, values))
