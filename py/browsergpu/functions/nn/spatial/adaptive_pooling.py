"""Pooling into a given number of windows, inverse pooling, and pooling by norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.arrays.autograd.variable import plain
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import INT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.nn import inputs, pooling
from browsergpu.functions.ordering import sorting
from browsergpu.functions.parts import assigned


@composed("input")
def adaptive_avg_pool1d(input: Array, output_size: Any) -> Array:
    """Return the means of a given number of windows along one axis.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    output_size : int or sequence
        Number of windows.

    Returns
    -------
    Array
        Shape [N, C, P] or [C, P], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "adaptive_avg_pool1d"
    x, alone = inputs.images(op, "input", input, 1)
    found = pooling.means(x, pooling.window_counts(op, output_size, x))
    return manipulation.squeeze(found, 0) if alone else found


@composed("input")
def adaptive_avg_pool3d(input: Array, output_size: Any) -> Array:
    """Return the means of a given number of windows along three axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    output_size : int or sequence
        Number of windows [O, P, Q], or one number for all. None keeps the extent of an axis.

    Returns
    -------
    Array
        Shape [N, C, O, P, Q] or [C, O, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "adaptive_avg_pool3d"
    x, alone = inputs.images(op, "input", input, 3)
    found = pooling.means(x, pooling.window_counts(op, output_size, x))
    return manipulation.squeeze(found, 0) if alone else found


@composed("input")
def adaptive_max_pool1d(input: Array, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest elements of a given number of windows along one axis.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    output_size : int or sequence
        Number of windows.
    return_indices : bool, optional
        Whether to return the index of each maximum, too.

    Returns
    -------
    Array or tuple of Array
        Shape [N, C, P] or [C, P], of the dtype of ``input``. With ``return_indices``, also the
        indices as int32.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.
    """
    return _maxima("adaptive_max_pool1d", 1, input, output_size, return_indices)


@composed("input")
def adaptive_max_pool2d(input: Array, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest elements of a given number of windows along two axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    output_size : int or sequence
        Number of windows [P, Q], or one number for both. None keeps the extent of an axis.
    return_indices : bool, optional
        Whether to return the index of each maximum, too.

    Returns
    -------
    Array or tuple of Array
        Shape [N, C, P, Q] or [C, P, Q], of the dtype of ``input``. With ``return_indices``, also
        the indices in [H, W], row × W + column, as int32.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.

    Notes
    -----
    Along an axis of extent n, window i of m has the indices from ⌊i n / m⌋ to ⌈(i + 1) n / m⌉ - 1.
    """
    return _maxima("adaptive_max_pool2d", 2, input, output_size, return_indices)


@composed("input")
def adaptive_max_pool3d(input: Array, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest elements of a given number of windows along three axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    output_size : int or sequence
        Number of windows [O, P, Q], or one number for all. None keeps the extent of an axis.
    return_indices : bool, optional
        Whether to return the index of each maximum in [D, H, W], too.

    Returns
    -------
    Array or tuple of Array
        Shape [N, C, O, P, Q] or [C, O, P, Q], of the dtype of ``input``. With ``return_indices``,
        also the indices as int32.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.
    """
    return _maxima("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _maxima(op: str, rank: int, input: Any, output_size: Any, return_indices: Any) -> Any:
    x, alone = inputs.images(op, "input", input, rank)
    lead, extents = x.shape[:2], x.shape[2:]
    sizes = pooling.window_counts(op, output_size, x)
    tables = [
        pooling.adaptive_windows(extent, size)[0]
        for extent, size in zip(extents, sizes, strict=True)
    ]  # [windows, terms], padded with the first index
    own = plain(x)
    for n, table in enumerate(tables):
        own = manipulation.take(own, table.reshape(-1), axis=2 + n)
    shape = [extent for table in tables for extent in table.shape]
    apart = manipulation.reshape(own, (*lead, *shape))
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 2 + 2 * rank, 2))
    windows, terms = shape[::2], shape[1::2]
    rows = manipulation.reshape(
        manipulation.permute_dims(apart, order), (*lead, product(windows), product(terms))
    )
    best = manipulation.expand_dims(sorting.argmax(rows, axis=-1), axis=-1)
    # The index in the input of each term of each window.
    numbers: Any = 0
    for n, (table, extent) in enumerate(zip(tables, extents, strict=True)):
        own_shape = [1] * (2 * rank)
        own_shape[n], own_shape[rank + n] = table.shape
        numbers = numbers * extent + table.reshape(own_shape)
    places = creation.asarray(
        np.broadcast_to(numbers, (*windows, *terms)).reshape(1, 1, product(windows), -1),
        dtype="int32", device=x.device,
    )  # fmt: skip
    places = manipulation.broadcast_to(places, rows.shape)
    chosen = manipulation.squeeze(sorting.take_along_axis(places, best, axis=-1), -1)
    flat = manipulation.reshape(x, (*lead, product(extents)))
    shape = [*lead[alone:], *sizes]
    found = manipulation.reshape(sorting.take_along_axis(flat, chosen, axis=-1), shape)
    if not checks.flag(op, "return_indices", return_indices):
        return found
    return found, apply.cast_to(op, manipulation.reshape(chosen, shape), INT32, copy=False)


