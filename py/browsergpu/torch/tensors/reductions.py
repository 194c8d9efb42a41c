"""Reductions. With ``dim``, extrema also return their indices."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import (
    creation,
    data_types,
    elementwise,
    manipulation,
    special,
    statistics,
)  # fmt: skip
from browsergpu.functions.linalg import norms
from browsergpu.functions.ordering import cumulative, sorting
from browsergpu.torch.tensors.dtypes import INT64, dtype_of, operands
from browsergpu.torch.tensors.pointwise import floats
from browsergpu.torch.tensors.public import public
from browsergpu.torch.tensors.shapes import axis_of


def pair(name: str) -> Any:
    """Return a class of results with values and indices."""
    return namedtuple(name, ("values", "indices"))


_Max, _Min, _Median, _Mode = pair("max"), pair("min"), pair("median"), pair("mode")
_named: Any = namedtuple
_AMinMax: Any = _named("aminmax", ("min", "max"))
_Nanmedian = pair("nanmedian")
_Kth, _Cummax, _Cummin = pair("kthvalue"), pair("cummax"), pair("cummin")


def axes(op: str, input: Any, dim: Any) -> Any:
    """Return NumPy's axis for PyTorch's dim. An empty sequence stands for all axes.

    A tensor without axes has the dims 0 and -1, which stand for its element.
    """
    several = isinstance(dim, list | tuple)
    if dim is not None and not input.shape:
        for one in dim if several else (dim,):
            axis_of(op, one, 0)
        return None
    return (tuple(dim) or None) if several else dim


def _cast(op: str, x: Any, dtype: Any) -> Any:
    kind = dtype_of(op, dtype)
    return x if kind is None or x.dtype == kind else data_types.astype(x, kind)


def _added_kind(op: str, x: Any, dtype: Any) -> Any:
    """Return the dtype of sums and products: int64 for all integers and bools."""
    kind = dtype_of(op, dtype)
    return INT64 if kind is None and x.dtype.kind in "uib" else kind


@public()
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Add up elements, along axes or all."""
    kind = _added_kind("sum", input, dtype)
    return statistics.sum(input, axis=axes("sum", input, dim), dtype=kind, keepdims=keepdim)


@public()
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Add up elements that are not NaN."""
    kind = _added_kind("nansum", input, dtype)
    x = _cast("nansum", input, kind)
    found = ABOVE.namespace.nansum(x, axis=axes("nansum", input, dim), keepdims=keepdim)
    return _cast("nansum", found, kind)


@public()
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Multiply elements, along an axis or all."""
    kind = _added_kind("prod", input, dtype)
    return statistics.prod(input, axis=axes("prod", input, dim), dtype=kind, keepdims=keepdim)


def _check_inexact(op: str, x: Any) -> None:
    if x.dtype.kind not in "fc":
        advice = "Call x.float() first."
        raise InvalidType(op, "input", x.dtype, "a float or complex dtype", advice)


@public()
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean, along axes or of all elements."""
    x = _cast("mean", input, dtype)
    _check_inexact("mean", x)
    return statistics.mean(x, axis=axes("mean", input, dim), keepdims=keepdim)


@public()
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the mean of elements that are not NaN."""
    x = _cast("nanmean", input, dtype)
    _check_inexact("nanmean", x)
    return ABOVE.namespace.nanmean(x, axis=axes("nanmean", input, dim), keepdims=keepdim)


def _correction(op: str, unbiased: Any, correction: Any) -> float:
    if unbiased is not None and correction is not None:
        raise InvalidArgument(op, "correction", correction, "left out beside unbiased")
    if unbiased is not None:
        return 1.0 if unbiased else 0.0
    return 1.0 if correction is None else correction


def _spread(op: str, f: Any, input: Any, dim: Any, unbiased: Any, keepdim: Any, of: Any) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    _check_inexact(op, input)
    given = _correction(op, unbiased, of)
    return f(input, axis=axes(op, input, dim), correction=given, keepdims=keepdim)


@public()
def var(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """Return the variance, by default with one degree of freedom less."""
    return _spread("var", statistics.var, input, dim, unbiased, keepdim, correction)


@public()
def std(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """Return the standard deviation, by default with one degree of freedom less."""
    return _spread("std", statistics.std, input, dim, unbiased, keepdim, correction)


@public(method=False, out=False)
def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """Return the variance and the mean."""
    over = None if isinstance(dim, bool) else dim  # var_mean(x, unbiased)
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, over, keepdim)


@public(method=False, out=False)
def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
    correction: Any = None,
) -> Any:  # fmt: skip
    """Return the standard deviation and the mean."""
    over = None if isinstance(dim, bool) else dim  # std_mean(x, unbiased)
    spread = std(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, over, keepdim)


def at(input: Any, where: Any, dim: int, keepdim: bool, kind: Any) -> Any:
    """Return the elements at indices of an axis that were kept, and the indices."""
    values = sorting.take_along_axis(input, where, axis=dim)
    if not keepdim:
        values = manipulation.squeeze(values, dim)
        where = manipulation.squeeze(where, dim)
    return kind(values, where)


