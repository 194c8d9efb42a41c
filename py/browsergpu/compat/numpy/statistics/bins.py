"""Histograms and ``bincount``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from browsergpu.arrays import reduce
from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.coercion import device_among, operand
from browsergpu.compat.numpy.operands import on_one_device
from browsergpu.compat.numpy.statistics.edges import (
    count_edges_at_most,
    count_elements_below,
    equals_number,
)
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise, manipulation, parts, statistics
from browsergpu.functions.ordering import sorting


def count_numbers(numbers: Array, count: int) -> Array:
    """Count the occurrences of 0 to ``count - 1`` as int32. Other numbers are ignored."""
    ordered = sorting.sort(manipulation.reshape(numbers, (-1,)))
    bounds = creation.arange(count + 1, dtype="int32", device=numbers.device)
    return sorting.diff(sorting.searchsorted(ordered, bounds))


def sum_weights(numbers: Array, weights: Array, count: int) -> Array:
    """Sum the weights of each number from 0 to ``count - 1``. Other numbers are ignored.

    The sums are computed in the order of the elements. Integer weights become float32.
    """
    flat, shares = (manipulation.reshape(x, (-1,)) for x in (numbers, weights))
    is_outside = elementwise.logical_or(flat < 0, flat >= count)
    places = elementwise.where(is_outside, count, flat).astype(np.int32, copy=False)
    own = shares if shares.dtype.kind in "fc" else shares.astype(np.float32)
    sums = creation.zeros((count + 1,), dtype=own.dtype, device=own.device)
    return parts.added_at(sums, places, own)[:count]


def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Count the occurrences of nonnegative integers, as ``numpy.bincount``.

    It waits for the greatest number. Counts are int32. Integer weights are summed in float32.
    """
    op = "bincount"
    numbers, *shares = on_one_device((x,) if weights is None else (x, weights))
    if numbers.ndim != 1:
        raise InvalidArgument(op, "x", numbers, "have one axis")
    if numbers.dtype.kind not in "iub":
        raise InvalidType(op, "x", numbers.dtype, "integers")
    if shares and shares[0].shape != numbers.shape:
        raise InvalidArgument(
            op, "weights", shares[0].shape, f"have shape {numbers.shape}, the shape of x"
        )
    count = checks.integer(op, "minlength", minlength)
    own = reduce.narrowed_to_int32(op, numbers)
    if numbers.size and numbers.device.has_values:
        least, most = _extremes(own).tolist()
        if least < 0:
            raise InvalidArgument(
                op, "x", Description(f"{least} among them"), "have no negative numbers"
            )
        count = max(count, most + 1)
    return sum_weights(own, shares[0], count) if shares else count_numbers(own, count)


def _histogram(
    a: Array, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, np.ndarray]:
    """Compute a histogram, as ``numpy.histogram``.

    Counts are int32. The edges of the bins are a NumPy array. Without edges or a range, it waits
    for the extreme values.
    """
    op = "histogram"
    edges = bin_edges(op, a, bins, range)
    if weights is None:
        found = _count_between(a, edges)
    else:
        own, shares = on_one_device((a, weights))
        if shares.shape != own.shape:
            raise InvalidArgument(op, "weights", shares, f"have shape {own.shape}, the shape of a")
        found = sum_weights(bin_index(own, edges), shares, len(edges) - 1)
        if shares.dtype.kind in "iub":
            found = elementwise.round(found).astype(np.int32)
    if density:
        widths = creation.asarray(np.diff(edges).astype(np.float32), device=a.device)
        found = found / widths / statistics.sum(found)
    return found, edges


def _count_between(a: Array, edges: np.ndarray) -> Array:
    ordered = sorting.sort(manipulation.reshape(a, (-1,)))
    begins = count_elements_below(ordered, edges[:-1])
    end = count_elements_below(ordered, edges[-1:], or_equal=True)
    return sorting.diff(manipulation.concat([begins, end]))


def _histogram_bin_edges(
    a: Array, bins: Any = 10, range: Any = None, weights: Any = None
) -> np.ndarray:
    """Return the edges of the bins of a histogram, as ``numpy.histogram_bin_edges``.

    The edges are a NumPy array. Without edges or a range, it waits for the extreme values.
    ``weights`` have no effect.
    """
    return bin_edges("histogram_bin_edges", a, bins, range)


def _histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, np.ndarray, np.ndarray]:  # fmt: skip
    """Compute a histogram of two variables, as ``numpy.histogram2d``.

    Counts are float32. The edges are NumPy arrays. Without ranges it waits for the extreme values.
    """
    if np.ndim(bins) == 1 and len(bins) not in (1, 2):
        bins = (bins, bins)
    elif np.ndim(bins) == 1 and len(bins) == 1:
        bins = (bins[0], bins[0])
    found, (first, second) = _histogramdd((x, y), bins, range, density, weights)
    return found, first, second


