"""Weighted sums of neighbouring elements along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.core.element_types import FLOAT32
from browsergpu.functions import creation, elementwise, manipulation, statistics


def added_back(g: Any, axis: int, places: np.ndarray, weights: np.ndarray, extent: int) -> Any:
    """The gradient of :func:`weighted_sums` by an axis of ``extent`` elements: what each of them
    gave to, times the weights. Complex numbers, too."""
    if g.dtype.kind == "c":
        imag = added_back(elementwise.imag(g), axis, places, weights, extent)
        return added_back(elementwise.real(g), axis, places, weights, extent) + imag * 1j
    return weighted_sums(g, axis, *_turned(places, weights, extent))


def _turned(places: np.ndarray, weights: np.ndarray, extent: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of the elements the sums that it is in and its weights there, as many for all."""
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


def _of_sums(g: Array, x_like: Like, axis: int, places: np.ndarray, weights: np.ndarray) -> Any:
    return added_back(g, axis, places, weights, x_like.shape[axis])


@differentiable(x=_of_sums)
def weighted_sums(x: Array, axis: int, places: np.ndarray, weights: np.ndarray) -> Array:
    """Along an axis of floats, the i-th result = the sum of the elements at ``places[i]`` times
    ``weights[i]``, both of [results, terms]; what has the weight 0 does not count, even NaN.
    Computed in float32, with memory for all terms."""
    count, terms = places.shape
    wide = apply.cast_to("weighted_sums", x, FLOAT32, copy=False)
    taken = manipulation.take(wide, places.reshape(-1), axis=axis)
    apart = taken.reshape((*x.shape[:axis], count, terms, *x.shape[axis + 1 :]))
    factors = creation.asarray(weights, device=x.device)
    spread = factors.reshape((count, terms, *(1,) * (x.ndim - axis - 1)))
    products = elementwise.where(spread == 0, 0.0, apart * spread)
    return apply.cast_to("weighted_sums", statistics.sum(products, axis=axis + 1), x.node.kind)
