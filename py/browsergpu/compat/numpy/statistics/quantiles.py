"""Quantiles and medians along one axis or several, with NaN and without."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import described, into, refuse
from browsergpu.compat.numpy.statistics.order_statistics import Between, between
from browsergpu.core import shapes
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting
from browsergpu.gpu import platform

#: Of so many places and fewer, those for each possible number of elements are computed on the host.
_FEW_PLACES = 1 << 16

#: Quantiles, or the median, of lines along the last axis: a first axis for each quantile.
OfLines = Callable[[str, Array, np.ndarray, str], Array]


def _over_axes(op: str, of_lines: OfLines, *, percents: bool = False) -> Callable[..., Array]:
    """A function of vectors along the last axis as NumPy's function of some axes, or of all."""

    @described
    def call(
        a: Array, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: Any = False, *, weights: Any = None,
        interpolation: Any = None,
    ) -> Array:  # fmt: skip
        """``overwrite_input`` allows what is not done."""
        refuse(op, weights=weights, interpolation=interpolation)
        shares = np.asarray(q.numpy() if isinstance(q, Array) else q)
        if percents:
            shares = np.asarray(shares / 100)
        if shares.dtype.kind not in "biuf" or not ((shares >= 0) & (shares <= 1)).all():
            raise InvalidArgument(op, "q", q, "numbers from 0 to 1, or percents to 100")
        flat, kept = _lines(op, a, axis, keepdims)
        # The arithmetic of a float16 array is float16's beside Python's numbers alone.
        own = flat if type(q) in (int, float) or a.dtype != np.float16 else flat.astype(np.float32)
        found = of_lines(op, own, shares.reshape(-1), method)
        return into(out, manipulation.reshape(found, (*shares.shape, *kept)))

    return call


def _median_over_axes(op: str, of_lines: OfLines) -> Callable[..., Array]:
    @described
    def call(
        a: Array, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        keepdims: Any = False,
    ) -> Array:  # fmt: skip
        """``overwrite_input`` allows what is not done."""
        flat, kept = _lines(op, a, axis, keepdims)
        found = of_lines(op, flat, np.array([0.5]), "linear")
        return into(out, manipulation.reshape(found, kept))

    return call


def _lines(op: str, a: Array, axis: Any, keepdims: Any) -> tuple[Array, tuple[int, ...]]:
    """Lines along a last axis in place of some axes, and the shape of what remains."""
    if a.dtype.kind not in "fiub":
        raise InvalidType(op, "a", a.dtype, "real numbers")
    chosen = shapes.axes(op, "axis", axis, a.ndim)
    rest = [n for n in range(a.ndim) if n not in chosen]
    turned = manipulation.permute_dims(a, (*rest, *chosen))
    outer = tuple(a.shape[n] for n in rest)
    length = prod([a.shape[n] for n in chosen])
    is_kept = keepdims is not np._NoValue and bool(keepdims)
    kept = shapes.without(a.shape, chosen, keepdims=is_kept)
    return manipulation.reshape(turned, (*outer, length)), kept


