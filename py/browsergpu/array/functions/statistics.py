"""Sums, products, extremes, means and variances, over some axes or all of them."""

from __future__ import annotations

from typing import Any

from browsergpu.array import apply, reducing
from browsergpu.array.array import Array
from browsergpu.core import shapes
from browsergpu.core.checks import product
from browsergpu.core.element_types import BOOL, FLOAT32
from browsergpu.core.errors import InvalidType


def _reduced(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    axes = shapes.axes(op, "axis", axis, x.ndim)
    return reducing.reduced(op, function, x, axes, keepdims=keepdims)


def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum. Whole numbers and bools are added as int32 or uint32, modulo 2^32, floats in
    float32; ``dtype`` is that of the result, to which x is cast first."""
    own = x if dtype is None else x.astype(dtype, copy=False)
    return _reduced("sum", "add", reducing.widened(own) if dtype is None else own, axis, keepdims)


def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The product, in the dtypes of :func:`sum`."""
    own = x if dtype is None else x.astype(dtype, copy=False)
    wide = reducing.widened(own) if dtype is None else own
    return _reduced("prod", "multiply", wide, axis, keepdims)


def _extreme(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    if x.node.kind.kind == "c":
        raise InvalidType(op, "x", x.dtype, "real numbers")
    return _reduced(op, function, x, axis, keepdims)


def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The greatest element; NaN where one is NaN. Real numbers."""
    return _extreme("max", "maximum", x, axis, keepdims)


def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The least element; NaN where one is NaN. Real numbers."""
    return _extreme("min", "minimum", x, axis, keepdims)


def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether all elements are true; anything but 0 is."""
    return _reduced("all", "logical_and", apply.cast_to("all", x, BOOL), axis, keepdims)


def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether one element at least is true; anything but 0 is."""
    return _reduced("any", "logical_or", apply.cast_to("any", x, BOOL), axis, keepdims)


def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The mean; of whole numbers and bools in float32, of nothing NaN."""
    axes = shapes.axes("mean", "axis", axis, x.ndim)
    count = product([x.shape[n] for n in axes])
    own = x if x.node.kind.kind in "fc" else x.astype(FLOAT32.numpy)
    if own.node.kind.kind == "f" and count:
        return reducing.reduced("mean", "add", own, axes, keepdims=keepdims, scale=1.0 / count)
    total = reducing.reduced("mean", "add", own, axes, keepdims=keepdims)
    return apply.apply("divide", total, total, float(count))


def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance: squared deviations from the mean, over their count less ``correction``. Of
    whole numbers in float32. Real numbers."""
    if x.node.kind.kind == "c":
        raise InvalidType("var", "x", x.dtype, "real numbers")
    axes = shapes.axes("var", "axis", axis, x.ndim)
    own = x if x.node.kind.kind == "f" else x.astype(FLOAT32.numpy)
    return reducing.variance("var", own, axes, float(correction), keepdims=keepdims)


def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The square root of the variance."""
    return apply.unary("sqrt", var(x, axis=axis, correction=correction, keepdims=keepdims))


def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """How many elements are not 0: int32."""
    return sum(apply.cast_to("count_nonzero", x, BOOL), axis=axis, keepdims=keepdims)
