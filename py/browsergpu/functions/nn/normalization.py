"""Normalization of layers, groups of channels and batches, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import composed, differentiable
from browsergpu.arrays.autograd.variable import plain
from browsergpu.arrays.in_place import become
from browsergpu.arrays.lazy.products import Product
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.tensors import nn
from browsergpu.functions import elementwise, statistics
from browsergpu.functions.linalg import norms
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn import normalization_gradients as gradients
from browsergpu.functions.weighted_sums import weighted_sums


@widened("input")
@differentiable(joint=(("input", "weight", "bias"), gradients.of_layer_norm))
def layer_norm(
    input: Array,
    normalized_shape: Any,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalize over the last axes to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    input : Array
        float32 or float16.
    normalized_shape : int or tuple of int
        The extents of the last axes, over which the mean and the biased variance are computed.
    weight : Array, optional
        Factors of shape ``normalized_shape``.
    bias : Array, optional
        Summands of shape ``normalized_shape``.
    eps : float, optional
        Added to the variance. At least 0.

    Returns
    -------
    Array
        The shape of ``input``, of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If ``normalized_shape``, ``weight`` or ``bias`` does not fit, or ``eps`` is negative.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "layer_norm"
    x = inputs.floats(op, "input", input)
    shape = _last_axes(op, x, normalized_shape)
    gamma = _of_shape(op, "weight", weight, shape)
    beta = _of_shape(op, "bias", bias, shape)
    return _normalised(op, x, product(shape), gamma, beta, checks.nonnegative(op, "eps", eps))


def _of_shape(op: str, name: str, x: Any, shape: Shape) -> Array | None:
    return None if x is None else inputs.shaped(op, name, inputs.floats(op, name, x), shape)


def _last_axes(op: str, x: Array, normalized_shape: Any) -> Shape:
    given = normalized_shape if checks.is_several(normalized_shape) else (normalized_shape,)
    shape = checks.dimensions(op, "normalized_shape", given, minimum=1)
    if not shape or x.node.shape[-len(shape) :] != shape:
        expected = f"the extents of the last axes of input, {x.shape}"
        raise InvalidArgument(op, "normalized_shape", normalized_shape, expected)
    return shape


def _normalised(
    op: str, x: Array, length: int, weight: Array | None, bias: Array | None, eps: float
) -> Array:
    """Normalize rows of ``length`` elements by a kernel."""
    kind, whole = inputs.common(x, weight, bias), x.node.shape
    made, size = inputs.room(op, x, kind, whole), product(whole)
    if not size:
        return made
    own = apply.packed(x)  # kept until the kernel is recorded, as the others
    factor = None if weight is None else apply.packed(weight)
    summand = None if bias is None else apply.packed(bias)
    shape = size // length, length
    rows, target = inputs.memory_in(own, shape), inputs.memory_in(made, shape)
    gamma, beta = inputs.memory_in(factor, (length,)), inputs.memory_in(summand, (length,))
    assert rows is not None
    assert target is not None
    nn.layer_norm(x.tracer.device, op, rows, target, gamma, beta, eps)
    return made


@widened("input")
@differentiable(joint=(("input", "weight"), gradients.of_rms_norm))
def rms_norm(
    input: Array, normalized_shape: Any, weight: Array | None = None, eps: float | None = None
) -> Array:
    """Divide by the root mean square over the last axes, then scale.

    Parameters
    ----------
    input : Array
        float32 or float16.
    normalized_shape : int or tuple of int
        The extents of the last axes, over which the mean of squares is computed.
    weight : Array, optional
        Factors of shape ``normalized_shape``.
    eps : float, optional
        Added to the mean of squares. By default, the machine epsilon of the dtype of ``input``.

    Returns
    -------
    Array
        The shape of ``input``, of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If ``normalized_shape`` or ``weight`` does not fit, or ``eps`` is negative.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "rms_norm"
    x = inputs.floats(op, "input", input)
    shape = _last_axes(op, x, normalized_shape)
    small = float(np.finfo(x.dtype).eps) if eps is None else checks.nonnegative(op, "eps", eps)
    factor = None if weight is None else inputs.floats(op, "weight", weight)
    kind = inputs.common(x, factor)
    wide = apply.cast_to(op, x, FLOAT32, copy=False)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = statistics.mean(elementwise.square(wide), axis=axes, keepdims=True)
    found: Array = wide / elementwise.sqrt(mean + small)
    if factor is not None:
        found = found * inputs.shaped(op, "weight", factor, shape)
    return apply.cast_to(op, found, kind, copy=False)


