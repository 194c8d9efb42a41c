"""NumPy's statistics that the standard has none of, called on our arrays: without NaN, by order,
and by bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.array import apply
from browsergpu.array.array import Array
from browsergpu.array.functions import creation, elementwise, manipulation, sorting, statistics
from browsergpu.core import shapes
from browsergpu.core.element_types import FLOAT32
from browsergpu.core.errors import InvalidArgument

#: How NumPy calls ways to choose between the two elements that a quantile lies between: the share
#: of the second one, of how far behind the first it lies.
_METHODS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda between: between,
    "lower": lambda between: 0.0 * between,
    "higher": np.ceil,
    "midpoint": lambda between: 0.5 * (between > 0),
    "nearest": np.rint,
}


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
    apart = _without_nan(own - _nanmean(own, axis=axis, keepdims=True), 0.0)
    total = statistics.sum(apart * apart, axis=axis, keepdims=keepdims)
    found: Array = total / (_counted(own, axis, keepdims) - float(ddof))
    return found


def _nanstd(a: Array, axis: Any = None, **options: Any) -> Array:
    return elementwise.sqrt(_nanvar(a, axis=axis, **options))


def _quantile(
    a: Array, q: Any, axis: int | None = None, *, method: str = "linear", keepdims: bool = False
) -> Array:
    """Along an axis, or of all elements, those below which the shares ``q`` lie; several give a
    first axis. float32; NaN where one is NaN. The elements are sorted."""
    op = "quantile"
    shares = np.asarray(q, np.float64)
    if shares.ndim > 1 or not ((shares >= 0) & (shares <= 1)).all():
        raise InvalidArgument(op, "q", q, "numbers from 0 to 1, or percents to 100")
    if method not in _METHODS:
        raise InvalidArgument(op, "method", method, f"one of {', '.join(_METHODS)}")
    rank = a.ndim
    flat = manipulation.reshape(a, (-1,)) if axis is None else a
    at = 0 if axis is None else shapes.axis(op, "axis", axis, rank)
    if not flat.shape[at]:
        raise InvalidArgument(op, "a", a.shape, "elements to look through")
    ordered = manipulation.moveaxis(
        sorting.sort(flat.astype(np.float32, copy=False), axis=at), at, 0
    )
    last = flat.shape[at] - 1
    places = np.atleast_1d(shares) * last
    first = np.floor(places)
    second = np.minimum(first + 1, last)
    share = _METHODS[method](places - first).reshape(-1, *(1,) * (flat.ndim - 1))
    low, high = (manipulation.take(ordered, i.astype(np.int32), axis=0) for i in (first, second))
    weights = creation.asarray(share.astype(np.float32), device=a.device)
    between = elementwise.where(low == high, low, low + (high - low) * weights)
    found = elementwise.where(elementwise.isnan(ordered[-1]), float("nan"), between)
    if keepdims:
        kept = (1,) * rank if axis is None else [*a.shape[:at], 1, *a.shape[at + 1 :]]
        found = found.reshape((len(places), *kept))
    return found if shares.ndim else found[0]


def _percentile(a: Array, q: Any, axis: int | None = None, **options: Any) -> Array:
    return _quantile(a, np.asarray(q, np.float64) / 100, axis, **options)


def _median(a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
    return _quantile(a, 0.5, axis, keepdims=keepdims)


def _partition(a: Array, kth: Any, axis: int | None = -1) -> Array:
    """All of it in order, as a partition may be."""
    return _ordered(sorting.sort, a, axis)


def _argpartition(a: Array, kth: Any, axis: int | None = -1) -> Array:
    return _ordered(sorting.argsort, a, axis)


def _ordered(own: Callable[..., Array], a: Array, axis: int | None) -> Array:
    return own(manipulation.reshape(a, (-1,))) if axis is None else own(a, axis=axis)


def _histogram(
    a: Array, bins: Any = 10, range: Any = None, density: bool | None = None, weights: None = None
) -> tuple[Array, np.ndarray]:
    """How many elements lie in each bin (int32, or their ``density``), and the bins' edges, which
    are on the host. Without edges or a range it waits for the extremes. There are no weights."""
    if weights is not None:
        raise InvalidArgument("histogram", "weights", weights, "None")
    if isinstance(bins, int | np.integer):
        if range is None:
            range = (float(statistics.min(a)), float(statistics.max(a))) if a.size else (0.0, 1.0)
        low, high = range
        edges = np.linspace(low, high if high > low else low + 1, int(bins) + 1)
    else:
        edges = np.asarray(bins)
    ordered = sorting.sort(manipulation.reshape(a, (-1,)).astype(np.float32, copy=False))
    on_device = creation.asarray(edges.astype(np.float32), device=a.device)
    begins = sorting.searchsorted(ordered, on_device[:-1])
    end = sorting.searchsorted(ordered, on_device[-1:], side="right")
    counts = sorting.diff(manipulation.concat([begins, end]))
    if not density:
        return counts, edges
    widths = creation.asarray(np.diff(edges).astype(np.float32), device=a.device)
    return counts / statistics.sum(counts) / widths, edges


_INFINITY = float("inf")

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.argpartition: _argpartition,
    np.histogram: _histogram,
    np.median: _median,
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
    np.percentile: _percentile,
    np.quantile: _quantile,
}
