"""Weighted sums of neighbouring elements along an axis."""

from __future__ import annotations

import numpy as np

from browsergpu.array import apply
from browsergpu.array.array import Array
from browsergpu.array.functions import creation, elementwise, manipulation, statistics
from browsergpu.core.element_types import FLOAT32


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