@widened("input")
@differentiable(joint=(("input", "weight", "bias"), gradients.of_group_norm))
def group_norm(
    input: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Normalize groups of channels to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], float32 or float16.
    num_groups : int
        Number of groups of neighboring channels. A divisor of C.
    weight : Array, optional
        Factors of the channels, of shape [C].
    bias : Array, optional
        Summands of the channels, of shape [C].
    eps : float, optional
        Added to the biased variance. At least 0.

    Returns
    -------
    Array
        The shape of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes do not fit, ``num_groups`` is not a divisor of C, or ``eps`` is negative.
    InvalidType
        If an operand does not consist of floats.
    """
    op = "group_norm"
    x = inputs.floats(op, "input", input)
    _, channels, inner = inputs.channels_in(op, "input", x)
    groups = checks.integer(op, "num_groups", num_groups, 1)
    if channels % groups:
        raise InvalidArgument(op, "num_groups", num_groups, f"a divisor of {channels} channels")
    factor = inputs.vector(op, "weight", weight, channels)
    shift = inputs.vector(op, "bias", bias, channels)
    small = checks.nonnegative(op, "eps", eps)
    found = _normalised(op, x, channels // groups * inner, None, None, small)
    if factor is not None:
        found = found * inputs.of_channels(factor, x.ndim)
    return found if shift is None else found + inputs.of_channels(shift, x.ndim)


def _normalized_batch(
    input: Array,
    running_mean: Array | None,
    running_var: Array | None,
    weight: Array | None = None,
    bias: Array | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Array, dict[str, Any]]:
    """Return the result of :func:`batch_norm`, and ``of_batch``.

    In training, ``of_batch`` has the mean of each channel of the batch, and 1 / sqrt(variance +
    eps). Otherwise it is None.
    """
    op = "batch_norm"
    x = inputs.floats(op, "input", input)
    shape = inputs.channels_in(op, "input", x)
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight,
             "bias": bias}  # fmt: skip
    mean, variance, factor, shift = (
        inputs.vector(op, name, v, shape[1]) for name, v in given.items()
    )
    small = checks.nonnegative(op, "eps", eps)
    of_batch = None
    if checks.flag(op, "training", training):
        mean, variance = _of_batch(op, x, shape, mean, variance, momentum)
        of_batch = mean, 1 / elementwise.sqrt(variance + small)
        if x.size and x.tracer.optimized is not None:
            return _in_the_trace(x, *of_batch, factor, shift), {"of_batch": of_batch}
    elif mean is None or variance is None:
        name = "running_mean" if mean is None else "running_var"
        raise InvalidArgument(op, name, None, "an array (or training=True)")
    elif isinstance(x.node.trace, Product) and "scale" in x.node.trace.kernel.parts:
        return _in_a_product(x, mean, variance, factor, shift, small), {"of_batch": None}
    made = inputs.room(op, x, x.node.kind, x.shape)
    if x.size:
        own, average, spread = (apply.packed(v) for v in (x, mean, variance))
        gamma, beta = (None if v is None else apply.packed(v) for v in (factor, shift))
        nn.batch_norm(
            x.device, op, inputs.memory(own), inputs.memory(made), inputs.memory(average),
            inputs.memory(spread), inputs.memory_of(gamma), inputs.memory_of(beta), shape, small,
        )  # fmt: skip
    return made, {"of_batch": of_batch}


@widened("input")
@differentiable(
    joint=(
        ("input", "running_mean", "running_var", "weight", "bias"),
        gradients.of_batch_norm,
    ),
    keeping=_normalized_batch,
)
def batch_norm(
    input: Array,
    running_mean: Array | None,
    running_var: Array | None,
    weight: Array | None = None,
    bias: Array | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """Normalize channels to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], float32 or float16.
    running_mean, running_var : Array or None
        Running statistics of shape [C]. Required unless ``training``. In training, they are updated
        in place if they are given.
    weight : Array, optional
        Factors of the channels, of shape [C].
    bias : Array, optional
        Summands of the channels, of shape [C].
    training : bool, optional
        True normalizes by the mean and biased variance of the batch. False uses the running
        statistics.
    momentum : float, optional
        From 0 to 1. The new running statistics are ``(1 - momentum) * running + momentum * batch``,
        with the unbiased variance of the batch.
    eps : float, optional
        Added to the variance. At least 0.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes do not fit, the running statistics are missing, or ``momentum`` or ``eps`` is
        invalid. In training, also if a channel has fewer than 2 elements.
    InvalidType
        If an operand does not consist of floats.
    """
    return _normalized_batch(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )[0]


def _in_the_trace(
    x: Array, mean: Array, scale: Array, factor: Array | None, shift: Array | None
) -> Array:
    """Normalize by recorded operations, for a kernel that also computes what follows them."""
    scale.node.in_memory()  # once for each channel
    rank = x.ndim
    found: Array = (x - inputs.of_channels(mean, rank)) * inputs.of_channels(scale, rank)
    if factor is not None:
        found = found * inputs.of_channels(factor, rank)
    if shift is not None:
        found = found + inputs.of_channels(shift, rank)
    return apply.cast_to("batch_norm", found, x.node.kind, copy=False)


def _in_a_product(
    x: Array,
    mean: Array,
    variance: Array,
    factor: Array | None,
    shift: Array | None,
    eps: float,
) -> Array:
    """Normalize by a factor and a summand of each channel, for the kernel that makes x."""
    scale: Array = 1 / elementwise.sqrt(
        apply.cast_to("batch_norm", variance, FLOAT32, copy=False) + eps
    )
    scale = scale if factor is None else scale * factor
    moved = -mean * scale if shift is None else shift - mean * scale
    for vector in (scale, moved):  # one kernel computes both
        vector.node.in_memory()
    found: Array = x * inputs.of_channels(scale, x.ndim) + inputs.of_channels(moved, x.ndim)
    return apply.cast_to("batch_norm", found, x.node.kind, copy=False)


def _of_batch(
    op: str,
    x: Array,
    shape: tuple[int, int, int],
    running_mean: Array | None,
    running_var: Array | None,
    momentum: Any,
) -> tuple[Array, Array]:
    """Return the statistics of each channel, and update the running ones."""
    share = checks.fraction(op, "momentum", momentum)
    count = shape[0] * shape[2]
    if count < 2:
        expected = "have at least 2 elements in each channel for training"
        raise InvalidArgument(op, "input", x, expected)
    mean, variance = (inputs.room(op, x, FLOAT32, (shape[1],)) for _ in range(2))
    if not x.size:
        return mean, variance
    own = apply.packed(x)
    nn.batch_statistics(
        x.device, op, inputs.memory(own), inputs.memory(mean), inputs.memory(variance), None, None,
        shape, share,
    )  # fmt: skip
    unbiased = variance * (count / (count - 1))
    for running, batch in ((running_mean, mean), (running_var, unbiased)):
        if running is not None:
            moved = running * (1 - share) + batch * share
            become(running, apply.cast_to(op, moved, running.node.kind, copy=False))
    return mean, variance


@composed("input", "running_mean", "running_var", "weight", "bias")
def instance_norm(
    input: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """Normalize each channel of each sample to mean 0 and variance 1, then scale and shift.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], float32 or float16.
    running_mean, running_var : Array, optional
        Running statistics of shape [C]. Updated in place if ``use_input_stats``.
    weight : Array, optional
        Factors of the channels, of shape [C].
    bias : Array, optional
        Summands of the channels, of shape [C].
    use_input_stats : bool, optional
        False uses the running statistics instead of those of the input.
    momentum : float, optional
        From 0 to 1. The share of the new statistics, means over the samples, in the running ones.
    eps : float, optional
        Added to the biased variance. At least 0.

    Returns
    -------
    Array
        The shape of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes do not fit, the running statistics are missing, ``momentum`` or ``eps`` is
        invalid, or a channel has a single element.
    InvalidType
        If an operand does not consist of floats.

    Notes
    -----
    Source: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", arXiv 1607.08022.
    """
    op = "instance_norm"
    x = inputs.floats(op, "input", input)
    _, channels, inner = inputs.channels_in(op, "input", x)
    if not checks.flag(op, "use_input_stats", use_input_stats):
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    share = checks.fraction(op, "momentum", momentum)
    if inner < 2:
        raise InvalidArgument(op, "input", x, "have at least 2 elements in each channel")
    running = {"running_mean": running_mean, "running_var": running_var}
    known = {name: inputs.vector(op, name, v, channels) for name, v in running.items()}
    if any(v is not None for v in known.values()):
        own = plain(x).reshape((*x.shape[:2], inner)).astype("float32", copy=False)
        batch = {
            "running_mean": statistics.mean(statistics.mean(own, axis=2), axis=0),
            "running_var": statistics.mean(statistics.var(own, axis=2, correction=1), axis=0),
        }
        for name, now in known.items():
            if now is not None:
                moved = now * (1 - share) + batch[name] * share
                become(now, moved.astype(now.dtype, copy=False))
    return group_norm(x, channels, weight, bias, eps)


@composed("input")
def local_response_norm(
    input: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Array:
    """Divide by ``(k + alpha * mean)**beta``, with the mean of squares of neighboring channels.

    Parameters
    ----------
    input : Array
        Shape [N, C, ...], float32 or float16.
    size : int
        Number of neighboring channels. Missing ones count as zeros.
    alpha, beta, k : float, optional
        Constants of the divisor.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``input`` has fewer than 3 axes, or ``size`` is less than 1.
    InvalidType
        If ``input`` does not consist of floats.

    Notes
    -----
    Source: Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional
    neural networks", 2012.
    """
    op = "local_response_norm"
    x = inputs.floats(op, "input", input)
    count = checks.integer(op, "size", size, 1)
    if x.ndim < 3:
        raise InvalidArgument(op, "input", x, "have shape [N, C, L, ...]")
    numbers = [checks.real(op, name, v) for name, v in (("alpha", alpha), ("beta", beta), ("k", k))]
    channels = x.shape[1]
    places = np.arange(channels)[:, None] + np.arange(count) - count // 2
    inside = (places >= 0) & (places < channels)
    shares = (inside / count).astype(np.float32)
    squares = elementwise.square(x)
    means = weighted_sums(squares, 1, np.clip(places, 0, channels - 1), shares)
    divisor = elementwise.pow(means * numbers[0] + numbers[2], numbers[1])
    return elementwise.divide(x, divisor)


@composed("input")
def normalize(input: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Array:
    """Divide by the norm along an axis.

    Parameters
    ----------
    input : Array
        float32 or float16.
    p : float, optional
        Order of the norm.
    dim : int, optional
        The axis.
    eps : float, optional
        The least divisor.

    Returns
    -------
    Array
        The shape and dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``dim`` is out of range.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "normalize"
    x = inputs.floats(op, "input", input)
    axis = shapes.axis(op, "dim", dim, x.ndim)
    norm = norms.vector_norm(x, axis=axis, keepdims=True, ord=p)
    return elementwise.divide(x, elementwise.maximum(norm, checks.real(op, "eps", eps)))
