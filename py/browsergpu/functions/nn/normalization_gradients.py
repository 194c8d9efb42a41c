"""Gradients of normalization, in closed form. They are computed in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.lazy import norm_gradient
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.norm_gradient import Norm
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.reduce import memory_view
from browsergpu.engine.core.checks import is_several, product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import nn
from browsergpu.functions import data_types, elementwise, manipulation, statistics
from browsergpu.functions.nn import inputs


def _wide(x: Any) -> Any:
    return data_types.astype(x, "float32", copy=False)


def _centered_gradient(g: Any, x: Any, axes: Shape, eps: float) -> tuple[Any, Any]:
    """Return the gradient of ``(x - mean) / sqrt(variance + eps)`` over axes, and its value."""
    centred = x - statistics.mean(x, axis=axes, keepdims=True)
    variance = statistics.mean(elementwise.square(centred), axis=axes, keepdims=True)
    scale = 1 / elementwise.sqrt(variance + eps)
    found = centred * scale
    along = statistics.mean(g * found, axis=axes, keepdims=True)
    return (g - statistics.mean(g, axis=axes, keepdims=True) - found * along) * scale, found


def _last_axes(normalized_shape: Any) -> Shape:
    count = len(normalized_shape) if is_several(normalized_shape) else 1
    return tuple(range(-count, 0))


def of_layer_norm(
    g: Array, input: Array, normalized_shape: Any, weight: Any, eps: float, needs: Sequence[bool]
) -> tuple[Any, Any, Any]:
    """Return the gradients for input, weight and bias."""
    axes = _last_axes(normalized_shape)
    if needs[0]:
        made = _by_kernel("layer_norm", g, input, weight, axes, float(eps), needs[1:])
        if made is not None:
            return made
    own = g if weight is None else g * weight
    found, normalised = _centered_gradient(_wide(own), _wide(input), axes, float(eps))
    return found, g * normalised, g


def of_rms_norm(
    g: Array,
    input: Array,
    normalized_shape: Any,
    weight: Any,
    eps: float | None,
    needs: Sequence[bool],
) -> tuple[Any, Any]:
    """Return the gradients for input and weight."""
    small = float(np.finfo(input.dtype).eps) if eps is None else float(eps)
    axes = _last_axes(normalized_shape)
    if needs[0]:
        made = _by_kernel("rms_norm", g, input, weight, axes, small, (needs[1], False))
        if made is not None:
            return made[:2]
    x, own = _wide(input), _wide(g if weight is None else g * weight)
    squares = statistics.mean(elementwise.square(x), axis=axes, keepdims=True)
    scale = 1 / elementwise.sqrt(squares + small)
    normalised = x * scale
    along = statistics.mean(own * normalised, axis=axes, keepdims=True)
    return (own - normalised * along) * scale, g * normalised


@exclusive
def _by_kernel(
    op: str, g: Array, input: Array, weight: Any, axes: Shape, eps: float, needs: Sequence[bool]
) -> tuple[Any, Any, Any] | None:
    """Return the gradients for input, weight and bias, or None for unsupported arrays.

    One kernel reads input and ``g`` once. It computes the gradient for the input, and sums for the
    others, which a second kernel adds up. ``needs`` is for weight and bias.
    """
    if any(type(x) in INTERCEPTED for x in (g, input, weight)):
        return None
    normal = input.shape[axes[0] :]
    norm = Norm(op, product(normal), words_of(eps, FLOAT32)[0], op == "layer_norm")
    parts = 2 if needs[1] else int(needs[0])
    tracer = input.tracer
    planned = norm_gradient.plan(norm, input.size, parts)
    if planned is None:
        return None
    tracer.device.throttle(op)
    own = g if weight is None else g * weight
    nodes = input.node, g.node, own.node
    if parts == 1:
        found, sums = norm_gradient.gradients(tracer, norm, planned, nodes, parts)
        assert sums is not None
        of_weight = statistics.sum(input.like(sums), axis=0).reshape(normal)
        return input.like(found), of_weight, None
    made = [inputs.room(op, input, FLOAT32, normal) for _ in range(parts)]
    views = [inputs.memory(x) for x in made]

    def after(sums: Node) -> None:
        nn.norm_sums(input.device, op, memory_view(sums), *views)

    values = [x.node for x in made]
    found, _ = norm_gradient.gradients(tracer, norm, planned, nodes, parts, values, after)
    return input.like(found), *(made or (None, None))


def of_group_norm(
    g: Array, input: Array, num_groups: int, weight: Any, eps: float, needs: Sequence[bool]
) -> tuple[Any, Any, Any]:
    """Return the gradients for input, weight and bias."""
    images, channels, *inner = input.shape
    groups = int(num_groups)
    apart = (images, groups, channels // groups * product(inner))
    own = g if weight is None else g * _of_channels(weight, input.ndim)
    found, normalised = _centered_gradient(
        manipulation.reshape(_wide(own), apart), manipulation.reshape(_wide(input), apart), (2,),
        float(eps),
    )  # fmt: skip
    others = _all_but_channels(input.ndim)
    spread = g * manipulation.reshape(normalised, input.shape)
    return (
        manipulation.reshape(found, input.shape),
        statistics.sum(spread, axis=others) if needs[1] else None,
        statistics.sum(g, axis=others) if needs[2] else None,
    )


def of_batch_norm(
    g: Array, input: Array, running_mean: Any, running_var: Any, weight: Any, training: bool,
    eps: float, of_batch: Sequence[Array] | None, needs: Sequence[bool],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients for input, running_mean, running_var, weight and bias.

    ``of_batch`` has the mean and 1 / sqrt(variance + eps) of the input in training. The running
    statistics have no gradient in training, which does not read them.
    """
    if training:
        found, of_weight, of_bias = _in_training(g, input, weight, float(eps), of_batch, needs)
        return found, None, None, of_weight, of_bias
    others = _all_but_channels(input.ndim)
    x, wide = _wide(input), _wide(g)
    own = wide if weight is None else wide * _of_channels(_wide(weight), input.ndim)
    mean, variance = (_of_channels(_wide(v), input.ndim) for v in (running_mean, running_var))
    scale = 1 / elementwise.sqrt(variance + float(eps))
    found, normalised = own * scale, (x - mean) * scale
    of_mean = -statistics.sum(found, axis=others) if needs[1] else None
    of_variance = None
    if needs[2]:
        of_variance = statistics.sum(found * normalised * scale, axis=others) * -0.5
    of_weight = statistics.sum(wide * normalised, axis=others) if needs[3] else None
    of_bias = statistics.sum(wide, axis=others) if needs[4] else None
    return found, of_mean, of_variance, of_weight, of_bias


