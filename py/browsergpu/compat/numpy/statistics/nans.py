"""NumPy's reductions that leave NaN out: those of ``reductions`` of the other elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import into, on_one_device
from browsergpu.compat.numpy.statistics import reductions
from browsergpu.compat.numpy.statistics.reductions import flag, is_whole
from browsergpu.functions import elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting

_NONE: Any = np._NoValue
_INFINITY = float("inf")


def _without_nan(a: Array, number: float) -> Array:
    """The elements, with a number in place of each NaN."""
    return a if a.dtype.kind not in "fc" else elementwise.where(elementwise.isnan(a), number, a)


def _there(a: Array, where: Any) -> Any:
    """Where the elements are that count."""
    if a.dtype.kind not in "fc":
        return where
    numbers = elementwise.logical_not(elementwise.isnan(a))
    if is_whole(where):
        return numbers
    return elementwise.logical_and(numbers, on_one_device((where, a))[0])


def _sums(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(
        a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE,
        initial: Any = _NONE, where: Any = _NONE,
    ) -> Array:  # fmt: skip
        return own(_without_nan(a, number), axis, dtype, out, keepdims, initial, where)

    return call


def _extremes(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(
        a: Array, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE,
        where: Any = _NONE,
    ) -> Array:  # fmt: skip
        found = own(
            _without_nan(a, number), axis, keepdims=keepdims, initial=initial, where=where
        )  # fmt: skip
        if a.dtype.kind == "f" and initial is _NONE:
            nothing = statistics.all(elementwise.isnan(a), axis=axis, keepdims=flag(keepdims))
            found = elementwise.where(nothing, float("nan"), found)
        return into(out, found)

    return call


def _places(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, out: Any = None, *, keepdims: Any = _NONE) -> Array:
        return into(out, own(_without_nan(a, number), axis=axis, keepdims=flag(keepdims)))

    return call


def _nanmean(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE, *,
    where: Any = _NONE,
) -> Array:  # fmt: skip
    there = _there(a, where)
    return reductions.mean(a, axis, dtype, out, keepdims, where=there)


def _nanvar(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    """NaN where the freedom is none."""
    there = _there(a, where)
    found = reductions.var(
        a, axis, dtype, None, ddof, keepdims, where=there, mean=mean, correction=correction
    )
    less = ddof if correction is _NONE else correction
    if not is_whole(there):
        mask = manipulation.broadcast_to(there, a.shape) if isinstance(there, Array) else there
        count: Any = statistics.count_nonzero(mask, axis=axis, keepdims=flag(keepdims))
        found = elementwise.where(count > less, found, float("nan"))
    return into(out, found)


def _nanstd(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    found = _nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return into(out, elementwise.sqrt(found))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.nanargmax: _places(sorting.argmax, -_INFINITY),
    np.nanargmin: _places(sorting.argmin, _INFINITY),
    np.nanmax: _extremes(reductions.max, -_INFINITY),
    np.nanmean: _nanmean,
    np.nanmin: _extremes(reductions.min, _INFINITY),
    np.nanprod: _sums(reductions.prod, 1.0),
    np.nanstd: _nanstd,
    np.nansum: _sums(reductions.sum, 0.0),
    np.nanvar: _nanvar,
}
