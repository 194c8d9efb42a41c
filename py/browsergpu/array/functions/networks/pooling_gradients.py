"""Gradients of pooling: each element takes from the windows that it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.array.array import Array
from browsergpu.array.functions import creation, elementwise, manipulation
from browsergpu.array.functions.networks import inputs
from browsergpu.array.functions.weighting import added_back, weighted_sums
from browsergpu.core.checks import product
from browsergpu.core.shapes import Shape


def windows(rank: int, kernel_size: Any, stride: Any, *others: Any) -> list[Shape]:
    """Settings, checked already, each for all axes."""
    given = (kernel_size, kernel_size if stride is None else stride, *others)
    return [inputs.each_axis("pooling", "setting", value, rank, 0) for value in given]


def of_means(g: Any, shape: Shape, along: Sequence[Shape], count_include_pad: bool) -> Any:
    """Of the means of windows, by an input of this shape."""
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


def of_maxima(
    g: Array, places: Array, extents: Shape, kernel: Shape, stride: Shape, padding: Shape,
    dilation: Shape,
) -> Any:  # fmt: skip
    """Of the maxima of windows of pictures of these extents, where ``places`` says that they are.
    An element is in a few windows along each axis; it takes from those whose maximum it is."""
    numbers = creation.arange(product(extents), dtype="int32", device=places.device)
    own = manipulation.reshape(numbers, extents)
    along = zip(extents, g.shape[-2:], kernel, stride, padding, dilation, strict=True)
    rows, columns = (_windows_of(*settings) for settings in along)
    found: Any = None
    for row in rows:
        for column in columns:
            at, part = places, g
            for axis, (which, is_one) in ((g.ndim - 2, row), (g.ndim - 1, column)):
                at = manipulation.take(at, which, axis=axis)
                part = weighted_sums(part, axis, which[:, None], is_one[:, None])
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
