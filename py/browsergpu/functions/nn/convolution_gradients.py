"""Gradients of convolutions and transposed convolutions along any number of axes.

A kernel of its own computes the gradient for the filters along one and two axes in float32.
Otherwise it is a matrix product: one factor is the gradient of the result, the other the input
elements at each kernel position (im2col).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as places_of
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.convolution.conv2d import plan_conv2d
from browsergpu.engine.kernels.convolution.conv2d_filters import has_filter_gradient
from browsergpu.engine.tensors import nn
from browsergpu.functions import manipulation, statistics
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.padding import pad
from browsergpu.functions.nn.windows import windows

#: Most bytes of the input elements of a product, unless one kernel position has more.
_BYTES = 1 << 28
#: Filters with fewer elements are computed in float32: their long sums are slow, and may overflow,
#: in float16.
_FEW = 1 << 18

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
    return checks.each_axis("convolution", "setting", value, rank, 0)


def _pad_widths(padding: Any, kernel: Shape, dilation: Shape) -> list[tuple[int, int]]:
    """Return the zeros before and after each axis."""
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding == "same":
        sums = [gap * (extent - 1) for gap, extent in zip(dilation, kernel, strict=True)]
        return [(n // 2, n - n // 2) for n in sums]
    return [*zip(*checks.margins("convolution", "padding", padding, len(kernel)), strict=True)]


def _crop(x: Array, extents: Sequence[int], first: Sequence[int] | None = None) -> Array:
    """Return elements along the last axes, from the first ones or others."""
    if x.shape[-len(extents) :] == tuple(extents):
        return x
    begins = [0] * len(extents) if first is None else first
    parts = [slice(at, at + extent) for at, extent in zip(begins, extents, strict=True)]
    return x[(..., *parts)]


def _input_gradient(
    back: Callable[..., Array], g: Array, weight: Array, extents: Shape, stride: Any, padding: Any,
    dilation: Any, groups: int,
) -> Any:  # fmt: skip
    """Return a convolution's gradient for its input. ``back`` is the transposed convolution."""
    kernel = weight.shape[2:]
    rank = len(kernel)
    steps, apart = _each(stride, rank), _each(dilation, rank)
    pairs = _pad_widths(padding, kernel, apart)
    least = [min(pair) for pair in pairs]  # what the transposed convolution cuts at both ends
    first = [before - n for (before, _), n in zip(pairs, least, strict=True)]
    spare = [
        begin + extent - ((own - 1) * step - 2 * n + gap * (size - 1) + 1)
        for begin, extent, own, step, n, gap, size in zip(
            first, extents, g.shape[-rank:], steps, least, apart, kernel, strict=True
        )
    ]
    more = [max(n, 0) for n in spare]  # beyond the last window
    return _crop(back(g, weight, None, steps, least, more, groups, apart), extents, first)


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
    direct = _by_one_kernel(x, g, shape, steps, pairs, apart, groups)
    if direct is not None:
        return direct
    if any(n for pair in pairs for n in pair):
        x = pad(x, [n for pair in reversed(pairs) for n in pair])
    if x.ndim == rank + 1:
        x = manipulation.expand_dims(x, axis=0)
    dtype = x.dtype
    if dtype == np.float16 and product(shape) < _FEW:
        x, g = x.astype(np.float32), g.astype(np.float32)
    left = _by_channel(g, groups, rank)
    count = left.shape[-1]
    limit = x.device.recorder.limits.get("maxStorageBufferBindingSize", _BYTES)
    most = min(limit, _BYTES) // max(x.dtype.itemsize * groups * depth * count, 1)
    parts = []
    for first, size in _blocks(tuple(kernel), most):
        met = windows(x, g.shape[-rank:], size, first, steps, apart)
        right = manipulation.reshape(met, (groups, depth * product(size), count))
        found = matmul(left, manipulation.matrix_transpose(right))
        parts.append(manipulation.reshape(found, (filters, depth, size[0], product(size[1:]))))
    if len(parts) > 1:
        is_by_rows = parts[0].shape[-1] == product(kernel[1:])
        parts = [manipulation.concat(parts, axis=2 if is_by_rows else -1)]
    return manipulation.reshape(parts[0], shape).astype(dtype, copy=False)


@exclusive
def _by_one_kernel(
    x: Array, g: Array, shape: Shape, stride: Shape, pairs: Sequence[tuple[int, int]],
    dilation: Shape, groups: int,
) -> Any:  # fmt: skip
    """Return :func:`_weight_gradient` by the kernel that reads x and g in place, or None.

    Tracked and batched arrays are left to functions that have gradients and batching rules.
    """
    rank = len(stride)
    if rank > 2 or type(x) in INTERCEPTED or type(g) in INTERCEPTED:
        return None
    if x.dtype == np.float16 and product(shape) >= _FEW:
        return None
    if any(before != after for before, after in pairs):
        return None
    more = 2 - rank  # axes of extent 1
    images, outputs = x, g
    if more or x.ndim == 3:
        images, outputs = (
            manipulation.reshape(v, (product(v.shape[: -rank - 1]), v.shape[-rank - 1],
                                     *(1,) * more, *v.shape[-rank:]))
            for v in (x, g)
        )  # fmt: skip
    filters = (*shape[:2], *(1,) * more, *shape[2:])
    margin = (*(0,) * more, *[before for before, _ in pairs])
    ones = (1,) * more
    op = "convolution"
    plan = plan_conv2d(
        op, images.shape, filters, None, (*ones, *stride), margin, (*ones, *dilation), groups
    )
    if plan.output_shape != outputs.shape or not has_filter_gradient(plan):
        return None
    made = inputs.room(op, x, FLOAT32, filters)
    own, of_result = apply.packed(images), apply.packed(outputs)
    nn.conv2d_filter_gradient(
        x.device, op, plan, inputs.memory(own), inputs.memory(of_result), inputs.memory(made)
    )
    whole = manipulation.reshape(made, shape) if more else made
    return whole.astype(x.dtype, copy=False)


def _blocks(kernel: Shape, most: int) -> list[tuple[Shape, Shape]]:
    """Divide a kernel into parts of at most ``most`` positions, or of one.

    Returns the first position and the shape of each: rows of the kernel, or single positions.
    """
    row = product(kernel[1:])
    rest = (0,) * (len(kernel) - 1)
    if row > most:
        return [(place, (1,) * len(kernel)) for place in places_of(*map(range, kernel))]
    together = min(most // max(row, 1), kernel[0])
    return [
        ((n, *rest), (min(together, kernel[0] - n), *kernel[1:]))
        for n in range(0, kernel[0], together)
    ]


def _by_channel(x: Any, groups: int, rank: int) -> Any:
    """Return [N, C, ...] or [C, ...] as [groups, C / groups, N * ...]."""
    if x.ndim == rank + 2:
        x = manipulation.moveaxis(x, 1, 0)
    return manipulation.reshape(x, (groups, x.shape[0] // groups, product(x.shape[1:])))
