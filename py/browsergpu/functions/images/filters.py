"""Filters of pictures: [H, W], or [H, W, C] of 1 to 4 channels, of which the last of 2 or 4 is
alpha and stays as it is. Floats from 0 to 1, or uint8, which stands for 0..1 as 0 to 255; results
have the same shape and dtype, and are within the range. Borders are repeated outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.core import checks
from browsergpu.core.element_types import FLOAT16, FLOAT32, UINT8
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions.images import gradients
from browsergpu.functions.operands import array
from browsergpu.tensors import images
from browsergpu.tensors.view import View


@differentiable(image=gradients.of_grayscale)
def grayscale(image: Array) -> Array:
    """Each colour becomes 0.299 r + 0.587 g + 0.114 b (ITU-R BT.601)."""
    return _filtered("grayscale", image, images.point, "grayscale", 0.0)


@constant
def threshold(image: Array, value: float) -> Array:
    """1 where an element is at least ``value``, else 0."""
    op = "threshold"
    return _filtered(op, image, images.point, op, checks.real(op, "value", value))


@differentiable(image=lambda g, image, factor: gradients.of_affine(g, image, float(factor), 0.0))
def brightness(image: Array, factor: float) -> Array:
    """x factor."""
    op = "brightness"
    return _filtered(op, image, images.point, op, checks.real(op, "factor", factor))


@differentiable(
    image=lambda g, image, factor: gradients.of_affine(
        g, image, float(factor), 0.5 - 0.5 * float(factor)
    )
)
def contrast(image: Array, factor: float) -> Array:
    """(x - 0.5) factor + 0.5."""
    op = "contrast"
    return _filtered(op, image, images.point, op, checks.real(op, "factor", factor))


@differentiable(image=lambda g, image: gradients.of_affine(g, image, -1.0, 1.0))
def invert(image: Array) -> Array:
    """1 - x."""
    return _filtered("invert", image, images.point, "invert", 0.0)


@differentiable(image=gradients.of_sharpen)
def sharpen(image: Array) -> Array:
    """Five times each element less its four neighbours."""
    return _filtered("sharpen", image, images.stencil, "sharpen", 0.0)


@constant
def sobel(image: Array, threshold: float) -> Array:
    """1 where the gradient of the luminance, by Sobel's 3 × 3 masks, is larger than ``threshold``,
    else 0."""
    op = "sobel"
    return _filtered(op, image, images.stencil, op, checks.real(op, "threshold", threshold))


@differentiable(image=gradients.of_gaussian_blur)
def gaussian_blur(image: Array, sigma: float) -> Array:
    """The mean with the weights of a Gaussian of a standard deviation of ``sigma`` pixels, above 0
    and at most 1000, cut off at a distance of ⌈3 sigma⌉. All channels, alpha too."""
    op = "gaussian_blur"
    width = checks.real(op, "sigma", sigma)
    if not 0 < width <= 1000:
        raise InvalidArgument(op, "sigma", sigma, "a number above 0, at most 1000 pixels")
    x = _picture(op, image)
    made = x.like(reduce.room(x.device, op, x.node.kind, x.shape))
    if x.size:
        images.gaussian_blur(x.device, op, _memory(x), _memory(made), width)
    return made


def _filtered(
    op: str, image: Any, kernel: Callable[..., None], function: str, amount: float
) -> Array:
    x = _picture(op, image)
    made = x.like(reduce.room(x.device, op, x.node.kind, x.shape))
    if x.size:
        kernel(x.device, op, function, _memory(x), _memory(made), amount)
    return made


def _picture(op: str, image: Any) -> Array:
    """A picture, packed in memory."""
    x = array(op, "image", image)
    if x.node.kind not in (FLOAT16, FLOAT32, UINT8):
        raise InvalidType(op, "image", x, "float32, float16 or uint8")
    if x.ndim not in (2, 3) or (x.ndim == 3 and not 1 <= x.shape[2] <= 4):
        expected = "have shape [H, W] or [H, W, 1 to 4 channels]"
        raise InvalidArgument(op, "image", x, expected)
    return apply.packed(x)


def _memory(x: Array) -> View:
    return reduce.memory_view(x.node.in_memory())
