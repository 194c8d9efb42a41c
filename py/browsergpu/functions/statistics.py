"""Sums, products, extremes, means and variances, over some axes or all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.core import shapes
from browsergpu.core.checks import product
from browsergpu.core.element_types import BOOL, DEFAULTS, FLOAT32
from browsergpu.core.errors import InvalidType, Unsupported
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.ordering import running, sorting


def _reduced(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    axes = shapes.axes(op, "axis", axis, x.ndim)
    return reduce.reduced(op, function, x, axes, keepdims=keepdims)


def spread(g: Any, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """What a reduction gave, or its gradient, repeated to the shape of what was reduced."""
    if not keepdims:
        chosen = shapes.axes("sum", "axis", axis, x_like.ndim)
        g = manipulation.reshape(g, shapes.without(x_like.shape, chosen, keepdims=True))
    return manipulation.broadcast_to(g, x_like.shape)


def count(x_like: Like, axis: Any) -> int:
    """How many elements of each were reduced."""
    return product([x_like.shape[n] for n in shapes.axes("sum", "axis", axis, x_like.ndim)])


def _of_extreme(g: Array, y: Array, x: Array, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """Shared among those that are equal."""
    ones = elementwise.equal(x, spread(y, x_like, axis, keepdims)).astype(g.dtype)
    number = sum(ones, axis=axis, keepdims=True)
    return spread(g, x_like, axis, keepdims) * ones / number


def _of_product(g: Array, x: Array, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """Times the product of all others: of those before and those behind, as one may be 0."""
    chosen = shapes.axes("prod", "axis", axis, x.ndim)
    others = [n for n in range(x.ndim) if n not in chosen]
    order = (*others, *chosen)
    length = count(x_like, axis)
    if not length:
        return spread(g, x_like, axis, keepdims)
    turned = manipulation.permute_dims(x, order)
    rows = manipulation.reshape(turned, (*(x.shape[n] for n in others), length))
    one = creation.ones((*rows.shape[:-1], 1), dtype=x.dtype, device=x.device)

    def before(of: Array) -> Array:
        factors = manipulation.concat([one, of[..., :-1]], axis=-1)
        if x.dtype.kind == "c":
            return running.products(factors)
        return sorting.cumulative_prod(factors, axis=-1)

    behind = manipulation.flip(before(manipulation.flip(rows, axis=-1)), axis=-1)
    rest = manipulation.reshape(before(rows) * behind, turned.shape)
    rest = elementwise.conj(rest) if x.dtype.kind == "c" else rest
    back = tuple(order.index(n) for n in range(x.ndim))
    return spread(g, x_like, axis, keepdims) * manipulation.permute_dims(rest, back)


def _of_variance(
    g: Array, x: Array, x_like: Like, axis: Any, correction: float, keepdims: bool
) -> Any:
    centred = x - mean(x, axis=axis, keepdims=True)
    return spread(g, x_like, axis, keepdims) * centred * 2 / (count(x_like, axis) - correction)


def _of_deviation(
    g: Array, y: Array, x: Array, x_like: Like, axis: Any, correction: float, keepdims: bool
) -> Any:
    slope = elementwise.where(elementwise.equal(y, 0), 0, g / (2 * y))
    return _of_variance(slope, x, x_like, axis, correction, keepdims)


@widened("x")
@differentiable(x=lambda g, x_like, axis, keepdims: spread(g, x_like, axis, keepdims))
def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum. Whole numbers and bools are added as int64 or uint64, modulo 2^64 (see
    ``set_default_int``), floats in
    float32; ``dtype`` is that of the result, to which x is cast first."""
    own = x if dtype is None else x.astype(dtype, copy=False)
    return _reduced("sum", "add", reduce.widened(own) if dtype is None else own, axis, keepdims)


@widened("x")
@differentiable(x=_of_product)
def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The product, in the dtypes of :func:`sum`."""
    own = x if dtype is None else x.astype(dtype, copy=False)
    wide = reduce.widened(own) if dtype is None else own
    return _reduced("prod", "multiply", wide, axis, keepdims)


def _extreme(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    if x.node.kind.kind == "c":
        raise InvalidType(op, "x", x.dtype, "real numbers")
    return _reduced(op, function, x, axis, keepdims)


@differentiable(x=_of_extreme)
def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The greatest element; NaN where one is NaN. Real numbers."""
    return _extreme("max", "maximum", x, axis, keepdims)


@differentiable(x=_of_extreme)
def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The least element; NaN where one is NaN. Real numbers."""
    return _extreme("min", "minimum", x, axis, keepdims)


@constant
def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether all elements are true; anything but 0 is."""
    return _reduced("all", "logical_and", apply.cast_to("all", x, BOOL), axis, keepdims)


@constant
def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether one element at least is true; anything but 0 is."""
    return _reduced("any", "logical_or", apply.cast_to("any", x, BOOL), axis, keepdims)


@widened("x")
@differentiable(
    x=lambda g, x_like, axis, keepdims: spread(g, x_like, axis, keepdims) / count(x_like, axis)
)
def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The mean; of whole numbers and bools in float32, of nothing NaN."""
    axes = shapes.axes("mean", "axis", axis, x.ndim)
    count = product([x.shape[n] for n in axes])
    own = x if x.node.kind.kind in "fc" else x.astype(FLOAT32.numpy)
    if own.node.kind.kind == "f" and count:
        return reduce.reduced("mean", "add", own, axes, keepdims=keepdims, scale=1.0 / count)
    total = reduce.reduced("mean", "add", own, axes, keepdims=keepdims)
    return apply.apply("divide", total, total, float(count))


@widened("x")
@differentiable(x=_of_variance)
def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance: squared deviations from the mean, over their count less ``correction``. Of
    whole numbers in float32. Real numbers."""
    if x.node.kind.kind == "c":
        raise InvalidType("var", "x", x.dtype, "real numbers")
    axes = shapes.axes("var", "axis", axis, x.ndim)
    own = x if x.node.kind.kind == "f" else x.astype(FLOAT32.numpy)
    return reduce.variance("var", own, axes, float(correction), keepdims=keepdims)


@widened("x")
@differentiable(x=_of_deviation)
def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The square root of the variance."""
    return apply.unary("sqrt", var(x, axis=axis, correction=correction, keepdims=keepdims))


@constant
def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """How many elements are not 0. With int32 as the default, raises Unsupported for more elements
    than that counts."""
    op, most = "count_nonzero", np.iinfo(DEFAULTS[int].numpy).max
    elements = product([x.shape[n] for n in shapes.axes(op, "axis", axis, x.ndim)])
    if elements > most:
        told = (
            f"int32 must count {most} elements at most, got {elements}. Count them along an axis."
        )
        raise Unsupported(op, told)
    return sum(apply.cast_to("count_nonzero", x, BOOL), axis=axis, keepdims=keepdims)
