"""Gradients of convolutions and transposed convolutions along any number of axes.

The gradient for the filters is a matrix product. One factor is the gradient of the result, the
other the input elements at each kernel position. With few channels, several positions share one
product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as places_of
from typing import Any, TypeVar

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.core.checks import product
from browsergpu.core.shapes import Shape
from browsergpu.functions import manipulation, statistics
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.padding import pad

#: Most input elements of a product, unless one kernel position has more. They fit one binding of
#: every device, in float32.
_MOST = 1 << 25
#: Most columns of a product, wide enough for fast products. Most positions of a product, as many as
#: one kernel concatenates.
_COLUMNS, _PLACES = 64, 4

F = TypeVar("F", bound=Callable[..., Any])
#: Returns the function for a number of axes.

OfRank = Callable[[int], Any]


def of_convolution(back: OfRank) -> Callable[[F], F]:
    """Return the gradient rules of convolutions. ``back`` gives the transposed ones."""

    def of_input(
        g: Array, input_like: Like, weight: Array, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Any:  # fmt: skip
        rank = weight.ndim - 2
        extents = input_like.shape[-rank:]
        return _input_gradient(back(rank), g, weight, extents, stride, padding, dilation, groups)

    def of_weight(
        g: Array, input: Array, weight_like: Like, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Any:  # fmt: skip
        return _weight_gradient(input, g, weight_like.shape, stride, padding, dilation, groups)

    return differentiable(input=of_input, weight=of_weight, bias=_bias_gradient)


def of_transposed(ahead: OfRank) -> Callable[[F], F]:
    """Return the gradient rules of transposed convolutions. ``ahead`` gives the convolutions."""

    def of_input(
        g: Array, input_like: Like, weight: Array, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Any:  # fmt: skip
        rank = weight.ndim - 2
        found = ahead(rank)(g, weight, None, stride, padding, dilation, groups)
        return _crop(found, input_like.shape[-rank:])

    def of_weight(
        g: Array, input: Array, weight_like: Like, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Any:  # fmt: skip
        return _weight_gradient(g, input, weight_like.shape, stride, padding, dilation, groups)

    return differentiable(input=of_input, weight=of_weight, bias=_bias_gradient)


def _each(value: Any, rank: int) -> Shape:
    """Expand a checked option to one number for each axis."""
    return inputs.each_axis("convolution", "setting", value, rank, 0)


def _pad_widths(padding: Any, kernel: Shape, dilation: Shape) -> list[tuple[int, int]]:
    """Return the zeros before and after each axis."""
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding == "same":
        sums = [gap * (extent - 1) for gap, extent in zip(dilation, kernel, strict=True)]
        return [(n // 2, n - n // 2) for n in sums]
    return [(n, n) for n in _each(padding, len(kernel))]


def _crop(x: Array, extents: Sequence[int]) -> Array:
    """Return the first elements along the last axes."""
    if x.shape[-len(extents) :] == tuple(extents):
        return x
    return x[(..., *[slice(0, extent) for extent in extents])]


def _input_gradient(
    back: Callable[..., Array], g: Array, weight: Array, extents: Shape, stride: Any, padding: Any,
    dilation: Any, groups: int,
) -> Any:  # fmt: skip
    """Return a convolution's gradient for its input. ``back`` is the transposed convolution."""
    kernel = weight.shape[2:]
    rank = len(kernel)
    steps, apart = _each(stride, rank), _each(dilation, rank)
    before = [first for first, _ in _pad_widths(padding, kernel, apart)]
    spare = [
        extent - ((own - 1) * step - 2 * n + gap * (size - 1) + 1)
        for extent, own, step, n, gap, size in zip(
            extents, g.shape[-rank:], steps, before, apart, kernel, strict=True
        )
    ]
    more = [max(n, 0) for n in spare]  # "same" may add one zero more after than before
    return _crop(back(g, weight, None, steps, before, more, groups, apart), extents)


def _bias_gradient(g: Array, weight_like: Like) -> Any:
    """Return the sum of each channel."""
    channels = g.ndim - weight_like.ndim + 1
    return statistics.sum(g, axis=tuple(n for n in range(g.ndim) if n != channels))


def _weight_gradient(
    x: Array, g: Array, shape: Shape, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Return a convolution's gradient for filters of shape [F, C / groups, ...]."""
    filters, depth, *kernel = shape
    rank = len(kernel)
    steps, apart = _each(stride, rank), _each(dilation, rank)
    pairs = _pad_widths(padding, tuple(kernel), apart)
    if any(n for pair in pairs for n in pair):
        x = pad(x, [n for pair in reversed(pairs) for n in pair])
    count = product(g.shape[:-rank]) // max(filters, 1) * product(g.shape[-rank:])
    left = _by_channel(g, groups, rank)
    fitting = _MOST // max(count * depth * groups, 1)
    together = max(1, min(fitting, _COLUMNS // max(depth, 1), _PLACES))
    places = [*places_of(*map(range, kernel))]
    parts = []
    for first in range(0, len(places), together):
        met = []
        for place in places[first : first + together]:
            key = [
                slice(n * gap, n * gap + (extent - 1) * step + 1, step)
                for n, gap, extent, step in zip(place, apart, g.shape[-rank:], steps, strict=True)
            ]
            met.append(_by_channel(x[(..., *key)], groups, rank))
        right = manipulation.concat(met, axis=1) if len(met) > 1 else met[0]
        parts.append(matmul(left, manipulation.matrix_transpose(right)))
    found = manipulation.concat(parts, axis=-1) if len(parts) > 1 else parts[0]
    by_place = manipulation.reshape(found, (filters, len(places), depth))
    return manipulation.reshape(manipulation.matrix_transpose(by_place), shape)


def _by_channel(x: Any, groups: int, rank: int) -> Any:
    """Return [N, C, ...] or [C, ...] as [groups, C / groups, N * ...]."""
    if x.ndim == rank + 2:
        x = manipulation.moveaxis(x, 1, 0)
    return manipulation.reshape(x, (groups, x.shape[0] // groups, product(x.shape[1:])))
