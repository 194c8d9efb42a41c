"""Quantiles and medians, and their variants that ignore NaN."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import refuse, supports_meta, write_out
from browsergpu.compat.numpy.statistics.order_statistics import Between, between
from browsergpu.engine.core import shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.gpu import platform
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting

#: Up to this number of positions, the host computes them for every possible number of elements.
_FEW_PLACES = 1 << 16

#: Computes quantiles along the last axis, with a new first axis of quantiles, or medians.
LineFunction = Callable[[str, Array, np.ndarray, str], Array]


def _quantile_function(
    op: str, of_lines: LineFunction, *, percents: bool = False
) -> Callable[..., Array]:
    """Return a quantile function with NumPy's parameters, from a function along the last axis."""

    @supports_meta
    def call(
        a: Array, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: Any = False, *, weights: Any = None,
        interpolation: Any = None,
    ) -> Array:  # fmt: skip
        # overwrite_input has no effect: the input is never changed.
        refuse(op, weights=weights, interpolation=interpolation)
        shares = np.asarray(q.numpy() if isinstance(q, Array) else q)
        if percents:
            shares = np.asarray(shares / 100)
        if shares.dtype.kind not in "biuf" or not ((shares >= 0) & (shares <= 1)).all():
            raise InvalidArgument(op, "q", q, "from 0 to 100" if percents else "from 0 to 1")
        flat, kept = _lines(op, a, axis, keepdims)
        # NumPy computes in float16 only if q is a Python number.
        own = flat if type(q) in (int, float) or a.dtype != np.float16 else flat.astype(np.float32)
        found = of_lines(op, own, shares.reshape(-1), method)
        return write_out(out, manipulation.reshape(found, (*shares.shape, *kept)))

    return call


def _median_function(op: str, of_lines: LineFunction) -> Callable[..., Array]:
    @supports_meta
    def call(
        a: Array, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        keepdims: Any = False,
    ) -> Array:  # fmt: skip
        # overwrite_input has no effect: the input is never changed.
        flat, kept = _lines(op, a, axis, keepdims)
        found = of_lines(op, flat, np.array([0.5]), "linear")
        return write_out(out, manipulation.reshape(found, kept))

    return call


def _lines(op: str, a: Array, axis: Any, keepdims: Any) -> tuple[Array, tuple[int, ...]]:
    """Merge the reduced axes into a last axis. Return the array and the shape of the result."""
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


def _lines_quantile(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """Compute quantiles along the last axis. A NaN in a slice makes its result NaN."""
    length = lines.shape[-1]
    if not length:
        raise InvalidArgument(op, "a", lines, "have elements along the axis")
    ordered = sorting.sort(lines)
    first, second, share = between(op, method, length, q)
    low, high = (
        manipulation.moveaxis(manipulation.take(ordered, places.astype(np.int32), axis=-1), -1, 0)
        for places in (first, second)
    )
    found = low
    if share is not None:
        found = _interpolate(low, high, *_weights(lines, share, low.ndim))
    return _with_nan(found, ordered)


def _lines_nanquantile(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """Compute quantiles along the last axis and ignore NaN. Slices of NaN only have NaN."""
    if lines.dtype.kind != "f":
        return _lines_quantile(op, lines, q, method)
    if not lines.shape[-1]:
        return creation.full((len(q), *lines.shape[:-1]), np.nan, device=lines.device)
    ordered, count = _sort_and_count(lines)
    first, second, share = _between(op, method, count, lines.shape[-1], q)
    low = sorting.take_along_axis(ordered, first, axis=-1)
    found = low
    if share is not None:
        high = sorting.take_along_axis(ordered, second, axis=-1)
        found = _interpolate(low, high, share, 1 - share, elementwise.greater_equal(share, 0.5))
    return manipulation.moveaxis(found, -1, 0)


def _sort_and_count(lines: Array) -> tuple[Array, Array]:
    """Sort along the last axis, with NaN last. Also return the int32 counts of other elements."""
    ordered = sorting.sort(lines)
    is_number = elementwise.logical_not(elementwise.isnan(ordered))
    return ordered, statistics.count_nonzero(is_number, axis=-1)


def _between(
    op: str, method: str, count: Array, length: int, q: np.ndarray
) -> tuple[Array, Array, Array | None]:
    """Return :func:`between` for slices with different numbers of elements, on the GPU.

    The last axis of the results is that of ``q``. The host computes the positions, because float32
    would round differently. It does so for every possible number of elements, or it waits for the
    actual numbers.
    """
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
    """Return the weights of the second and the first element, and whether the second is nearer."""
    shape = (-1, *(1,) * (rank - 1))
    shares = [x.reshape(shape).astype(np.float32) for x in (share, 1 - share)]
    second, first = (creation.asarray(x, device=lines.device) for x in shares)
    return second, first, creation.asarray((share >= 0.5).reshape(shape), device=lines.device)


def _interpolate(low: Array, high: Array, share: Array, rest: Array, is_nearer: Array) -> Array:
    """Interpolate as NumPy does. The result is NaN where the difference is not finite."""
    a, b = (x.astype(np.float32, copy=False) for x in (low, high))
    distance = b - a
    found = elementwise.where(is_nearer, b - distance * rest, a + distance * share)
    return found.astype(low.dtype, copy=False) if low.dtype == np.float16 else found


def _with_nan(found: Array, ordered: Array) -> Array:
    """Replace results by NaN where the last sorted element is NaN."""
    if ordered.dtype.kind != "f":
        return found
    return elementwise.where(elementwise.isnan(ordered[..., -1]), float("nan"), found)


def _lines_median(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """Compute medians along the last axis. Slices with a NaN or without elements have NaN."""
    length = lines.shape[-1]
    if not length:
        return creation.full(lines.shape[:-1], np.nan, device=lines.device)
    ordered = sorting.sort(lines)
    found = _mean_of_two(ordered[..., (length - 1) // 2], ordered[..., length // 2], length % 2 > 0)
    return _with_nan(found, ordered)


def _lines_nanmedian(op: str, lines: Array, q: np.ndarray, method: str) -> Array:
    """Compute medians along the last axis and ignore NaN."""
    if lines.dtype.kind != "f" or not lines.shape[-1]:
        return _lines_median(op, lines, q, method)
    ordered, count = _sort_and_count(lines)
    places = [elementwise.maximum(count - 1, 0) // 2, count // 2]
    # Do not exceed the last index if there is no NaN.
    places[1] = elementwise.minimum(places[1], lines.shape[-1] - 1)
    low, high = (sorting.take_along_axis(ordered, x[..., None], axis=-1)[..., 0] for x in places)
    return _mean_of_two(low, high, elementwise.equal(count % 2, 1))


def _mean_of_two(low: Array, high: Array, is_one: Any) -> Array:
    a, b = (x.astype(np.float32, copy=False) for x in (low, high))
    mean = a if is_one is True else (a + b) * 0.5
    found = mean if isinstance(is_one, bool) else elementwise.where(is_one, a, mean)
    return found.astype(low.dtype, copy=False) if low.dtype == np.float16 else found


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.median: _median_function("median", _lines_median),
    np.nanmedian: _median_function("nanmedian", _lines_nanmedian),
    np.nanpercentile: _quantile_function("nanpercentile", _lines_nanquantile, percents=True),
    np.nanquantile: _quantile_function("nanquantile", _lines_nanquantile),
    np.percentile: _quantile_function("percentile", _lines_quantile, percents=True),
    np.quantile: _quantile_function("quantile", _lines_quantile),
}