def _of_scalar(op: str, input: Any, dim: Any, kind: Any) -> Any:
    """Return the element of a tensor without axes, and its index along the dims 0 and -1."""
    axis_of(op, dim, 0)
    return kind(input, creation.zeros((), dtype="int64", device=input.device))


@public("max")
def max_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the maximum, or along an axis the maxima and their indices, or of two tensors."""
    other = dim if isinstance(dim, Array) else other
    if other is not None:
        return elementwise.maximum(*operands(input, other))
    if dim is None:
        if keepdim:
            raise InvalidArgument("max", "keepdim", keepdim, "False without dim")
        return statistics.max(input)
    if not input.shape:
        return _of_scalar("max", input, dim, _Max)
    return at(input, sorting.argmax(input, axis=dim, keepdims=True), dim, keepdim, _Max)


@public("min")
def min_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the minimum, or along an axis the minima and their indices, or of two tensors."""
    other = dim if isinstance(dim, Array) else other
    if other is not None:
        return elementwise.minimum(*operands(input, other))
    if dim is None:
        if keepdim:
            raise InvalidArgument("min", "keepdim", keepdim, "False without dim")
        return statistics.min(input)
    if not input.shape:
        return _of_scalar("min", input, dim, _Min)
    return at(input, sorting.argmin(input, axis=dim, keepdims=True), dim, keepdim, _Min)


@public()
def amax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the maximum along axes."""
    return statistics.max(input, axis=axes("amax", input, dim), keepdims=keepdim)


@public()
def amin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the minimum along axes."""
    return statistics.min(input, axis=axes("amin", input, dim), keepdims=keepdim)


@public(out=False)
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the minimum and the maximum along an axis."""
    return _AMinMax(amin(input, dim, keepdim), amax(input, dim, keepdim))


@public()
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the index of the maximum."""
    return sorting.argmax(input, axis=axes("argmax", input, dim), keepdims=keepdim)


@public()
def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the index of the minimum."""
    return sorting.argmin(input, axis=axes("argmin", input, dim), keepdims=keepdim)


@public("all")
def all_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Test whether all elements are nonzero."""
    return _tested("all", statistics.all, input, dim, keepdim)


