"""Means and medians of 64-bit integers in integer arithmetic, because float32 would round."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.functions import statistics
from browsergpu.functions.ordering import sorting


def mean(x: Array, axis: int) -> Array:
    """Return means along an axis, which is kept, rounded to integers, halves to even."""
    n = x.shape[axis]
    rests = statistics.sum(x % n, axis=axis, keepdims=True)
    found: Array = statistics.sum(x // n, axis=axis, keepdims=True) + rests // n
    rest = rests % n
    other = n - rest
    is_up = (rest > other) | ((rest == other) & (found % 2 == 1))
    return found + is_up  # type: ignore[no-any-return]


def median(x: Array, axis: int) -> Array:
    """Return medians along an axis, which is kept, rounded to integers, halves to even."""
    n = x.shape[axis]
    ordered = sorting.sort(x, axis=axis)
    before = (slice(None),) * axis
    low, high = (ordered[(*before, slice(at, at + 1))] for at in ((n - 1) // 2, n // 2))
    found = (low >> 1) + (high >> 1) + (low & high & 1)
    is_half = (low ^ high) & 1
    return found + (is_half & found)  # type: ignore[no-any-return]
