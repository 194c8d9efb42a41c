"""Gradients of pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.core.checks import product
from browsergpu.core.shapes import Shape
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.parts import added_at
from browsergpu.functions.weighted_sums import weighted_sums_gradient

#: max_pool2d with indices. Takes images, the options of each axis, and whether extents are rounded
#: up.
Maxima = Callable[[Array, Sequence[Shape], bool], tuple[Array, Array]]


def of_max(rank: int, maxima: Maxima) -> Callable[..., Any]:
    """Return the gradient rule of maxima along ``rank`` axes."""

    def rule(
        g: Any, input: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool,
    ) -> Any:  # fmt: skip
        own = g[0] if isinstance(g, tuple) else g
        along = _windows(rank, kernel_size, stride, padding, dilation)
        if rank == 3:
            return _max_gradient_3d(maxima, own, input, along, ceil_mode)
        if rank == 2:
            return _max_gradient_2d(maxima, own, input, along, ceil_mode)
        row, of_row = (manipulation.expand_dims(x, axis=-2) for x in (input, own))
        found = _max_gradient_2d(maxima, of_row, row, _with_unpooled_axis(along, 0), ceil_mode)
        return manipulation.squeeze(found, -2)

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
    return [inputs.each_axis("pooling", "setting", value, rank, 0) for value in given]


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
    count = product(x.shape[:-2])
    within, given = (manipulation.reshape(v, (count, product(g.shape[-2:]))) for v in (places, g))
    numbers = creation.arange(count, dtype="int32", device=x.device)
    key = (manipulation.expand_dims(numbers, axis=-1), within)
    found = creation.zeros((count, product(x.shape[-2:])), dtype=g.dtype, device=x.device)
    kernel, stride, _, dilation = along
    sizes = zip(kernel, stride, dilation, strict=True)
    if all(gap * (extent - 1) < step for extent, step, gap in sizes):
        found[key] = given  # windows do not overlap
    else:
        found = added_at(found, key, given)
    return manipulation.reshape(found, x.shape)
