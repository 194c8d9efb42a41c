"""NumPy's functions for selection, sorting, sets and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.compat.numpy.operands import flattened, refuse, write_out
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sets, sorting


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """Select slices along an axis where a condition is True, as ``numpy.compress``. Waits."""
    if condition.ndim != 1:
        raise InvalidArgument("compress", "condition", condition, "a vector")
    own, at = (flattened(a), 0) if axis is None else (a, axis)
    extent = own.shape[at]
    if condition.shape[0] > extent and bool(statistics.any(condition[extent:])):
        expected = f"false from element {extent} on"
        raise InvalidArgument("compress", "condition", condition, expected)
    (places,) = sorting.nonzero(condition)
    return write_out(out, manipulation.take(own, places, axis=at))


def extract(condition: Any, arr: Any) -> Any:
    """Return the elements where a condition is True, as ``numpy.extract``. Waits for the GPU."""
    (places,) = sorting.nonzero(flattened(condition))
    return manipulation.take(flattened(arr), places)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return indices that sort by several keys, as ``numpy.lexsort``. The last key is primary."""
    if not len(keys):
        raise InvalidType("lexsort", "keys", keys, "at least one key")
    found = sorting.argsort(keys[0], axis=axis)
    for key in keys[1:]:
        ordered = sorting.take_along_axis(key, found, axis=axis)
        found = sorting.take_along_axis(found, sorting.argsort(ordered, axis=axis), axis=axis)
    return found


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """Return the maximum minus the minimum, as ``numpy.ptp``."""
    keep = keepdims is not np._NoValue and bool(keepdims)
    most = statistics.max(a, axis=axis, keepdims=keep)
    return write_out(out, most - statistics.min(a, axis=axis, keepdims=keep))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether broadcast arrays are equal, as ``numpy.array_equiv``. Waits for the GPU."""
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool(statistics.all(elementwise.equal(a1, a2)))


def _infinity_function(name: str, sign: int) -> Callable[..., Any]:
    def call(x: Any, out: Any = None) -> Any:
        if x.dtype.kind == "c":
            raise InvalidType(name, "x", x.dtype, "real numbers")
        own = elementwise.logical_and(elementwise.isinf(x), (x > 0) if sign > 0 else (x < 0))
        return write_out(out, own)

    infinity = "positive" if sign > 0 else "negative"
    call.__doc__ = f"Return where elements are {infinity} infinity, as ``numpy.{name}``."
    return call


def union1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted union of two arrays, as ``numpy.union1d``. Waits for the GPU."""
    both = manipulation.concat([flattened(ar1), flattened(ar2)])
    return sets.unique_with_equal_nan(both).values


