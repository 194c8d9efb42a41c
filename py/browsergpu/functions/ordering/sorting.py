"""Sorting, searching, and cumulative sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.indexing.gather import coordinates
from browsergpu.arrays.indexing.masks import indices_of_true
from browsergpu.arrays.indexing.ranks import argsorted, searched
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.views import strided
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import integer
from browsergpu.engine.core.element_types import (
    BOOL,
    COMPLEX64,
    DEFAULTS,
    INT32,
    UINT32,
    ElementType,
    promoted,
)
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.tensors import ordering, scans
from browsergpu.functions import creation, manipulation, parts
from browsergpu.functions.ordering import cumulative
from browsergpu.functions.ordering import wide_orders as wide


def _known(op: str, x: Array) -> Array:
    """Return real numbers in memory, in a type that the kernels sort. The order is the same."""
    kind = x.node.kind
    if kind is COMPLEX64:
        raise InvalidType(op, "x", x.dtype, "real numbers")
    if kind.dtype is None:
        x = apply.cast_to(op, x, INT32 if kind.kind == "i" else UINT32)
    x.node.in_memory()
    return x


def _result(x: Array, op: str, kind: ElementType, shape: tuple[int, ...]) -> Array:
    return x.like(room(x.device, op, kind, shape))


def _sort_gradient(g: Array, x: Array, axis: int, descending: bool) -> Array:
    order = argsort(x, axis=axis, descending=descending)
    back = order_of(order.astype(INT32.numpy, copy=False), axis=axis)
    return take_along_axis(g, back, axis=axis)


@differentiable(x=_sort_gradient)
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Sort an array along an axis. The sort is always stable.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int, optional
        The axis.
    descending : bool, optional
        The order. NaN come last, or first in descending order.
    stable : bool, optional
        Ignored.

    Returns
    -------
    Array
        The shape and dtype of ``x``.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If the axis is out of range.
    """
    op = "sort"
    if wide.is_wide(x):
        order = order_of(x, axis=axis, descending=descending)
        return take_along_axis(x, order, axis=axis)
    own = _known(op, x)
    at = shapes.axis(op, "axis", axis, x.ndim)
    found = _result(own, op, own.node.kind, x.shape)
    ordering.sort(x.device, op, _view(own), _view(found), at, descending=bool(descending))
    return apply.cast_to(op, found, x.node.kind, copy=False)


@constant
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort an array along an axis, as :func:`sort`.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int, optional
        The axis.
    descending : bool, optional
        The order. NaN come last, or first in descending order.
    stable : bool, optional
        Ignored, as the sort is always stable.

    Returns
    -------
    Array
        The shape of ``x``. int64, or int32 if that is the default (see ``set_default_int``).

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If the axis is out of range.
    """
    return as_indices(order_of(x, axis=axis, descending=descending))


def as_indices(x: Array) -> Array:
    """Return int32 indices or counts in the dtype of Python's integers."""
    return apply.cast_to("indices", x, DEFAULTS[int], copy=False)


@exclusive
def order_of(x: Array, *, axis: int = -1, descending: bool = False) -> Array:
    """Return :func:`argsort` as int32."""
    op = "argsort"
    at = shapes.axis(op, "axis", axis, x.ndim)
    if wide.is_wide(x):
        low, high = wide.words(op, x)
        first = argsorted(op, _known(op, low), at, descending=bool(descending))
        turned = take_along_axis(high, first, axis=at)
        second = argsorted(op, _known(op, turned), at, descending=bool(descending))
        return take_along_axis(first, second, axis=at)
    own = _known(op, x)
    return argsorted(op, own, at, descending=bool(descending))


def _view(x: Array) -> Any:
    return reduce.memory_view(x.node)


