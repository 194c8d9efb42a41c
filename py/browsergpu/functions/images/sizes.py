"""Resizing of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32, UINT8
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import elementwise, manipulation
from browsergpu.functions.images.interpolation import METHODS, nearest, taps
from browsergpu.functions.operands import array
from browsergpu.functions.weighted_sums import weighted_sums, weighted_sums_gradient


def _resize_gradient(g: Any, image_like: Like, method: str, antialias: bool) -> Any:
    for axis in (0, 1):
        extent, size = image_like.shape[axis], g.shape[axis]
        if size == extent:
            continue
        if method == "nearest":
            places = nearest(extent, size)[:, None]
            weights = np.ones(places.shape)
        else:
            places, weights = taps(extent, size, method, antialias)
        g = weighted_sums_gradient(g, axis, places, weights, extent)
    return g


@differentiable(image=_resize_gradient)
def resize(image: Array, size: Any, method: str = "bilinear", *, antialias: bool = False) -> Array:
    """Resize an image.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C]. float32, float16 or uint8, and any dtype for "nearest".
    size : tuple of int
        The new height and width.
    method : {"bilinear", "bicubic", "nearest"}, optional
        "nearest" takes the pixel that contains a new pixel's center. The others interpolate. uint8
        results are rounded and clamped to 0 to 255.
    antialias : bool, optional
        False reads 2 or 4 pixels along an axis, as PyTorch (cubic with a = -0.75, repeated
        borders). True reads as many as a smaller image needs, as Pillow (a = -0.5). Not for
        "nearest".

    Returns
    -------
    Array
        Shape [height, width] or [height, width, C], of the dtype of ``image``.

    Raises
    ------
    InvalidArgument
        If the image has another shape or no elements, or ``size``, ``method`` or ``antialias`` is
        invalid.
    InvalidType
        If the dtype is not supported.

    Notes
    -----
    Pixel centers are at half-integers, as in Pillow, and in PyTorch without ``align_corners``. The
    host computes only the indices and weights along each axis.
    """
    op = "resize"
    x = array(op, "image", image)
    if x.ndim not in (2, 3) or 0 in x.shape:
        expected = "have shape [H, W] or [H, W, C], with elements"
        raise InvalidArgument(op, "image", x, expected)
    sizes = checks.dimensions(op, "size", size, 2, 1)
    if method not in METHODS:
        raise InvalidArgument(op, "method", method, f"one of {', '.join(METHODS)}")
    wide = checks.flag(op, "antialias", antialias)
    given = x
    if method == "nearest":
        if wide:
            raise InvalidArgument(op, "antialias", antialias, "False for the method 'nearest'")
        for axis, extent in enumerate(sizes):
            if extent != x.shape[axis]:
                x = manipulation.take(x, nearest(x.shape[axis], extent), axis=axis)
        return apply.duplicate(x) if x is given else x
    kind = x.node.kind
    if kind is not UINT8 and kind.kind != "f":
        raise InvalidType(op, "image", x, "float32, float16 or uint8")
    found = apply.cast_to(op, x, FLOAT32, copy=False)
    for axis, extent in enumerate(sizes):
        if extent != x.shape[axis]:
            found = weighted_sums(found, axis, *taps(x.shape[axis], extent, method, wide))
    if kind is UINT8:
        found = elementwise.round(elementwise.clip(found, 0, 255))
    return apply.cast_to(op, found, kind)
