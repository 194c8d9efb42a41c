"""Filters of images.

Images have shape [H, W], or [H, W, C] with 1 to 4 channels. The last of 2 or 4 channels is alpha,
and stays unchanged. Elements are floats from 0 to 1, or uint8, where 0 to 255 stand for 0 to 1.
Results have the same shape and dtype, and are clamped to this range. Pixels outside the image
repeat its border.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.lazy.node import room
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT16, FLOAT32, UINT8
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.tensors import images
from browsergpu.engine.tensors.view import View
from browsergpu.functions.images import gradients
from browsergpu.functions.operands import array


@differentiable(image=gradients.of_grayscale)
def grayscale(image: Array) -> Array:
    """Convert colors to their luminance, 0.299 r + 0.587 g + 0.114 b (ITU-R BT.601).

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    return _filtered("grayscale", image, images.point, "grayscale", 0.0)


@constant
def threshold(image: Array, value: float) -> Array:
    """Set elements to 1 if they are at least ``value``, and to 0 otherwise.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.
    value : float
        The threshold, from 0 to 1.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    op = "threshold"
    return _filtered(op, image, images.point, op, checks.real(op, "value", value))


@differentiable(image=lambda g, image, factor: gradients.of_affine(g, image, float(factor), 0.0))
def brightness(image: Array, factor: float) -> Array:
    """Multiply the elements by ``factor``.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.
    factor : float
        The factor.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    op = "brightness"
    return _filtered(op, image, images.point, op, checks.real(op, "factor", factor))


@differentiable(
    image=lambda g, image, factor: gradients.of_affine(
        g, image, float(factor), 0.5 - 0.5 * float(factor)
    )
)
def contrast(image: Array, factor: float) -> Array:
    """Scale the elements around 0.5: ``(x - 0.5) * factor + 0.5``.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.
    factor : float
        The factor.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    op = "contrast"
    return _filtered(op, image, images.point, op, checks.real(op, "factor", factor))


@differentiable(image=lambda g, image: gradients.of_affine(g, image, -1.0, 1.0))
def invert(image: Array) -> Array:
    """Invert the elements: ``1 - x``.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    return _filtered("invert", image, images.point, "invert", 0.0)


@differentiable(image=gradients.of_sharpen)
def sharpen(image: Array) -> Array:
    """Sharpen an image: five times each element minus its four neighbors.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    return _filtered("sharpen", image, images.stencil, "sharpen", 0.0)


@constant
def sobel(image: Array, threshold: float) -> Array:
    """Find edges with Sobel's 3 × 3 masks.

    Elements are 1 where the gradient of the luminance is greater than ``threshold``, and 0
    elsewhere.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.
    threshold : float
        The threshold.

    Returns
    -------
    Array
        The shape and dtype of ``image``. Alpha is unchanged.

    Raises
    ------
    InvalidArgument
        If the image has another shape.
    InvalidType
        If the image has another dtype.
    """
    op = "sobel"
    return _filtered(op, image, images.stencil, op, checks.real(op, "threshold", threshold))


@differentiable(image=gradients.of_gaussian_blur)
def gaussian_blur(image: Array, sigma: float) -> Array:
    """Blur an image with a Gaussian filter. Alpha is blurred, too.

    Parameters
    ----------
    image : Array
        Shape [H, W] or [H, W, C] with 1 to 4 channels. Floats from 0 to 1, or uint8.
    sigma : float
        Standard deviation in pixels, greater than 0 and at most 1000. The filter is cut off at a
        distance of ⌈3 sigma⌉.

    Returns
    -------
    Array
        The shape and dtype of ``image``.

    Raises
    ------
    InvalidArgument
        If the image has another shape, or ``sigma`` is out of range.
    InvalidType
        If the image has another dtype.
    """
    op = "gaussian_blur"
    width = checks.real(op, "sigma", sigma)
    if not 0 < width <= 1000:
        raise InvalidArgument(op, "sigma", sigma, "a number above 0, at most 1000 pixels")
    x = _packed(op, image)
    made = x.like(room(x.device, op, x.node.kind, x.shape))
    if x.size:
        images.gaussian_blur(x.device, op, _memory(x), _memory(made), width)
    return made


def _filtered(
    op: str, image: Any, kernel: Callable[..., None], function: str, amount: float
) -> Array:
    x = _packed(op, image)
    made = x.like(room(x.device, op, x.node.kind, x.shape))
    if x.size:
        kernel(x.device, op, function, _memory(x), _memory(made), amount)
    return made


def _packed(op: str, image: Any) -> Array:
    """Return an image packed in memory. Raises for other dtypes and shapes."""
    x = array(op, "image", image)
    if x.node.kind not in (FLOAT16, FLOAT32, UINT8):
        raise InvalidType(op, "image", x, "float32, float16 or uint8")
    if x.ndim not in (2, 3) or (x.ndim == 3 and not 1 <= x.shape[2] <= 4):
        expected = "have shape [H, W] or [H, W, 1 to 4 channels]"
        raise InvalidArgument(op, "image", x, expected)
    return apply.packed(x)


def _memory(x: Array) -> View:
    return reduce.memory_view(x.node.in_memory())