def _histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, list[np.ndarray]]:
    """Compute a histogram of several variables, as ``numpy.histogramdd``.

    Counts are float32. The edges are NumPy arrays. Without ranges it waits for the extreme values.
    """
    op = "histogramdd"
    columns = _columns(op, sample)
    rank = len(columns)
    numbers = (bins,) * rank if isinstance(bins, int | np.integer) else bins
    ranges = (None,) * rank if range is None else range
    if len(numbers) != rank or len(ranges) != rank:
        expected = f"one for each of {rank} coordinates, as must range"
        raise InvalidArgument(op, "bins", bins, expected)
    edges = _edges_of_columns(op, columns, numbers, ranges)
    shape = tuple(len(one) - 1 for one in edges)
    place: Any = 0
    is_inside: Any = None
    for x, one, extent in zip(columns, edges, shape, strict=True):
        index = bin_index(x, one)
        within = elementwise.logical_and(index >= 0, index < extent)
        is_inside = within if is_inside is None else elementwise.logical_and(is_inside, within)
        place = place * extent + index
    place = elementwise.where(is_inside, place, -1)
    if weights is None:
        flat = count_numbers(place, prod(shape)).astype(np.float32)
    else:
        flat = sum_weights(place, on_one_device((columns[0], weights))[1], prod(shape))
    found = manipulation.reshape(flat, shape)
    if density:
        widths: Any = 1.0
        for n, one in enumerate(edges):
            widths = widths * np.diff(one).reshape([-1 if n == at else 1 for at in _range(rank)])
        sizes = creation.asarray(np.asarray(widths, np.float32), device=found.device)
        found = found / sizes / statistics.sum(found)
    return found, edges


_range = range


def _columns(op: str, sample: Any) -> Sequence[Array]:
    """Return the coordinates of points, given as a matrix with a row per point or as vectors."""
    if hasattr(sample, "shape"):
        if len(sample.shape) != 2:
            raise InvalidArgument(op, "sample", sample, "have two axes, with a row for each point")
        return [sample[:, n] for n in range(sample.shape[1])]
    device = device_among(sample)
    found: list[Array] = on_one_device([operand(x, device) for x in sample])
    if len({x.shape for x in found}) != 1 or found[0].ndim != 1:
        raise InvalidArgument(op, "sample", [x.shape for x in found], "vectors of one length")
    return found


def _extremes(x: Array) -> np.ndarray:
    """Return the minimum and the maximum as a NumPy array. Waits for the GPU."""
    return manipulation.stack([statistics.min(x), statistics.max(x)]).numpy()


def _given_edges(op: str, bins: Any) -> np.ndarray | None:
    """Return the edges if ``bins`` are edges, or None for a number of bins."""
    if isinstance(bins, Array):
        bins = bins.numpy()
    if not np.ndim(bins):
        checks.integer(op, "bins", bins, 1)
        return None
    edges = np.asarray(bins)
    if edges.ndim != 1 or edges.dtype.kind not in "biuf" or (edges[:-1] > edges[1:]).any():
        raise InvalidArgument(op, "bins", bins, "a number, or increasing edges")
    return edges


def _check_range(op: str, within: Any) -> None:
    if within is not None:
        low, high = within
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise InvalidArgument(op, "range", within, "two finite numbers in order")


def bin_edges(op: str, x: Array, bins: Any, within: Any) -> np.ndarray:
    """Return the given edges, or the edges that NumPy computes for a number of bins."""
    if x.dtype.kind not in "biuf":
        raise InvalidType(op, "a", x.dtype, "real numbers")
    edges = _given_edges(op, bins)
    if edges is not None:
        return edges
    _check_range(op, within)
    kind = np.dtype(np.uint8) if x.dtype.kind == "b" else x.dtype
    ends = _extremes(x).astype(kind) if within is None and x.size else np.empty(0, kind)
    return np.asarray(_call_numpy(op, bins, lambda: np.histogram_bin_edges(ends, bins, within)))


def _edges_of_columns(
    op: str, columns: Sequence[Array], bins: Sequence[Any], ranges: Sequence[Any]
) -> list[np.ndarray]:
    """Return the edges for each column, as ``numpy.histogramdd`` computes them."""
    given = [_given_edges(op, one) for one in bins]
    for within in ranges:
        _check_range(op, within)
    plain = [number if one is None else one for one, number in zip(given, bins, strict=True)]
    kind = np.result_type(*(x.dtype for x in columns))
    waits = any(
        edges is None and within is None for edges, within in zip(given, ranges, strict=True)
    )
    ends = np.empty((0, len(columns)), kind)
    if waits and columns[0].size:
        ends = np.stack([_extremes(x) for x in columns], axis=-1).astype(kind)
    counts_and_edges: tuple[Any, list[np.ndarray]] = _call_numpy(
        op, bins, lambda: np.histogramdd(ends, plain, ranges)
    )
    return counts_and_edges[1]


def _call_numpy(op: str, bins: Any, call: Callable[[], Any]) -> Any:
    """Call a function of NumPy on the host. Its ValueError becomes InvalidArgument."""
    try:
        return call()
    except ValueError as error:
        raise InvalidArgument(op, "bins", bins, f"valid for these elements ({error})") from None


def bin_index(x: Array, edges: np.ndarray) -> Array:
    """Return the index of each element's bin as int32.

    The last bin includes both edges. The index is -1 below the first edge. It is at least the
    number of bins above the last edge and for NaN.
    """
    found = count_edges_at_most(x, edges) - 1
    is_last = equals_number(x, edges[-1])
    return found if is_last is False else elementwise.where(is_last, len(edges) - 2, found)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.bincount: _bincount,
    np.histogram: _histogram,
    np.histogram2d: _histogram2d,
    np.histogram_bin_edges: _histogram_bin_edges,
    np.histogramdd: _histogramdd,
}