def _both(ar1: Any, ar2: Any, assume_unique: bool) -> tuple[Any, Any]:
    first, last = flattened(ar1), flattened(ar2)
    if assume_unique:
        return first, last
    return sets.unique_with_equal_nan(first).values, sets.unique_with_equal_nan(last).values


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the sorted intersection of two arrays, as ``numpy.intersect1d``. Waits."""
    if return_indices:
        options = {"assume_unique": assume_unique, "return_indices": True}
        return on_host("np.intersect1d", np.intersect1d, (ar1, ar2), options)
    first, last = _both(ar1, ar2, assume_unique)
    kind = data_types.result_type(first, last)
    found = data_types.astype(first[sets.isin(first, last)], kind, copy=False)
    return sorting.sort(found) if assume_unique else found


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the elements of the first array that are not in the second. Waits for the GPU.

    As ``numpy.setdiff1d``.
    """
    flat = flattened(ar1)
    first = flat if assume_unique else sets.unique_with_equal_nan(flat).values
    return first[sets.isin(first, flattened(ar2), invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the sorted elements of only one of two arrays, as ``numpy.setxor1d``. Waits."""
    first, last = _both(ar1, ar2, assume_unique)
    own = [first[sets.isin(first, last, invert=True)], last[sets.isin(last, first, invert=True)]]
    return sorting.sort(manipulation.concat(own))


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return where elements of one array are in another, as ``in1d`` of NumPy 1."""
    return sets.isin(flattened(ar1), ar2, invert=invert)


def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to decimals, as ``round_`` of NumPy 1."""
    return write_out(out, a.round(decimals))


def nonzero(a: Any) -> Any:
    """Return a tuple of the indices of nonzero elements, as ``numpy.nonzero``. Waits."""
    return tuple(sorting.nonzero(a))


def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Any:
    """Return the n-th differences along an axis, as ``numpy.diff``."""
    ends = {}
    for name, value in (("prepend", prepend), ("append", append)):
        if value is not np._NoValue and value is not None:
            own = value if isinstance(value, Array) else creation.asarray(value, device=a.device)
            if own.ndim == 0:
                at = shapes.axis("diff", "axis", axis, a.ndim)
                shape = [1 if m == at else extent for m, extent in enumerate(a.shape)]
                own = manipulation.broadcast_to(own, tuple(shape))
            ends[name] = own
    kind = data_types.result_type(*(x.dtype for x in (a, *ends.values())))
    a, *own_ends = (x.astype(kind, copy=False) for x in (a, *ends.values()))
    ends = dict(zip(ends, own_ends, strict=True))
    return sorting.diff(a, n=n, axis=axis, **ends)


def cumulative(own: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``cumulative_sum`` or ``cumulative_prod`` with NumPy's parameters."""

    def call(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None,
        include_initial: bool = False,
    ) -> Any:  # fmt: skip
        found = own(x, axis=axis, dtype=dtype, include_initial=include_initial)
        return write_out(out, found)

    call.__doc__ = own.__doc__
    return call


_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _sort_function(own: Callable[..., Array]) -> Callable[..., Array]:
    """Return a sort function with NumPy's parameters.

    ``kind`` and ``stable`` have no effect, because every sort is stable.
    """

    def call(
        a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, *,
        stable: Any = None, descending: bool = False,
    ) -> Array:  # fmt: skip
        refuse(f"np.{own.__name__}", order=order)
        if kind not in _KINDS:
            raise InvalidArgument(own.__name__, "kind", kind, f"one of {_KINDS}")
        x, at = (flattened(a), -1) if axis is None else (a, axis)
        return own(x, axis=at, descending=descending)

    call.__doc__ = own.__doc__
    return call


def _partition_function(own: Callable[..., Array]) -> Callable[..., Array]:
    """Return a partition function that sorts, because a sorted array is a valid partition."""

    def call(
        a: Array, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Array:
        refuse(f"np.{own.__name__}", order=order, kind=None if kind == "introselect" else kind)
        extent = a.size if axis is None else a.shape[axis]
        for at in () if isinstance(kth, Array) else np.ravel(kth):
            checks.integer("partition", "kth", at, -extent, extent - 1)
        return own(flattened(a)) if axis is None else own(a, axis=axis)

    return call


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.argpartition: _partition_function(sorting.argsort),
    np.argsort: _sort_function(sorting.argsort),
    np.array_equiv: array_equiv,
    np.compress: compress,
    np.cumulative_prod: cumulative(sorting.cumulative_prod),
    np.cumulative_sum: cumulative(sorting.cumulative_sum),
    np.diff: diff,
    np.extract: extract,
    np.intersect1d: intersect1d,
    np.isneginf: _infinity_function("isneginf", -1),
    np.isposinf: _infinity_function("isposinf", 1),
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.lexsort: lexsort,
    np.nonzero: nonzero,
    np.partition: _partition_function(sorting.sort),
    np.ptp: ptp,
    np.setdiff1d: setdiff1d,
    np.setxor1d: setxor1d,
    np.sort: _sort_function(sorting.sort),
    np.union1d: union1d,
    np.unique_all: sets.unique_all,
    np.unique_counts: sets.unique_counts,
    np.unique_inverse: sets.unique_inverse,
    np.unique_values: sets.unique_values,
}
