"""Reductions: sums, products, extremes, means and variances over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.precision import widened
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import BOOL, DEFAULTS, FLOAT32
from browsergpu.engine.core.errors import InvalidType, Unsupported
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.ordering import cumulative, sorting


def _reduced(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    axes = shapes.axes(op, "axis", axis, x.ndim)
    return reduce.reduced(op, function, x, axes, keepdims=keepdims)


def spread(g: Any, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """Repeat a reduction's result, or its gradient, to the shape of the reduced array."""
    if not keepdims:
        chosen = shapes.axes("sum", "axis", axis, x_like.ndim)
        g = manipulation.reshape(g, shapes.without(x_like.shape, chosen, keepdims=True))
    return manipulation.broadcast_to(g, x_like.shape)


def count(x_like: Like, axis: Any) -> int:
    """Return how many elements are reduced to one."""
    return product([x_like.shape[n] for n in shapes.axes("sum", "axis", axis, x_like.ndim)])


def _extreme_gradient(g: Array, y: Array, x: Array, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """Divide the gradient among equal extremes."""
    ones = elementwise.equal(x, spread(y, x_like, axis, keepdims)).astype(g.dtype)
    number = sum(ones, axis=axis, keepdims=True)
    return spread(g, x_like, axis, keepdims) * ones / number


def _prod_gradient(g: Array, x: Array, x_like: Like, axis: Any, keepdims: bool) -> Any:
    """Return the gradient times the product of all other elements.

    It multiplies the elements before and after each one, as a division would fail for 0.
    """
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
            return cumulative.scanned(factors, elementwise.multiply)
        return sorting.cumulative_prod(factors, axis=-1)

    behind = manipulation.flip(before(manipulation.flip(rows, axis=-1)), axis=-1)
    rest = manipulation.reshape(before(rows) * behind, turned.shape)
    rest = elementwise.conj(rest) if x.dtype.kind == "c" else rest
    back = tuple(order.index(n) for n in range(x.ndim))
    return spread(g, x_like, axis, keepdims) * manipulation.permute_dims(rest, back)


def _var_gradient(
    g: Array, x: Array, x_like: Like, axis: Any, correction: float, keepdims: bool
) -> Any:
    centred = x - mean(x, axis=axis, keepdims=True)
    return spread(g, x_like, axis, keepdims) * centred * 2 / (count(x_like, axis) - correction)


def _std_gradient(
    g: Array, y: Array, x: Array, x_like: Like, axis: Any, correction: float, keepdims: bool
) -> Any:
    slope = elementwise.where(elementwise.equal(y, 0), 0, g / (2 * y))
    return _var_gradient(slope, x, x_like, axis, correction, keepdims)


@widened("x")
@differentiable(x=lambda g, x_like, axis, keepdims: spread(g, x_like, axis, keepdims))
def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the sum of elements over axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    dtype : dtype, optional
        The dtype of the result. ``x`` is converted to it first.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        By default, the dtype of ``x`` for floats and complex numbers. Integers and bools give int64
        or uint64 (see ``set_default_int``).

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.

    Notes
    -----
    Floats are added in float32. Sums of 64-bit integers wrap around modulo 2^64.
    """
    own = x if dtype is None else x.astype(dtype, copy=False)
    return _reduced("sum", "add", reduce.widened(own) if dtype is None else own, axis, keepdims)


@widened("x")
@differentiable(x=_prod_gradient)
def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the product of elements over axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    dtype : dtype, optional
        The dtype of the result. ``x`` is converted to it first.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype is that of :func:`sum`.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    own = x if dtype is None else x.astype(dtype, copy=False)
    wide = reduce.widened(own) if dtype is None else own
    return _reduced("prod", "multiply", wide, axis, keepdims)


def _extreme(op: str, function: str, x: Array, axis: Any, keepdims: bool) -> Array:
    if x.node.kind.kind == "c":
        raise InvalidType(op, "x", x.dtype, "real numbers")
    return _reduced(op, function, x, axis, keepdims)


@differentiable(x=_extreme_gradient)
def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the largest element over axes, or NaN if one is NaN.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype of ``x``.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If there are no elements to reduce, or an axis is out of range or repeated.
    """
    return _extreme("max", "maximum", x, axis, keepdims)


@differentiable(x=_extreme_gradient)
def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the smallest element over axes, or NaN if one is NaN.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype of ``x``.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If there are no elements to reduce, or an axis is out of range or repeated.
    """
    return _extreme("min", "minimum", x, axis, keepdims)


@constant
def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return whether all elements over axes are true. Nonzero elements are true.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        bool.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    return _reduced("all", "logical_and", apply.cast_to("all", x, BOOL), axis, keepdims)


@constant
def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return whether any element over axes is true. Nonzero elements are true.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        bool.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    return _reduced("any", "logical_or", apply.cast_to("any", x, BOOL), axis, keepdims)


@widened("x")
@differentiable(
    x=lambda g, x_like, axis, keepdims: spread(g, x_like, axis, keepdims) / count(x_like, axis)
)
def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the mean over axes. The mean of no elements is NaN.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype of ``x`` for floats and complex numbers, and float32 for integers and bools.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    axes = shapes.axes("mean", "axis", axis, x.ndim)
    count = product([x.shape[n] for n in axes])
    own = x if x.node.kind.kind in "fc" else x.astype(FLOAT32.numpy)
    if own.node.kind.kind == "f" and count:
        return reduce.reduced("mean", "add", own, axes, keepdims=keepdims, scale=1.0 / count)
    total = reduce.reduced("mean", "add", own, axes, keepdims=keepdims)
    return apply.apply("divide", total, total, float(count))


@widened("x")
@differentiable(x=_var_gradient)
def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the variance over axes.

    The sum of squared deviations from the mean is divided by the number of elements minus
    ``correction``.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int or tuple of int, optional
        The axes. All by default.
    correction : float, optional
        1 gives the unbiased variance of a sample.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype of ``x`` for floats, and float32 for integers and bools.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If an axis is out of range or repeated.
    """
    if x.node.kind.kind == "c":
        raise InvalidType("var", "x", x.dtype, "real numbers")
    axes = shapes.axes("var", "axis", axis, x.ndim)
    own = x if x.node.kind.kind == "f" else x.astype(FLOAT32.numpy)
    return reduce.variance("var", own, axes, float(correction), keepdims=keepdims)


@widened("x")
@differentiable(x=_std_gradient)
def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the standard deviation over axes, the square root of :func:`var`.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.
    axis : int or tuple of int, optional
        The axes. All by default.
    correction : float, optional
        1 gives the square root of the unbiased variance of a sample.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        The dtype of ``x`` for floats, and float32 for integers and bools.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    InvalidArgument
        If an axis is out of range or repeated.
    """
    return apply.unary("sqrt", var(x, axis=axis, correction=correction, keepdims=keepdims))


@constant
def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Count the elements over axes that are not 0.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.

    Returns
    -------
    Array
        int64, or int32 if that is the default (see ``set_default_int``).

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    Unsupported
        If the default is int32, and there are more elements than it can count.
    """
    op, most = "count_nonzero", np.iinfo(DEFAULTS[int].numpy).max
    elements = product([x.shape[n] for n in shapes.axes(op, "axis", axis, x.ndim)])
    if elements > most:
        told = (
            f"at most {most} elements can be counted in int32, got {elements}. Count them "
            "along an axis."
        )
        raise Unsupported(op, told)
    return sum(apply.cast_to("count_nonzero", x, BOOL), axis=axis, keepdims=keepdims)
