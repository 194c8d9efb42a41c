"""NumPy's reductions that ignore NaN, such as ``nanmean``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import on_one_device, write_out
from browsergpu.compat.numpy.statistics import reductions
from browsergpu.compat.numpy.statistics.reductions import flag, is_whole
from browsergpu.functions import elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting

_NONE: Any = np._NoValue
_INFINITY = float("inf")


def _replace_nan(a: Array, number: float) -> Array:
    """Replace NaN by a number."""
    return a if a.dtype.kind not in "fc" else elementwise.where(elementwise.isnan(a), number, a)


def _mask(a: Array, where: Any) -> Any:
    """Return a mask of the elements that are not NaN and included by ``where``."""
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
        return own(_replace_nan(a, number), axis, dtype, out, keepdims, initial, where)

    return call


def _extremes(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(
        a: Array, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE,
        where: Any = _NONE,
    ) -> Array:  # fmt: skip
        found = own(
            _replace_nan(a, number), axis, keepdims=keepdims, initial=initial, where=where
        )  # fmt: skip
        if a.dtype.kind == "f" and initial is _NONE:
            nothing = statistics.all(elementwise.isnan(a), axis=axis, keepdims=flag(keepdims))
            found = elementwise.where(nothing, float("nan"), found)
        return write_out(out, found)

    return call


def _arg(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, out: Any = None, *, keepdims: Any = _NONE) -> Array:
        return write_out(out, own(_replace_nan(a, number), axis=axis, keepdims=flag(keepdims)))

    return call


def _nanmean(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE, *,
    where: Any = _NONE,
) -> Array:  # fmt: skip
    there = _mask(a, where)
    return reductions.mean(a, axis, dtype, out, keepdims, where=there)


def _nanvar(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    """Compute the variance and ignore NaN, as ``numpy.nanvar``.

    The result is NaN where there are no degrees of freedom.
    """
    there = _mask(a, where)
    found = reductions.var(
        a, axis, dtype, None, ddof, keepdims, where=there, mean=mean, correction=correction
    )
    less = ddof if correction is _NONE else correction
    if not is_whole(there):
        mask = manipulation.broadcast_to(there, a.shape) if isinstance(there, Array) else there
        count: Any = statistics.count_nonzero(mask, axis=axis, keepdims=flag(keepdims))
        found = elementwise.where(count > less, found, float("nan"))
    return write_out(out, found)


def _nanstd(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    found = _nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return write_out(out, elementwise.sqrt(found))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.nanargmax: _arg(sorting.argmax, -_INFINITY),
    np.nanargmin: _arg(sorting.argmin, _INFINITY),
    np.nanmax: _extremes(reductions.max, -_INFINITY),
    np.nanmean: _nanmean,
    np.nanmin: _extremes(reductions.min, _INFINITY),
    np.nanprod: _sums(reductions.prod, 1.0),
    np.nanstd: _nanstd,
    np.nansum: _sums(reductions.sum, 0.0),
    np.nanvar: _nanvar,
}