def _of_lines(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """NaN of lines that have a NaN."""
    length = lines.shape[-1]
    if not length:
        raise InvalidArgument(op, "a", lines, "have elements to look through")
    ordered = sorting.sort(lines)
    first, second, share = between(op, method, length, q)
    low, high = (
        manipulation.moveaxis(manipulation.take(ordered, places.astype(np.int32), axis=-1), -1, 0)
        for places in (first, second)
    )
    found = low
    if share is not None:
        found = _interpolated(low, high, *_weights(lines, share, low.ndim))
    return _with_nan(found, ordered)


def _of_numbers_in_lines(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """Of the elements that are not NaN; NaN where there are none."""
    if lines.dtype.kind != "f":
        return _of_lines(op, lines, q, method)
    if not lines.shape[-1]:
        return creation.full((len(q), *lines.shape[:-1]), np.nan, device=lines.device)
    ordered, count = _ordered_numbers(lines)
    first, second, share = _between(op, method, count, lines.shape[-1], q)
    low = sorting.take_along_axis(ordered, first, axis=-1)
    found = low
    if share is not None:
        high = sorting.take_along_axis(ordered, second, axis=-1)
        found = _interpolated(low, high, share, 1 - share, elementwise.greater_equal(share, 0.5))
    return manipulation.moveaxis(found, -1, 0)


def _ordered_numbers(lines: Array) -> tuple[Array, Array]:
    """Lines in order, NaN at their ends, and how many elements of each are no NaN: int32."""
    ordered = sorting.sort(lines)
    is_number = elementwise.logical_not(elementwise.isnan(ordered))
    return ordered, statistics.count_nonzero(is_number, axis=-1)


def _between(
    op: str, method: str, count: Array, length: int, q: np.ndarray
) -> tuple[Array, Array, Array | None]:
    """:func:`between` of lines that have so many elements each, on the GPU: a last axis for q. As
    float32 would round otherwise, it is computed on the host, for each possible number of elements,
    or for those that there are, which are waited for."""
    device = count.device
    is_short = length * len(q) <= _FEW_PLACES
    if is_short or not platform.can_block() or device.recorder.captured is not None:
        possible = between(op, method, np.arange(length + 1)[:, None], q)
        return tuple([x if x is None else x[count] for x in _on_gpu(possible, device)])  # type: ignore[return-value]
    return _on_gpu(between(op, method, count.numpy()[..., None], q), device)


def _on_gpu(places: Between, device: Any) -> tuple[Array, Array, Array | None]:
    first, second, share = places
    return (
        creation.asarray(first.astype(np.int32), device=device),
        creation.asarray(second.astype(np.int32), device=device),
        None if share is None else creation.asarray(share.astype(np.float32), device=device),
    )


def _weights(lines: Array, share: np.ndarray, rank: int) -> tuple[Array, Array, Array]:
    """The shares of the second and of the first element, and whether the second one's is larger."""
    shape = (-1, *(1,) * (rank - 1))
    shares = [x.reshape(shape).astype(np.float32) for x in (share, 1 - share)]
    second, first = (creation.asarray(x, device=lines.device) for x in shares)
    return second, first, creation.asarray((share >= 0.5).reshape(shape), device=lines.device)


def _interpolated(low: Array, high: Array, share: Array, rest: Array, is_nearer: Array) -> Array:
    """NumPy's interpolation, with its NaN where the distance of the two is not finite."""
    a, b = (x.astype(np.float32, copy=False) for x in (low, high))
    distance = b - a
    found = elementwise.where(is_nearer, b - distance * rest, a + distance * share)
    return found.astype(low.dtype, copy=False) if low.dtype == np.float16 else found


def _with_nan(found: Array, ordered: Array) -> Array:
    """NaN where the last one of ordered elements is."""
    if ordered.dtype.kind != "f":
        return found
    return elementwise.where(elementwise.isnan(ordered[..., -1]), float("nan"), found)


def _middle_of_lines(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """The median: NaN of lines that have a NaN, or no elements."""
    length = lines.shape[-1]
    if not length:
        return creation.full(lines.shape[:-1], np.nan, device=lines.device)
    ordered = sorting.sort(lines)
    found = _mean_of_two(ordered[..., (length - 1) // 2], ordered[..., length // 2], length % 2 > 0)
    return _with_nan(found, ordered)


def _middle_of_numbers_in_lines(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """The median of the elements that are not NaN."""
    if lines.dtype.kind != "f" or not lines.shape[-1]:
        return _middle_of_lines(op, lines, q, method)
    ordered, count = _ordered_numbers(lines)
    places = [elementwise.maximum(count - 1, 0) // 2, count // 2]
    # Behind the last number is a NaN, unless there are numbers alone.
    places[1] = elementwise.minimum(places[1], lines.shape[-1] - 1)
    low, high = (sorting.take_along_axis(ordered, x[..., None], axis=-1)[..., 0] for x in places)
    return _mean_of_two(low, high, elementwise.equal(count % 2, 1))


def _mean_of_two(low: Array, high: Array, is_one: Any) -> Array:
    a, b = (x.astype(np.float32, copy=False) for x in (low, high))
    mean = a if is_one is True else (a + b) * 0.5
    found = mean if isinstance(is_one, bool) else elementwise.where(is_one, a, mean)
    return found.astype(low.dtype, copy=False) if low.dtype == np.float16 else found


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.median: _median_over_axes("median", _middle_of_lines),
    np.nanmedian: _median_over_axes("nanmedian", _middle_of_numbers_in_lines),
    np.nanpercentile: _over_axes("nanpercentile", _of_numbers_in_lines, percents=True),
    np.nanquantile: _over_axes("nanquantile", _of_numbers_in_lines),
    np.percentile: _over_axes("percentile", _of_lines, percents=True),
    np.quantile: _over_axes("quantile", _of_lines),
}
