"""Gradients of pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.convolution.pool import plan_pool
from browsergpu.engine.tensors import nn
from browsergpu.functions import elementwise, manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.ordering import sorting
from browsergpu.functions.weighted_sums import weighted_sums_gradient

#: max_pool2d with indices. Takes images, the options of each axis, and whether extents are rounded
#: up.
Maxima = Callable[[Array, Sequence[Shape], bool], tuple[Array, Array]]


def of_max(rank: int) -> Callable[..., Any]:
    """Return the gradient rule of maxima along one or two axes, whose indices are ``places``."""

    def rule(
        g: Any, places: Array, input_like: Like, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, ceil_mode: bool,
    ) -> Any:  # fmt: skip
        own = g[0] if isinstance(g, tuple) else g
        along = _windows(rank, kernel_size, stride, padding, dilation)
        extents = input_like.shape[-rank:]
        if rank == 1:
            along, extents = _with_unpooled_axis(along, 0), (1, *extents)
        found = _at_maxima(own, places, extents, along, ceil_mode)
        return manipulation.reshape(found, input_like.shape)

    return rule


def of_max_3d(maxima: Maxima) -> Callable[..., Any]:
    """Return the gradient rule of maxima along three axes."""

    def rule(
        g: Any, input: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool,
    ) -> Any:  # fmt: skip
        own = g[0] if isinstance(g, tuple) else g
        along = _windows(3, kernel_size, stride, padding, dilation)
        return _max_gradient_3d(maxima, own, input, along, ceil_mode)

    return rule


def of_mean(rank: int) -> Callable[..., Any]:
    """Return the gradient rule of means along ``rank`` axes."""

    def rule(
        g: Array, input_like: Like, kernel_size: Any, stride: Any, padding: Any,
        count_include_pad: bool,
    ) -> Any:  # fmt: skip
        along = _windows(rank, kernel_size, stride, padding)
        return _mean_gradient(g, input_like.shape, along, count_include_pad)

    return rule


def _windows(rank: int, kernel_size: Any, stride: Any, *others: Any) -> list[Shape]:
    """Expand checked options to one number for each axis."""
    given = (kernel_size, kernel_size if stride is None else stride, *others)
    return [checks.each_axis("pooling", "setting", value, rank, 0) for value in given]


def _with_unpooled_axis(along: Sequence[Shape], place: int) -> list[Shape]:
    """Add an axis that is not pooled, at position ``place``, to the options of one axis."""
    return [
        (neutral, own[0]) if place == 0 else (own[0], neutral)
        for neutral, own in zip((1, 1, 0, 1), along, strict=True)
    ]


def _mean_gradient(g: Any, shape: Shape, along: Sequence[Shape], count_include_pad: bool) -> Any:
    """Return the gradient for an input of this shape."""
    axes = range(g.ndim - len(along[0]), g.ndim)
    for axis, kernel, step, before in zip(axes, *along, strict=True):
        extent = shape[axis]
        first = np.arange(g.shape[axis])[:, None] * step - before
        places = first + np.arange(kernel)
        inside = (places >= 0) & (places < extent)
        counted = places < extent + before if count_include_pad else inside
        shares = inside / counted.sum(1, keepdims=True)
        g = weighted_sums_gradient(g, axis, np.clip(places, 0, extent - 1), shares, extent)
    return g


def _max_gradient_3d(
    maxima: Maxima, g: Array, x: Array, along: Sequence[Shape], upwards: bool
) -> Any:
    """Return the gradient through the maxima along the depth and those of the images."""
    *_, depth, rows, columns = x.shape
    flat_images = manipulation.reshape(x, (-1, depth, rows, columns))
    flat = [own[1:] for own in along]
    planes, _ = maxima(flat_images, flat, upwards)
    count, pixels = len(planes), product(planes.shape[2:])
    lines = manipulation.reshape(planes, (count, 1, depth, pixels))
    of_lines = manipulation.reshape(g, (count, 1, g.shape[-3], pixels))
    of_planes = _max_gradient_2d(maxima, of_lines, lines, _with_unpooled_axis(along, 1), upwards)
    found = manipulation.reshape(of_planes, planes.shape)
    return manipulation.reshape(
        _max_gradient_2d(maxima, found, flat_images, flat, upwards), x.shape
    )


def _max_gradient_2d(
    maxima: Maxima, g: Array, x: Array, along: Sequence[Shape], upwards: bool
) -> Any:
    """Add the gradient of each window to its maximum."""
    _, places = maxima(x, along, upwards)
    return manipulation.reshape(_at_maxima(g, places, x.shape[-2:], along, upwards), x.shape)


def _at_maxima(
    g: Array, places: Array, extents: Shape, along: Sequence[Shape], upwards: bool
) -> Any:
    """Return [planes, 1, H, W]: the sum of the windows whose maximum is at each position."""
    kernel, stride, padding, dilation = along
    options = kernel, stride, padding, dilation, upwards
    windows = plan_pool("max_pool", (1, 1, *extents), *options).output_shape
    planes = g.size // max(product(windows), 1)
    own, at = (manipulation.reshape(v, (planes, *windows[1:])) for v in (g, places))
    return at_maxima(own, at, extents, *options)


def _picked(g: Array, places: Array, extents: Shape) -> Any:
    """Return the elements at the maxima, and zeros for windows without any."""
    flat = manipulation.reshape(g, (g.shape[0], product(extents)))
    own = manipulation.reshape(places, (places.shape[0], product(places.shape[1:])))
    found = sorting.take_along_axis(flat, elementwise.maximum(own, 0), axis=1)
    return manipulation.reshape(elementwise.where(own >= 0, found, 0), places.shape)


@differentiable(g=_picked)
def at_maxima(
    g: Array, places: Array, extents: Shape, kernel: Shape, stride: Shape, padding: Shape,
    dilation: Shape, upwards: bool, /,
) -> Array:  # fmt: skip
    """Return the sum of ``g`` over the windows whose maximum is at each position.

    Parameters
    ----------
    g : Array
        [planes, 1, P, Q], floats.
    places : Array
        The position of the maximum of each window, of the shape of ``g``, int32.
    extents, kernel, stride, padding, dilation, upwards
        The extents H, W of a plane, and the options of the windows.

    Returns
    -------
    Array
        [planes, 1, H, W], of the dtype of ``g``.
    """
    op = "max_pool"
    shape = (g.shape[0], 1, *extents)
    made = inputs.room(op, g, g.node.kind, shape)
    if made.size:
        plan = plan_pool(op, shape, kernel, stride, padding, dilation, upwards)
        own, at = apply.packed(g), apply.packed(places)
        nn.max_pool_gradient(
            g.device, op, plan, inputs.memory(own), inputs.memory(at), inputs.memory(made)
        )
    return made
