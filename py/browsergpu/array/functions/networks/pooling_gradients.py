"""Gradients of pooling: each element takes from the windows that it is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from browsergpu.array.array import Array
from browsergpu.array.functions import creation, elementwise, manipulation
from browsergpu.array.functions.networks import inputs
from browsergpu.array.functions.weighting import added_back, weighted_sums
from browsergpu.array.tracking.steps import Like
from browsergpu.core.checks import product
from browsergpu.core.shapes import Shape

#: Of pictures what max_pool2d gives, with indices: of the settings of each axis, and whether
#: extents are rounded upwards.
Maxima = Callable[[Array, Sequence[Shape], bool], tuple[Array, Array]]


def of_max(rank: int, maxima: Maxima) -> Callable[..., Any]:
    """The rule of maxima along so many axes."""

    def rule(
        g: Any, input: Array, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool,
    ) -> Any:  # fmt: skip
        own = g[0] if isinstance(g, tuple) else g
        along = _windows(rank, kernel_size, stride, padding, dilation)
        if rank == 3:
            return _of_volumes(maxima, own, input, along, ceil_mode)
        if rank == 2:
            return _of_pictures(maxima, own, input, along, ceil_mode)
        row, of_row = (manipulation.expand_dims(x, axis=-2) for x in (input, own))
        found = _of_pictures(maxima, of_row, row, _beside(along, 0), ceil_mode)
        return manipulation.squeeze(found, -2)

    return rule


def of_mean(rank: int) -> Callable[..., Any]:
    """The rule of means along so many axes."""

    def rule(
        g: Array, input_like: Like, kernel_size: Any, stride: Any, padding: Any,
        count_include_pad: bool,
    ) -> Any:  # fmt: skip
        along = _windows(rank, kernel_size, stride, padding)
        return _of_means(g, input_like.shape, along, count_include_pad)

    return rule


def _windows(rank: int, kernel_size: Any, stride: Any, *others: Any) -> list[Shape]:
    """Settings, checked already, each for all axes."""
    given = (kernel_size, kernel_size if stride is None else stride, *others)
    return [inputs.each_axis("pooling", "setting", value, rank, 0) for value in given]


def _beside(along: Sequence[Shape], place: int) -> list[Shape]:
    """Settings of one axis, beside those at ``place`` of one that is not pooled."""
    return [
        (neutral, own[0]) if place == 0 else (own[0], neutral)
        for neutral, own in zip((1, 1, 0, 1), along, strict=True)
    ]


def _of_means(g: Any, shape: Shape, along: Sequence[Shape], count_include_pad: bool) -> Any:
    """By an input of this shape."""
    axes = range(g.ndim - len(along[0]), g.ndim)
    for axis, kernel, step, before in zip(axes, *along, strict=True):
        extent = shape[axis]
        first = np.arange(g.shape[axis])[:, None] * step - before
        places = first + np.arange(kernel)
        inside = (places >= 0) & (places < extent)
        counted = places < extent + before if count_include_pad else inside
        shares = inside / counted.sum(1, keepdims=True)
        g = added_back(g, axis, np.clip(places, 0, extent - 1), shares, extent)
    return g


def _of_volumes(maxima: Maxima, g: Array, x: Array, along: Sequence[Shape], upwards: bool) -> Any:
    """Of the pictures' maxima along the depth, and then of the pictures."""
    *_, depth, rows, columns = x.shape
    pictures = manipulation.reshape(x, (-1, depth, rows, columns))
    flat = [own[1:] for own in along]
    planes, _ = maxima(pictures, flat, upwards)
    count, pixels = len(planes), product(planes.shape[2:])
    lines = manipulation.reshape(planes, (count, 1, depth, pixels))
    of_lines = manipulation.reshape(g, (count, 1, g.shape[-3], pixels))
    of_planes = _of_pictures(maxima, of_lines, lines, _beside(along, 1), upwards)
    found = manipulation.reshape(of_planes, planes.shape)
    return manipulation.reshape(_of_pictures(maxima, found, pictures, flat, upwards), x.shape)


def _of_pictures(maxima: Maxima, g: Array, x: Array, along: Sequence[Shape], upwards: bool) -> Any:
    """An element is in a few windows along each axis; it takes from those whose maximum it is."""
    _, places = maxima(x, along, upwards)
    extents = x.shape[-2:]
    numbers = creation.arange(product(extents), dtype="int32", device=x.device)
    own = manipulation.reshape(numbers, extents)
    rows, columns = (
        _windows_of(*settings) for settings in zip(extents, g.shape[-2:], *along, strict=True)
    )
    found: Any = None
    down, across = g.ndim - 2, g.ndim - 1
    for row, in_rows in rows:
        at_row = manipulation.take(places, row, axis=down)
        of_row = weighted_sums(g, down, row[:, None], in_rows[:, None])
        for column, in_columns in columns:
            at = manipulation.take(at_row, column, axis=across)
            part = weighted_sums(of_row, across, column[:, None], in_columns[:, None])
            chosen = elementwise.where(elementwise.equal(at, own), part, 0.0)
            found = chosen if found is None else found + chosen
    return found


def _windows_of(
    extent: int, count: int, kernel: int, stride: int, padding: int, dilation: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each element along an axis a window that it may be in, and whether there is one; then
    another window, as often as there are more."""
    reach = dilation * (kernel - 1) + 1
    last = (np.arange(extent) + padding) // stride
    found = [last - back for back in range(-(-reach // stride))]
    return [(np.clip(n, 0, count - 1), ((n >= 0) & (n < count)).astype(np.float32)) for n in found]
