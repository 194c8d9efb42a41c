"""Patches of images as columns, and their sum."""

from __future__ import annotations

from itertools import product as places_of
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import creation, manipulation
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.padding import pad
from browsergpu.functions.nn.windows import windows
from browsergpu.functions.parts import added_at


def _settings(
    op: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any, size: Shape
) -> tuple[list[Shape], Shape]:
    """Return the checked options of both axes, and the number of patches along each."""
    names = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    along = [
        checks.each_axis(op, name, value, 2, 0 if name == "padding" else 1)
        for name, value in names.items()
    ]
    counts = tuple(
        (extent + 2 * around - gap * (kernel - 1) - 1) // step + 1
        for extent, kernel, gap, around, step in zip(size, *along, strict=True)
    )
    if min(counts) < 1:
        expected = f"patches that fit into {size[0]} × {size[1]} elements with their padding"
        raise InvalidArgument(op, "kernel_size", kernel_size, expected)
    return along, counts


def _unfold_gradient(
    g: Array, input_like: Like, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Array:
    return fold(g, input_like.shape[-2:], kernel_size, dilation, padding, stride)


@differentiable(input=_unfold_gradient)
def unfold(
    input: Array, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Array:
    """Return the patches of images as columns.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    kernel_size : int or sequence of int
        Extent of a patch. This and the next options are one number, or one for each axis.
    dilation : int or sequence of int, optional
        Distance of elements in a patch.
    padding : int or sequence of int, optional
        Zeros added at both ends.
    stride : int or sequence of int, optional
        Distance of patches.

    Returns
    -------
    Array
        Shape [N, C × kernel, patches] or [C × kernel, patches].

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "unfold"
    x, alone = inputs.images(op, "input", input, 2)
    along, counts = _settings(op, kernel_size, dilation, padding, stride, x.shape[2:])
    kernel, gaps, around, steps = along
    if any(around):
        x = pad(x, [around[1], around[1], around[0], around[0]])
    parts = windows(x, counts, kernel, (0, 0), steps, gaps)  # [C, kernel, N, patches]
    found = manipulation.moveaxis(parts, 3, 0)
    shape = (x.shape[0], x.shape[1] * product(kernel), product(counts))
    found = manipulation.reshape(found, shape)
    return manipulation.reshape(found, shape[1:]) if alone else found


def _fold_gradient(g: Array, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    return unfold(g, kernel_size, dilation, padding, stride)


@differentiable(input=_fold_gradient)
def fold(
    input: Array, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Array:  # fmt: skip
    """Add up patches as images, where they overlap. :func:`unfold` makes such patches.

    Parameters
    ----------
    input : Array
        Shape [N, C × kernel, patches] or [C × kernel, patches], float32 or float16.
    output_size : int or sequence of int
        The extents H and W.
    kernel_size : int or sequence of int
        Extent of a patch. This and the next options are one number, or one for each axis.
    dilation : int or sequence of int, optional
        Distance of elements in a patch.
    padding : int or sequence of int, optional
        Elements that are removed at both ends.
    stride : int or sequence of int, optional
        Distance of patches.

    Returns
    -------
    Array
        Shape [N, C, H, W] or [C, H, W].

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "fold"
    x = inputs.floats(op, "input", input)
    size = checks.each_axis(op, "output_size", output_size, 2, 1)
    along, counts = _settings(op, kernel_size, dilation, padding, stride, size)
    kernel, gaps, around, steps = along
    if x.ndim not in (2, 3) or x.shape[-2] % product(kernel) or x.shape[-1] != product(counts):
        expected = f"have shape [N, C × {product(kernel)}, {product(counts)}], or without N"
        raise InvalidArgument(op, "input", x, expected)
    alone = x.ndim == 2
    batches, channels = 1 if alone else x.shape[0], x.shape[-2] // product(kernel)
    parts = manipulation.reshape(x, (batches, channels, *kernel, *counts))
    whole = [extent + 2 * cut for extent, cut in zip(size, around, strict=True)]
    total = creation.zeros((batches, channels, *whole), dtype=x.dtype, device=x.device)
    for place in places_of(*map(range, kernel)):
        key = [
            slice(n * gap, n * gap + (count - 1) * step + 1, step)
            for n, gap, count, step in zip(place, gaps, counts, steps, strict=True)
        ]
        total = added_at(total, (..., *key), parts[(slice(None), slice(None), *place)])
    inside = [slice(cut, cut + extent) for cut, extent in zip(around, size, strict=True)]
    found = total[(0, slice(None), *inside) if alone else (..., *inside)]
    return found.copy() if any(around) or alone else found
