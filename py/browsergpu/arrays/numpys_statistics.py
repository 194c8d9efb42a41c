"""NumPy's statistics that the standard has none of, called on our arrays: without NaN, and by
order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.functions import elementwise, manipulation, sorting, statistics
from browsergpu.core.element_types import FLOAT32


def _without_nan(a: Array, number: float) -> Array:
    """The elements, with a number in place of each NaN."""
    return a if a.node.kind.kind not in "fc" else elementwise.where(elementwise.isnan(a), number, a)


def _sums(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(a: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
        return own(_without_nan(a, number), axis=axis, dtype=dtype, keepdims=keepdims)

    return call


def _extremes(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(a: Array, axis: Any = None, keepdims: bool = False) -> Array:
        found = own(_without_nan(a, number), axis=axis, keepdims=keepdims)
        if a.node.kind.kind != "f":
            return found
        nothing = statistics.all(elementwise.isnan(a), axis=axis, keepdims=keepdims)
        return elementwise.where(nothing, float("nan"), found)

    return call


def _places(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
        return own(_without_nan(a, number), axis=axis, keepdims=keepdims)

    return call


def _counted(a: Array, axis: Any, keepdims: bool) -> Array:
    there = elementwise.logical_not(elementwise.isnan(a))
    return statistics.sum(apply.cast_to("nanmean", there, FLOAT32), axis=axis, keepdims=keepdims)


def _nanmean(a: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    own = a if dtype is None else a.astype(dtype, copy=False)
    if own.node.kind.kind not in "fc":
        return statistics.mean(own, axis=axis, keepdims=keepdims)
    total = statistics.sum(_without_nan(own, 0.0), axis=axis, keepdims=keepdims)
    found: Array = total / _counted(own, axis, keepdims)
    return found


def _nanvar(
    a: Array, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False
) -> Array:
    own = a if dtype is None else a.astype(dtype, copy=False)
    if own.node.kind.kind != "f":
        return statistics.var(own, axis=axis, correction=ddof, keepdims=keepdims)
    # An infinity less an infinite mean is NaN, which stays.
    apart = elementwise.where(
        elementwise.isnan(own), 0.0, own - _nanmean(own, axis=axis, keepdims=True)
    )
    total = statistics.sum(apart * apart, axis=axis, keepdims=keepdims)
    freedom = _counted(own, axis, keepdims) - float(ddof)
    return elementwise.where(freedom > 0, total / freedom, float("nan"))


def _nanstd(a: Array, axis: Any = None, **options: Any) -> Array:
    return elementwise.sqrt(_nanvar(a, axis=axis, **options))


def _partition(a: Array, kth: Any, axis: int | None = -1) -> Array:
    """All of it in order, as a partition may be."""
    return _ordered(sorting.sort, a, axis)


def _argpartition(a: Array, kth: Any, axis: int | None = -1) -> Array:
    return _ordered(sorting.argsort, a, axis)


def _ordered(own: Callable[..., Array], a: Array, axis: int | None) -> Array:
    return own(manipulation.reshape(a, (-1,))) if axis is None else own(a, axis=axis)


_INFINITY = float("inf")

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.argpartition: _argpartition,
    np.nanargmax: _places(sorting.argmax, -_INFINITY),
    np.nanargmin: _places(sorting.argmin, _INFINITY),
    np.nanmax: _extremes(statistics.max, -_INFINITY),
    np.nanmean: _nanmean,
    np.nanmin: _extremes(statistics.min, _INFINITY),
    np.nanprod: _sums(statistics.prod, 1.0),
    np.nanstd: _nanstd,
    np.nansum: _sums(statistics.sum, 0.0),
    np.nanvar: _nanvar,
    np.partition: _partition,
}