@composed("input")
def max_unpool1d(
    input: Array, indices: Array, kernel_size: Any, stride: Any = None, padding: Any = 0,
    output_size: Any = None,
) -> Array:  # fmt: skip
    """Put maxima back to their indices, with zeros elsewhere.

    Parameters
    ----------
    input : Array
        Shape [N, C, P] or [C, P], float32 or float16.
    indices : Array
        Indices that :func:`max_pool1d` returned, of the shape of ``input``.
    kernel_size, stride, padding : int or sequence of int
        The options of :func:`max_pool1d`. They determine the output size by default.
    output_size : sequence of int, optional
        Extents of the result, with or without N and C.

    Returns
    -------
    Array
        Shape [N, C, L] or [C, L], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats, or ``indices`` of integers.
    """
    return _unpooled("max_unpool1d", 1, input, indices, (kernel_size, stride, padding), output_size)


@composed("input")
def max_unpool2d(
    input: Array, indices: Array, kernel_size: Any, stride: Any = None, padding: Any = 0,
    output_size: Any = None,
) -> Array:  # fmt: skip
    """Put maxima back to their indices, with zeros elsewhere.

    Parameters
    ----------
    input : Array
        Shape [N, C, P, Q] or [C, P, Q], float32 or float16.
    indices : Array
        Indices that :func:`max_pool2d` returned, of the shape of ``input``.
    kernel_size, stride, padding : int or sequence of int
        The options of :func:`max_pool2d`. They determine the output size by default.
    output_size : sequence of int, optional
        Extents of the result, with or without N and C.

    Returns
    -------
    Array
        Shape [N, C, H, W] or [C, H, W], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats, or ``indices`` of integers.
    """
    return _unpooled("max_unpool2d", 2, input, indices, (kernel_size, stride, padding), output_size)


def _unpooled(
    op: str, rank: int, input: Any, indices: Any, options: tuple[Any, Any, Any], output_size: Any
) -> Array:
    x, alone = inputs.images(op, "input", input, rank)
    places = inputs.shaped(op, "indices", inputs.whole(op, "indices", indices), input.shape)
    kernel = checks.each_axis(op, "kernel_size", options[0], rank, 1)
    stride = kernel if options[1] is None else checks.each_axis(op, "stride", options[1], rank, 1)
    around = checks.each_axis(op, "padding", options[2], rank, 0)
    if output_size is None:
        size = tuple(
            (extent - 1) * step - 2 * cut + own
            for extent, own, step, cut in zip(x.shape[2:], kernel, stride, around, strict=True)
        )
        if min(size) < 1:
            raise InvalidArgument(op, "padding", options[2], "numbers that leave elements")
    else:
        size = checks.dimensions(op, "output_size", output_size, minimum=1)[-rank:]
        if len(size) != rank:
            raise InvalidArgument(op, "output_size", output_size, f"{rank} extents")
    rows = product(x.shape[:2])
    flat = manipulation.reshape(x, (rows, product(x.shape[2:])))
    within = manipulation.reshape(places, flat.shape)
    numbers = creation.arange(rows, dtype="int32", device=x.device)
    whole = creation.zeros((rows, product(size)), dtype=x.dtype, device=x.device)
    found = assigned(whole, (manipulation.expand_dims(numbers, axis=-1), within), flat)
    return manipulation.reshape(found, (*x.shape[alone:2], *size))


@composed("input")
def lp_pool1d(
    input: Array, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Array:
    """Return the norm of each window along one axis, ``sum(x**norm_type)**(1 / norm_type)``.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    norm_type : float
        The exponent.
    kernel_size : int or sequence of int
        Extent of the window.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.

    Returns
    -------
    Array
        Shape [N, C, P] or [C, P], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    return _by_norm("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@composed("input")
def lp_pool2d(
    input: Array, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Array:
    """Return the norm of each window along two axes, ``sum(x**norm_type)**(1 / norm_type)``.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    norm_type : float
        The exponent.
    kernel_size : int or sequence of int
        Extent of the window.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.

    Returns
    -------
    Array
        Shape [N, C, P, Q] or [C, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    return _by_norm("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


def _by_norm(
    op: str, rank: int, input: Any, norm_type: Any, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Array:
    x = inputs.floats(op, "input", input)
    order = checks.real(op, "norm_type", norm_type)
    if order == 0:
        raise InvalidArgument(op, "norm_type", norm_type, "a number other than 0")
    count = product(checks.each_axis(op, "kernel_size", kernel_size, rank, 1))
    function = getattr(pooling, f"avg_pool{rank}d")
    powers = elementwise.square(x) if order == 2 else elementwise.pow(x, order)
    means = function(powers, kernel_size, stride, 0, ceil_mode)
    total = elementwise.multiply(means, float(count))
    return elementwise.sqrt(total) if order == 2 else elementwise.pow(total, 1 / order)
