"""Creation of arrays."""

from __future__ import annotations

from functools import reduce
from math import ceil
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.reads import check_number
from browsergpu.arrays.autograd.rules import composed, constant, differentiable
from browsergpu.arrays.context import current, device_of
from browsergpu.arrays.indexing.gather import coordinates
from browsergpu.arrays.lazy import host_number
from browsergpu.arrays.numbers import python_number, typed_number
from browsergpu.arrays.upload import element_type, fitted, on_host, uploaded
from browsergpu.arrays.views import strided
from browsergpu.arrays.x64 import check_x64
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import (
    BOOL,
    DEFAULTS,
    FLOAT32,
    INT64,
    UINT32,
    UINT64,
    ElementType,
    of_numpy,
    promoted,
)
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive


@differentiable(obj=lambda g: g)
def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Array:
    """Return an array of a number, a nested list, a NumPy array or another buffer.

    Parameters
    ----------
    obj : object
        A number, a list, an array, or an object with a buffer or ``__array__``.
    dtype : dtype, optional
        By default, Python's integers become int64 (see ``set_default_int``), and its floats
        float32.
    device : Device, optional
        The device of the result. By default, that of ``obj``, or the current device.
    copy : bool, optional
        True always copies, and False never does. By default, an array is copied only if its dtype
        or device changes.

    Returns
    -------
    Array
        ``obj`` itself, if nothing changes and ``copy`` is not True.

    Raises
    ------
    InvalidArgument
        If integers do not fit the dtype, or ``copy=False`` and a copy is needed.
    InvalidType
        If ``obj`` does not consist of numbers.
    ValueError
        If the rows of a nested list have different lengths.
    """
    kind = None if dtype is None else element_type("asarray", dtype)
    if isinstance(obj, Array) and not _is_there(obj, device):
        if copy is False:
            raise InvalidArgument("asarray", "copy", copy, "True or None, for another device")
        obj = obj.to_device(device)
    if isinstance(obj, Array):
        if copy is False and kind not in (None, obj.node.kind):
            raise InvalidArgument("asarray", "copy", copy, "True or None, to change the dtype")
        return apply.cast_to("asarray", obj, kind or obj.node.kind, copy=bool(copy))
    if copy is False:
        raise InvalidArgument("asarray", "copy", copy, "True or None, as the data is on the host")
    tracer = current(device)
    # Lists and numbers have no dtype. The 64 bits that NumPy gives them are only its default.
    is_plain = isinstance(obj, list | tuple | np.generic) or python_number(obj) is not None
    data, own = on_host(_on_host(obj))
    if data.dtype == object:
        raise InvalidType("asarray", "obj", obj, "numbers, with rows of one length")
    if kind is None and not is_plain:
        check_x64("asarray", "obj", data.dtype)
    if not data.ndim and host_number.is_here(tracer):
        ready, target = fitted(data, kind or own)
        if target in host_number.KINDS:
            tracer.device.check_open("asarray")
            return Array(host_number.node_of(tracer, target, ready.item()), tracer)
    return Array(uploaded(tracer, data, kind or own), tracer)


def _is_there(array: Array, device: Any) -> bool:
    return device is None or device_of("asarray", device) is array.device


def _on_host(value: Any) -> Any:
    """Convert arrays inside nested lists to NumPy's."""
    if isinstance(value, list | tuple):
        return [_on_host(item) for item in value]
    return value.numpy() if isinstance(value, Array) else value


def _kind(op: str, dtype: Any, default: ElementType) -> ElementType:
    return default if dtype is None else element_type(op, dtype)


def _shape(op: str, shape: Any) -> tuple[int, ...]:
    given = shape if checks.is_several(shape) else (shape,)
    return checks.dimensions(op, "shape", given)


@exclusive
def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array that is filled with a number.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    fill_value : number
        The value of all elements.
    dtype : dtype, optional
        The dtype of ``fill_value`` by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidType
        If ``fill_value`` is not a number.
    InvalidArgument
        If an extent is negative.
    """
    check_number("full", "fill_value", fill_value)
    tracer = current(device)
    number = fill_value.item() if isinstance(fill_value, np.generic | Array) else fill_value
    if type(number) not in DEFAULTS:
        raise InvalidType("full", "fill_value", fill_value, "a number")
    own = of_numpy(fill_value.dtype) if isinstance(fill_value, np.generic) else None
    kind = _kind("full", dtype, own or DEFAULTS[type(number)])
    return Array(apply.full_node(tracer, _shape("full", shape), kind, number), tracer)


@exclusive
def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidArgument
        If an extent is negative.
    """
    return full(shape, 0, dtype=FLOAT32.numpy if dtype is None else dtype, device=device)