def _in_training(
    g: Array, input: Array, weight: Any, eps: float, of_batch: Sequence[Array] | None,
    needs: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the gradients for input, weight and bias. Two sums for each channel give all three."""
    others, rank = _all_but_channels(input.ndim), input.ndim
    x, wide = _wide(input), _wide(g)
    if of_batch is None or type(input) in INTERCEPTED:  # the statistics have gradients, too
        mean = statistics.mean(x, axis=others, keepdims=True)
        variance = statistics.mean(elementwise.square(x - mean), axis=others, keepdims=True)
        scale = 1 / elementwise.sqrt(variance + eps)
    else:
        mean, scale = (_of_channels(v, rank) for v in of_batch)
    normalised = (x - mean) * scale
    if all(needs[at] for at in (3, 4)) or needs[0]:
        of_weight, of_bias, along, among = _two_sums(wide * normalised, wide, others)
    else:
        of_weight = statistics.sum(wide * normalised, axis=others) if needs[3] else None
        of_bias = statistics.sum(wide, axis=others) if needs[4] else None
    if not needs[0]:
        return None, of_weight, of_bias
    # Every operation has the shape of the input, so that one kernel computes them.
    count = input.size // input.shape[1]
    found = (wide - (normalised * along + among) / count) * scale
    return (
        found if weight is None else found * _of_channels(_wide(weight), rank),
        of_weight,
        of_bias,
    )


@exclusive
def _two_sums(a: Any, b: Any, axes: Shape) -> tuple[Any, Any, Any, Any]:
    """Return the sums of two arrays over all axes but the channels.

    They come twice: for each channel, and in a shape that broadcasts to that of the arrays. One
    kernel reads both arrays, as the parts of complex numbers.
    """
    if any(type(x) in INTERCEPTED for x in (a, b)):
        sums = [statistics.sum(x, axis=axes) for x in (a, b)]
        return *sums, *(_of_channels(v, a.ndim) for v in sums)
    both = statistics.sum(apply.binary("complex", a, b), axis=axes)
    node = both.node.in_memory()
    assert node.strides is None
    # The kernel that reads the sums takes every other float of their memory.
    shape, strides = (*node.shape, *(1,) * (a.ndim - 2)), (2, *(0,) * (a.ndim - 2))
    first, second = (
        both.like(stored(FLOAT32, shape, node.storage, strides, 2 * node.offset + part))
        for part in range(2)
    )
    return elementwise.real(both), elementwise.imag(both), first, second


def _of_channels(x: Any, rank: int) -> Any:
    return manipulation.reshape(x, (*x.shape, *(1,) * (rank - 2)))


def _all_but_channels(rank: int) -> Shape:
    return (0, *range(2, rank))