@public("any")
def any_(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Test whether an element is nonzero."""
    return _tested("any", statistics.any, input, dim, keepdim)


def _tested(op: str, f: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    """Return the result of a test: bool, but uint8 for uint8. No dims test each element."""
    if isinstance(dim, list | tuple) and not dim:
        found = elementwise.not_equal(input, 0)
    else:
        found = f(input, axis=axes(op, input, dim), keepdims=keepdim)
    return data_types.astype(found, input.dtype) if input.dtype == np.uint8 else found


@public()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Count the elements that are not zero."""
    return statistics.count_nonzero(input, axis=axes("count_nonzero", input, dim))


@public()
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials."""
    return special.logsumexp(floats(input), axes("logsumexp", input, dim), None, keepdim)


def kth(input: Any, k: int, dim: int, keepdim: bool, kind: Any) -> Any:
    """Return the k-th smallest elements along an axis, counted from 0, and their indices."""
    order = sorting.argsort(input, axis=dim)
    where = manipulation.take(order, [k], axis=dim)
    return at(input, where, dim, keepdim, kind)


@public()
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the k-th smallest elements, counted from 1, and their indices."""
    extent = input.shape[dim] if input.shape else 1
    if not 1 <= k <= extent:
        raise InvalidArgument("kthvalue", "k", k, f"from 1 to {extent}")
    if not input.shape:
        return _of_scalar("kthvalue", input, dim, _Kth)
    return kth(input, k - 1, dim, keepdim, _Kth)


@public()
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median, or along an axis the medians and their indices."""
    if dim is None:
        flat = manipulation.reshape(input, (-1,))
        return median(flat, 0)[0]
    if not input.shape:
        return _of_scalar("median", input, dim, _Median)
    found = kth(input, (input.shape[dim] - 1) // 2, dim, keepdim, _Median)
    if input.dtype.kind != "f":
        return found
    # NaN sorts last. If there is one, the first one is the median.
    is_nan = elementwise.isnan(input)
    has_nan = statistics.any(is_nan, axis=dim, keepdims=True)
    where = sorting.argmax(data_types.astype(is_nan, "int32"), axis=dim, keepdims=True)
    nans = at(input, where, dim, keepdim, _Median)
    has_nan = has_nan if keepdim else manipulation.squeeze(has_nan, dim)
    return _Median(*(elementwise.where(has_nan, *both) for both in zip(nans, found, strict=True)))


@public()
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the lower median of elements that are not NaN, and along an axis the indices too."""
    if dim is None:
        return nanmedian(manipulation.reshape(input, (-1,)), 0)[0]
    if not input.shape:
        return _of_scalar("nanmedian", input, dim, _Nanmedian)
    if input.dtype.kind != "f":
        return median(input, dim, keepdim)
    # NaN sorts last
    is_number = data_types.astype(elementwise.equal(input, input), "int64")
    count = statistics.sum(is_number, axis=dim, keepdims=True)
    place = elementwise.maximum(count - 1, 0) // 2
    where = sorting.take_along_axis(sorting.argsort(input, axis=dim), place, axis=dim)
    return at(input, where, dim, keepdim, _Nanmedian)


@public()
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """Return the most frequent elements along an axis, and an index of each."""
    if not input.shape:
        return _of_scalar("mode", input, dim, _Mode)
    x = input
    column = manipulation.expand_dims(x, dim % x.ndim + 1)
    row = manipulation.expand_dims(x, dim % x.ndim)
    counts = statistics.sum(elementwise.equal(row, column), axis=dim % x.ndim)
    most = elementwise.equal(counts, statistics.max(counts, axis=dim, keepdims=True))
    # What is less frequent must not be the least. NaN equals nothing, and has the count 0.
    last = float("inf") if x.dtype.kind == "f" else statistics.max(x, axis=dim, keepdims=True)
    values = elementwise.where(most, x, last)
    least = statistics.min(values, axis=dim, keepdims=True)
    shape = [1] * x.ndim
    shape[dim] = x.shape[dim]
    place = manipulation.reshape(ABOVE.namespace.arange(x.shape[dim], device=x.device), shape)
    is_least = elementwise.equal(x, least)
    if x.dtype.kind == "f":
        is_least = is_least | (elementwise.isnan(x) & elementwise.isnan(least))
    where = elementwise.where(is_least, place, -1)
    return at(x, statistics.max(where, axis=dim, keepdims=True), dim, keepdim, _Mode)


@public()
def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """Return quantiles along an axis."""
    return ABOVE.namespace.quantile(input, q, axis=dim, method=interpolation, keepdims=keepdim)


@public()
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return running sums along an axis."""
    return _cumulative(input, dim, _added_kind("cumsum", input, dtype), "cumulative_sum")


@public()
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return running products along an axis."""
    return _cumulative(input, dim, _added_kind("cumprod", input, dtype), "cumulative_prod")


@public()
def logcumsumexp(input: Any, dim: int) -> Any:
    """Return the logarithms of running sums of exponentials along an axis."""
    if input.dtype.kind != "f":
        advice = "Call x.float() first."
        raise InvalidType("logcumsumexp", "input", input.dtype, "a float dtype", advice)
    if not input.shape:
        axis_of("logcumsumexp", dim, 0)
        return input.__copy__()
    own = cumulative.scanned(manipulation.moveaxis(input, dim, -1), elementwise.logaddexp)
    return manipulation.moveaxis(own, -1, dim)


def _cumulative(x: Any, dim: int, kind: Any, name: str) -> Any:
    """Return running results. A scalar is its own."""
    if not x.shape:
        axis_of(name, dim, 0)
        return x.__copy__() if kind is None else data_types.astype(x, kind)
    return getattr(sorting, name)(x, axis=dim, dtype=kind)


def _running(input: Any, dim: int, kind: Any, *, sign: int) -> Any:
    """Return running extrema and the index of each, the last one of equal elements."""
    if not input.shape:
        return _of_scalar("cummax" if sign > 0 else "cummin", input, dim, kind)
    n = input.shape[dim]
    x = manipulation.moveaxis(input, dim, -1)
    last, place = x, ABOVE.namespace.arange(n, device=x.device)
    where = manipulation.broadcast_to(place, x.shape)
    step = 1
    while step < n:
        before = manipulation.roll(last, step, axis=-1)
        from_ = manipulation.roll(where, step, axis=-1)
        ahead = elementwise.greater(before, last) if sign > 0 else elementwise.less(before, last)
        if x.dtype.kind == "f":  # NaN stays, and the last index of one
            is_nan = elementwise.isnan(last)
            ahead = (ahead | elementwise.isnan(before)) & elementwise.logical_not(is_nan)
        is_taken = elementwise.logical_and(ahead, elementwise.greater_equal(place, step))
        last = elementwise.where(is_taken, before, last)
        where = elementwise.where(is_taken, from_, where)
        step *= 2
    values = sorting.take_along_axis(x, where, axis=-1)
    return kind(*(manipulation.moveaxis(one, -1, dim) for one in (values, where)))


@public()
def cummax(input: Any, dim: int) -> Any:
    """Return running maxima along an axis, and their indices."""
    return _running(input, dim, _Cummax, sign=1)


@public()
def cummin(input: Any, dim: int) -> Any:
    """Return running minima along an axis, and their indices."""
    return _running(input, dim, _Cummin, sign=-1)


@public()
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """Return the norm of all elements or along axes."""
    order = 2 if p in ("fro", None) else p
    x = _cast("norm", input, dtype)
    if order == "nuc":
        own = x if dim is None else manipulation.moveaxis(x, dim, (-2, -1))
        found = norms.matrix_norm(own, keepdims=keepdim, ord="nuc")
        return manipulation.moveaxis(found, (-2, -1), dim) if keepdim and dim is not None else found
    return norms.vector_norm(x, axis=axes("norm", input, dim), keepdims=keepdim, ord=order)


@public(method=True)
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Return the norm of the difference."""
    return norms.vector_norm(input - other, ord=p)