@exclusive
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidArgument
        If an extent is negative.
    """
    return full(shape, 1, dtype=FLOAT32.numpy if dtype is None else dtype, device=device)


@exclusive
def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array for results. Its elements are zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidArgument
        If an extent is negative.
    """
    return zeros(shape, dtype=dtype, device=device)


@composed()
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array with the shape of another array, filled with a number.

    Parameters
    ----------
    x : Array
        The array whose shape, dtype and device are used.
    fill_value : number
        The value of all elements.
    dtype : dtype, optional
        The dtype of ``x`` by default.
    device : Device, optional
        The device of ``x`` by default.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidType
        If ``fill_value`` is not a number.
    """
    return full(
        x.shape,
        fill_value,
        dtype=x.dtype if dtype is None else dtype,
        device=x.device if device is None else device,
    )


@constant
def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros in the shape of another array.

    Parameters
    ----------
    x : Array
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        The dtype of ``x`` by default.
    device : Device, optional
        The device of ``x`` by default.

    Returns
    -------
    Array
        A new array.
    """
    return full_like(x, 0, dtype=dtype, device=device)


@constant
def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return ones in the shape of another array.

    Parameters
    ----------
    x : Array
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        The dtype of ``x`` by default.
    device : Device, optional
        The device of ``x`` by default.

    Returns
    -------
    Array
        A new array.
    """
    return full_like(x, 1, dtype=dtype, device=device)


@constant
def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array for results with the shape of another array. Its elements are zeros.

    Parameters
    ----------
    x : Array
        The array whose shape, dtype and device are used.
    dtype : dtype, optional
        The dtype of ``x`` by default.
    device : Device, optional
        The device of ``x`` by default.

    Returns
    -------
    Array
        A new array.
    """
    return zeros_like(x, dtype=dtype, device=device)


def _integer_type(*numbers: Any) -> ElementType:
    """Return the type of integers: the default, promoted with the types of NumPy's scalars."""
    kinds = [kind for kind, _ in filter(None, map(typed_number, numbers))]
    found = reduce(promoted, kinds, DEFAULTS[int])
    return found if found.kind in "iu" else INT64