def _extreme(op: str, function: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    at = None if axis is None else shapes.axis(op, "axis", axis, x.ndim)
    chosen = tuple(range(x.ndim)) if at is None else (at,)
    if 0 in (x.shape[n] for n in chosen):
        raise InvalidArgument(op, "x", x, "have elements")
    if wide.is_wide(x):
        extreme = reduce.reduced(op, f"{function}imum", x, chosen, keepdims=True)
        return _extreme(op, "max", apply.binary("equal", x, extreme), axis, keepdims)
    own = _known(op, x)
    shape = shapes.without(x.shape, chosen, keepdims=keepdims)
    found = _result(own, op, INT32, shape)
    ordering.arg_reduce(x.device, op, function, _view(own), _view(found), at)
    return found


@constant
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the largest element. NaN counts as the largest.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int, optional
        The axis. By default, the index is for the flattened array.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The first index among equals. int64, or int32 if that is the default (see
        ``set_default_int``).

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If there are no elements, or the axis is out of range.
    """
    return as_indices(_extreme("argmax", "max", x, axis, keepdims))


@constant
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the smallest element. NaN counts as the smallest.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int, optional
        The axis. By default, the index is for the flattened array.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The first index among equals. int64, or int32 if that is the default (see
        ``set_default_int``).

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If there are no elements, or the axis is out of range.
    """
    return as_indices(_extreme("argmin", "min", x, axis, keepdims))


@constant
def searchsorted(
    x1: Array, x2: Array | float, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """Return the indices at which elements keep a vector sorted.

    Parameters
    ----------
    x1 : Array
        A sorted vector of shape [N].
    x2 : Array or number
        The elements to insert.
    side : {"left", "right"}, optional
        "left" inserts before equal elements, and "right" after them.
    sorter : Array, optional
        Indices that sort ``x1``.

    Returns
    -------
    Array
        Indices from 0 to N, of the shape of ``x2``. int64, or int32 if that is the default (see
        ``set_default_int``).

    Raises
    ------
    InvalidArgument
        If ``x1`` is not a vector, or ``side`` has another value.
    InvalidType
        If an operand is complex.
    """
    return as_indices(place_of(x1, x2, side=side, sorter=sorter))


@exclusive
def place_of(
    x1: Array, x2: Array | float, /, *, side: str = "left", sorter: Array | None = None
) -> Array:
    """Return :func:`searchsorted` as int32."""
    op = "searchsorted"
    if side not in ("left", "right"):
        raise InvalidArgument(op, "side", side, "'left' or 'right'")
    if x1.ndim != 1:
        raise InvalidArgument(op, "x1", x1, "have one axis")
    ordered = x1 if sorter is None else x1[sorter]
    if wide.is_wide(ordered) and isinstance(x2, float | np.floating):
        return wide.searched_float(op, ordered, float(x2), right=side == "right")
    values = apply.array_of(op, "x2", x2, x1)
    kind = promoted(ordered.node.kind, values.node.kind)
    if wide.is_wide(ordered) and wide.is_wide(values):
        return wide.searched(op, ordered, values, right=side == "right")
    if kind.computed in "IU":
        both = [apply.cast_to(op, x, kind, copy=False) for x in (ordered, values)]
        return wide.searched(op, *both, right=side == "right")
    one, other = (_known(op, apply.cast_to(op, x, kind, copy=False)) for x in (ordered, values))
    return searched(op, one, other, right=side == "right")


@constant
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return the indices of nonzero elements along each axis. Waits for their number.

    Parameters
    ----------
    x : Array
        Any dtype, with at least one axis.

    Returns
    -------
    tuple of Array
        Indices along each axis, in row-major order, of shape [N]. int64, or int32 if that is the
        default (see ``set_default_int``).

    Raises
    ------
    InvalidArgument
        If ``x`` has no axes.
    """
    if x.ndim == 0:
        raise InvalidArgument("nonzero", "x", x, "have an axis")
    return tuple(map(as_indices, indices_of_true("nonzero", apply.cast_to("nonzero", x, BOOL))))


def _cumulative(
    op: str, function: str, x: Array, axis: int | None, dtype: Any, include_initial: bool
) -> Array:
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgument(op, "axis", axis, "an axis, as x is not a vector")
        axis = 0
    at = shapes.axis(op, "axis", axis, x.ndim)
    own = reduce.widened(x) if dtype is None else x.astype(dtype, copy=False)
    kind = own.node.kind
    if kind is COMPLEX64:
        if function == "prod":
            raise InvalidType(op, "x", x.dtype, "real numbers")
        parts = [
            _cumulative(op, function, part, at, None, include_initial)
            for part in (own.real, own.imag)
        ]
        both: Array = parts[0] + parts[1] * 1j
        return both
    shape = list(own.shape)
    shape[at] += bool(include_initial)
    if wide.is_wide(own):
        found = _result(own, op, kind, tuple(shape))
        source, target = (reduce.pairs_view(x.node) for x in (apply.packed(own), found))
        scans.scan_wide(own.device, op, function, source, target, at)
        return found
    words = _known(op, own)
    found = _result(own, op, words.node.kind, tuple(shape))
    scans.scan(own.device, op, function, _view(words), _view(found), at)
    return apply.cast_to(op, found, kind, copy=False)


def _cumulative_sum_gradient(g: Array, axis: int | None, include_initial: bool) -> Array:
    return cumulative.of_sum(cumulative_sum, g, axis, include_initial)


@differentiable(x=_cumulative_sum_gradient)
def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return cumulative sums along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int, optional
        The axis. Required unless ``x`` is a vector.
    dtype : dtype, optional
        The dtype of the result. ``x`` is converted to it first. The default is that of ``sum``.
    include_initial : bool, optional
        Whether to begin with 0, so that there is one more element along the axis.

    Returns
    -------
    Array
        The shape of ``x``, or one more element along the axis.

    Raises
    ------
    InvalidArgument
        If the axis is missing or out of range.
    """
    return _cumulative("cumulative_sum", "sum", x, axis, dtype, include_initial)


def _cumulative_prod_gradient(g: Array, x: Array, axis: int | None, include_initial: bool) -> Array:
    return cumulative.of_product(cumulative_prod, g, x, axis, include_initial)


@differentiable(x=_cumulative_prod_gradient)
def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return cumulative products along an axis.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int, optional
        The axis. Required unless ``x`` is a vector.
    dtype : dtype, optional
        The dtype of the result. ``x`` is converted to it first. The default is that of ``sum``.
    include_initial : bool, optional
        Whether to begin with 1, so that there is one more element along the axis.

    Returns
    -------
    Array
        The shape of ``x``, or one more element along the axis.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If the axis is missing or out of range.
    """
    return _cumulative("cumulative_prod", "prod", x, axis, dtype, include_initial)


def _diff_gradients(
    g: Array, prepend_like: Like | None, x_like: Like, append_like: Like | None, axis: int, n: int
) -> tuple[Any, ...]:
    return cumulative.of_differences(diff, g, (prepend_like, x_like, append_like), axis, n)


@differentiable(joint=(("prepend", "x", "append"), _diff_gradients))
def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None,
    append: Array | None = None,
) -> Array:  # fmt: skip
    """Return the differences of neighboring elements along an axis.

    Parameters
    ----------
    x : Array
        Any dtype. For bools, the result says whether neighbors differ.
    axis : int, optional
        The axis.
    n : int, optional
        How many times differences are taken.
    prepend, append : Array, optional
        Arrays that are concatenated before and after ``x`` first.

    Returns
    -------
    Array
        ``n`` fewer elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is negative, the axis is out of range, or the shapes do not fit.
    """
    times = integer("diff", "n", n)
    at = shapes.axis("diff", "axis", axis, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    found = manipulation.concat(parts, axis=at) if len(parts) > 1 else apply.duplicate(x)
    for _ in range(times):
        after = found[(*(slice(None),) * at, slice(1, None))]
        before = found[(*(slice(None),) * at, slice(None, -1))]
        op = "not_equal" if found.node.kind is BOOL else "subtract"
        found = apply.binary(op, after, before)
    return found


def _take_along_axis_gradient(g: Array, x_like: Like, indices: Array, axis: int) -> Array:
    at = axis % g.ndim
    key: list[Any] = []
    for n, extent in enumerate(g.shape):
        counted = creation.arange(extent, dtype="int32", device=g.device)
        key.append(counted.reshape([extent if n == other else 1 for other in range(g.ndim)]))
    key[at] = manipulation.broadcast_to(indices, g.shape)
    whole = x_like._replace(shape=(*g.shape[:at], x_like.shape[at], *g.shape[at + 1 :]))
    return parts.put_back(g, tuple(key), whole)


@differentiable(x=_take_along_axis_gradient)
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    indices : Array
        Integers with as many axes as ``x``. The axes other than ``axis`` broadcast.
    axis : int, optional
        The axis.

    Returns
    -------
    Array
        The broadcast shape, with the extent of ``indices`` along ``axis``.

    Raises
    ------
    InvalidArgument
        If the numbers of axes differ, the shapes do not broadcast, or the axis is out of range.
    """
    op = "take_along_axis"
    at = shapes.axis(op, "axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        raise InvalidArgument(op, "indices", indices, f"have {x.ndim} axes, as x has")
    beside = [
        shapes.broadcast(op, x.shape[n : n + 1], indices.shape[n : n + 1])[0]
        for n in range(x.ndim)
        if n != at
    ]
    own, other = list(beside), list(beside)
    own.insert(at, x.shape[at])
    other.insert(at, indices.shape[at])
    source = strided.spread(x, tuple(own))
    where = strided.spread(indices, tuple(other))
    key = [where if n == at else _along(x, n, extent, x.ndim) for n, extent in enumerate(other)]
    return source[tuple(key)]


def _along(x: Array, axis: int, extent: int, rank: int) -> Array:
    counted = x.like(coordinates(x.tracer, (extent,), 0))
    return strided.reshaped("take", counted, [extent if n == axis else 1 for n in range(rank)])
