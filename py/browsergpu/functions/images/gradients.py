"""Gradients of image filters.

Elements that were clamped to 0 or 1 have no gradient. Elements that are 0 or 1 without clamping
have one.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.weighted_sums import weighted_sums, weighted_sums_gradient

_LUMINANCE = (0.299, 0.587, 0.114)


def _color_count(shape: Shape) -> int:
    """Return the number of channels without alpha."""
    channels = shape[2] if len(shape) == 3 else 1
    return channels - (channels % 2 == 0)


def _by_channel(x: Array, of_colour: float, of_alpha: float) -> Any:
    """Return a factor for each channel."""
    if x.ndim == 2 or x.shape[2] % 2:
        return of_colour
    numbers = [of_colour] * _color_count(x.shape) + [of_alpha]
    return creation.asarray(np.array(numbers, np.float32), device=x.device)


def _unclamped(g: Array, uncut: Any) -> Any:
    inside = elementwise.logical_and(uncut >= 0, uncut <= 1)
    return elementwise.where(inside, g, 0.0)


def of_affine(g: Array, image: Array, slope: float, offset: float) -> Any:
    """Return the gradient of ``slope * x + offset`` of colors."""
    slopes = _by_channel(image, slope, 1.0)
    return _unclamped(g, image * slopes + _by_channel(image, offset, 0.0)) * slopes


def of_grayscale(g: Array, image: Array) -> Any:
    """Return the gradient for the image: each color's share of the luminance."""
    if _color_count(image.shape) == 1:
        return _unclamped(g, image)
    weights = np.eye(image.shape[2], dtype=np.float32)
    weights[:3, :3] = _LUMINANCE
    own = creation.asarray(weights, device=image.device)
    uncut = matmul(image, manipulation.matrix_transpose(own))
    return matmul(_unclamped(g, uncut), own)


def of_sharpen(g: Array, image: Array) -> Any:
    """Return the gradient for the image: the transposed filter, with repeated borders."""
    sharp = _by_channel(image, 1.0, 0.0)
    uncut: Any = image + image * 4 * sharp
    for axis in (0, 1):
        near = weighted_sums(image, axis, *_neighbors(image.shape[axis]))
        uncut = uncut - near * sharp
    inside = _unclamped(g, uncut)
    own = inside * sharp
    found = inside + own * 4
    for axis in (0, 1):
        extent = image.shape[axis]
        found = found - weighted_sums_gradient(own, axis, *_neighbors(extent), extent)
    return found


def _neighbors(extent: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices before and after each element, with weights of 1."""
    places = np.clip(np.arange(extent)[:, None] + (-1, 1), 0, extent - 1)
    return places, np.ones(places.shape, np.float32)


def of_gaussian_blur(g: Array, sigma: float) -> Any:
    """Return the gradient for the image, by products with the matrices of weights.

    Means of elements from 0 to 1 are not clamped.
    """
    found: Any = g
    for axis in (0, 1):
        moved = manipulation.moveaxis(found, axis, -1)
        rows = manipulation.reshape(moved, (-1, g.shape[axis]))
        own = creation.asarray(_gaussian(g.shape[axis], float(sigma)), device=g.device)
        product = manipulation.reshape(matmul(rows, own), moved.shape)
        found = manipulation.moveaxis(product, -1, axis)
    return found


def _gaussian(extent: int, sigma: float) -> np.ndarray:
    """Return the weights along an axis, of shape [results, elements], with repeated borders."""
    reach = ceil(3 * sigma)
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (steps / sigma) ** 2)
    weights /= weights.sum()
    results = np.arange(extent)
    found = np.zeros((extent, extent))
    for step, weight in zip(steps, weights, strict=True):
        found[results, np.clip(results + step, 0, extent - 1)] += weight
    return found.astype(np.float32)