@exclusive
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """Return evenly spaced numbers in the half-open interval from ``start`` to ``stop``.

    Parameters
    ----------
    start : number
        The first number. With one argument, the interval is from 0 to ``start``.
    stop : number, optional
        The end of the interval, which is excluded.
    step : number, optional
        The spacing. It may be negative.
    dtype : dtype, optional
        By default, int64 for integers (see ``set_default_int``), and float32 otherwise.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        Shape [N].

    Raises
    ------
    InvalidArgument
        If ``step`` is 0.
    OverflowError
        If an integer is out of the dtype's range, where NumPy wraps around.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise InvalidArgument("arange", "step", step, "a number other than 0")
    is_whole = all(isinstance(number, int | np.integer) for number in (start, stop, step))
    # NumPy's integers overflow, and must not reach a shape.
    start, stop, step = (int(number) if is_whole else number for number in (start, stop, step))
    kind = _kind("arange", dtype, _integer_type(start, stop, step) if is_whole else FLOAT32)
    count = max(-((start - stop) // step) if is_whole else ceil((stop - start) / step), 0)
    tracer = current(device)
    at = Array(coordinates(tracer, (count,), 0), tracer)
    if kind.kind in "iu":
        first, by = (int(number) for number in (start, step))
        limits = np.iinfo(kind.numpy)
        for number in (first, first + max(count - 1, 0) * by):
            if count and not limits.min <= number <= limits.max:
                raise OverflowError(f"arange: {number} is out of bounds for {kind.name}")
        if (first, by) == (0, 1):
            return apply.cast_to("arange", at, kind, copy=False)
        # Unsigned arithmetic wraps around, so intermediate results may exceed the range.
        unsigned = UINT64 if kind.bits == UINT64.bits else UINT32
        mask = (1 << unsigned.bits) - 1
        whole = apply.cast_to("arange", at, unsigned)
        found: Array = whole * (by & mask) + (first & mask)
        return apply.cast_to("arange", found, kind, copy=False)
    wide = apply.cast_to("arange", at, FLOAT32)
    numbers: Array = wide * float(step) + float(start)
    return apply.cast_to("arange", numbers, kind, copy=False)


@exclusive
def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: bool = True,
) -> Array:  # fmt: skip
    """Return evenly spaced numbers from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : float
        The ends of the interval.
    num : int
        How many numbers to return.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.
    endpoint : bool, optional
        Whether ``stop`` is the last number.

    Returns
    -------
    Array
        Shape [num].

    Raises
    ------
    InvalidArgument
        If ``num`` is negative.
    """
    count = checks.integer("linspace", "num", num)
    kind = _kind("linspace", dtype, FLOAT32)
    gaps = max(count - 1 if endpoint else count, 1)
    tracer = current(device)
    at = apply.cast_to("linspace", Array(coordinates(tracer, (count,), 0), tracer), FLOAT32)
    # A weighted mean of both ends meets them exactly.
    share = at / gaps
    found: Array = (1.0 - share) * float(start) + share * float(stop)
    return apply.cast_to("linspace", found, kind, copy=False)


@exclusive
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Array:
    """Return matrices with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns, ``n_rows`` by default.
    k : int, optional
        The diagonal. Positive numbers are above the main diagonal.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        Shape [n_rows, n_cols].

    Raises
    ------
    InvalidArgument
        If an extent is negative.
    """
    shape = _shape("eye", (n_rows, n_rows if n_cols is None else n_cols))
    tracer = current(device)
    row, column = (Array(coordinates(tracer, shape, axis), tracer) for axis in range(2))
    diagonal: Array = column - row == k
    return apply.cast_to("eye", diagonal, _kind("eye", dtype, FLOAT32))


def _triangle(op: str, x: Array, k: int, *, lower: bool) -> Array:
    if x.ndim < 2:
        raise InvalidArgument(op, "x", x, "have at least 2 axes")
    row, column = (
        Array(coordinates(x.tracer, x.shape, axis), x.tracer) for axis in (x.ndim - 2, x.ndim - 1)
    )
    kept: Array = column - row <= k if lower else column - row >= k
    return apply.apply("where", x, kept, x, False if x.node.kind is BOOL else 0)


def _tril_gradient(g: Array, k: int) -> Array:
    return tril(g, k=k)


def _triu_gradient(g: Array, k: int) -> Array:
    return triu(g, k=k)


@differentiable(x=_tril_gradient)
def tril(x: Array, /, *, k: int = 0) -> Array:
    """Return the lower triangles of matrices, with zeros above a diagonal.

    Parameters
    ----------
    x : Array
        Shape [..., M, N], of any dtype.
    k : int, optional
        The diagonal above which elements are 0. Positive numbers are above the main diagonal.

    Returns
    -------
    Array
        Shape [..., M, N], in the dtype of ``x``.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    """
    return _triangle("tril", x, k, lower=True)


@differentiable(x=_triu_gradient)
def triu(x: Array, /, *, k: int = 0) -> Array:
    """Return the upper triangles of matrices, with zeros below a diagonal.

    Parameters
    ----------
    x : Array
        Shape [..., M, N], of any dtype.
    k : int, optional
        The diagonal below which elements are 0. Positive numbers are above the main diagonal.

    Returns
    -------
    Array
        Shape [..., M, N], in the dtype of ``x``.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    """
    return _triangle("triu", x, k, lower=False)


def _meshgrid_gradient(g: tuple[Array, ...], indexing: str) -> list[Array]:
    order = [*range(len(g))]
    if indexing == "xy":
        order[:2] = order[1::-1]
    return [
        own.sum(axis=tuple(n for n in order if n != at)) for at, own in zip(order, g, strict=True)
    ]


@differentiable(arrays=_meshgrid_gradient)
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Return the coordinates of a grid.

    Parameters
    ----------
    *arrays : Array
        Vectors of coordinates, one for each axis of the grid.
    indexing : {"xy", "ij"}, optional
        "ij" keeps the order of the axes. "xy" exchanges the first two.

    Returns
    -------
    tuple of Array
        One array for each vector, with as many axes as there are vectors.

    Raises
    ------
    InvalidArgument
        If an array has more than one axis, or ``indexing`` is neither "xy" nor "ij".
    """
    if indexing not in ("xy", "ij"):
        raise InvalidArgument("meshgrid", "indexing", indexing, "'xy' or 'ij'")
    for array in arrays:
        if array.ndim > 1:
            raise InvalidArgument("meshgrid", "arrays", array, "vectors")
    shape = tuple(array.size for array in arrays)
    rank = len(shape)
    found = []
    for axis, array in enumerate(arrays):
        own = tuple(array.size if n == axis else 1 for n in range(rank))
        found.append(strided.spread(strided.reshaped("meshgrid", array, own), shape))
    if indexing == "xy" and rank > 1:
        order = (1, 0, *range(2, rank))
        found = [strided.permuted(array, order) for array in found]
    return tuple(found)
