"""Weighted sums of neighboring elements along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.functions import creation, elementwise, manipulation, statistics


def weighted_sums_gradient(
    g: Any, axis: int, places: np.ndarray, weights: np.ndarray, extent: int
) -> Any:
    """Return the gradient of :func:`weighted_sums` along an axis of ``extent`` elements.

    Each element gets the gradients of its sums, times the weights. Complex numbers are supported.
    """
    if g.dtype.kind == "c":
        imag = weighted_sums_gradient(elementwise.imag(g), axis, places, weights, extent)
        return (
            weighted_sums_gradient(elementwise.real(g), axis, places, weights, extent) + imag * 1j
        )
    return weighted_sums(g, axis, *_transpose(places, weights, extent))


def _transpose(
    places: np.ndarray, weights: np.ndarray, extent: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums that contain each element, and its weights, padded to equal length."""
    count = len(places)
    counted = weights != 0
    pairs = (places.astype(np.int64) * count + np.arange(count)[:, None])[counted]
    found, which = np.unique(pairs, return_inverse=True)
    own, sums = np.divmod(found, count)
    numbers = np.arange(found.size) - np.searchsorted(own, own)
    shape = (extent, int(numbers.max(initial=0)) + 1)
    back, factors = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    back[own, numbers] = sums
    factors[own, numbers] = np.bincount(which.reshape(-1), weights[counted], found.size)
    return back, factors


def _gradient(g: Array, x_like: Like, axis: int, places: np.ndarray, weights: np.ndarray) -> Any:
    return weighted_sums_gradient(g, axis, places, weights, x_like.shape[axis])


@differentiable(x=_gradient)
def weighted_sums(x: Array, axis: int, places: np.ndarray, weights: np.ndarray) -> Array:
    """Return weighted sums of elements along an axis.

    Parameters
    ----------
    x : Array
        Floats.
    axis : int
        The axis.
    places : numpy.ndarray
        Indices of the summed elements, of shape [results, terms].
    weights : numpy.ndarray
        Their weights, of shape [results, terms]. Elements of weight 0 do not count, even if they
        are NaN.

    Returns
    -------
    Array
        The dtype of ``x``. The sums are computed in float32, with memory for all terms.
    """
    count, terms = places.shape
    wide = apply.cast_to("weighted_sums", x, FLOAT32, copy=False)
    taken = manipulation.take(wide, places.reshape(-1), axis=axis)
    apart = taken.reshape((*x.shape[:axis], count, terms, *x.shape[axis + 1 :]))
    factors = creation.asarray(weights, device=x.device)
    spread = factors.reshape((count, terms, *(1,) * (x.ndim - axis - 1)))
    products = elementwise.where(spread == 0, 0.0, apart * spread)
    return apply.cast_to("weighted_sums", statistics.sum(products, axis=axis + 1), x.node.kind)
