"""Windows of images and of other arrays, as a convolution sees them."""

from __future__ import annotations

from itertools import product as places_of

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.views import strided
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import creation, manipulation
from browsergpu.functions.parts import added_at


def _windows_gradient(
    g: Array, x_like: Like, extents: Shape, kernel: Shape, first: Shape, stride: Shape,
    dilation: Shape,
) -> Array:  # fmt: skip
    total = creation.zeros(x_like.shape, dtype=g.dtype, device=g.device)
    for place in places_of(*map(range, kernel)):
        key = [
            slice((at + n) * gap, (at + n) * gap + (extent - 1) * step + 1, step)
            for at, n, gap, extent, step in zip(
                first, place, dilation, extents, stride, strict=True
            )
        ]
        total = added_at(total, (..., *key), manipulation.moveaxis(g[(slice(None), *place)], 0, 1))
    return total


@differentiable(x=_windows_gradient)
def windows(
    x: Array, extents: Shape, kernel: Shape, first: Shape, stride: Shape, dilation: Shape, /
) -> Array:
    """Return the elements that meet a part of a kernel, as a view.

    Parameters
    ----------
    x : Array
        [N, C, ...], padded.
    extents : tuple of int
        The number of windows along each axis.
    kernel, first : tuple of int
        The shape of the part, and its first position in the kernel.
    stride, dilation : tuple of int
        Distances of windows, and of elements in a window.

    Returns
    -------
    Array
        [C, *kernel, N, *extents].
    """
    x.node.in_memory()
    image, channel, *steps = strided.strides_of(x)
    offset = sum(step * gap * at for step, gap, at in zip(steps, dilation, first, strict=True))
    return strided.view(
        x,
        (x.shape[1], *kernel, x.shape[0], *extents),
        (
            channel,
            *[step * gap for step, gap in zip(steps, dilation, strict=True)],
            image,
            *[step * apart for step, apart in zip(steps, stride, strict=True)],
        ),
        offset,
    )
