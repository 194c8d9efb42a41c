"""Making arrays."""

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
from browsergpu.arrays.numbers import python_number, typed_number
from browsergpu.arrays.upload import element_type, on_host, uploaded
from browsergpu.arrays.views import strided
from browsergpu.arrays.x64 import check_x64
from browsergpu.core import checks
from browsergpu.core.element_types import (
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
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.turns import exclusive


@differentiable(obj=lambda g: g)
def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Array:
    """An array of a number, a nested list, a NumPy array, or what has a buffer or ``__array__``.

    Python's whole numbers become int64 (see ``set_default_int``), its floats float32. An array of
    the dtype is given back as it is unless ``copy``, or unless ``device`` is another than its own.
    Raises InvalidArgument for whole numbers that do not fit, and, with ``copy=False``, where a copy
    is needed.
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
        raise InvalidArgument("asarray", "copy", copy, "True or None, for what is on the host")
    tracer = current(device)
    # Lists and numbers have no dtype of their own: NumPy's 64 bits are only its default for them.
    is_plain = isinstance(obj, list | tuple | np.generic) or python_number(obj) is not None
    data, own = on_host(_on_host(obj))
    if data.dtype == object:
        raise InvalidType("asarray", "obj", obj, "numbers, all rows of one length")
    if kind is None and not is_plain:
        check_x64("asarray", "obj", data.dtype)
    return Array(uploaded(tracer, data, kind or own), tracer)


def _is_there(array: Array, device: Any) -> bool:
    return device is None or device_of("asarray", device) is array.device


def _on_host(value: Any) -> Any:
    """Nested lists with NumPy's numbers in place of arrays without axes."""
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
    """An array of copies of a number; its dtype is the number's by default."""
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
    """An array of zeros, float32 by default."""
    return full(shape, 0, dtype=FLOAT32.numpy if dtype is None else dtype, device=device)


@exclusive
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones, float32 by default."""
    return full(shape, 1, dtype=FLOAT32.numpy if dtype is None else dtype, device=device)


@exclusive
def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array for results, float32 by default; its elements are zeros."""
    return zeros(shape, dtype=dtype, device=device)


@composed()
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """:func:`full` of the shape and dtype of another array."""
    return full(
        x.shape,
        fill_value,
        dtype=x.dtype if dtype is None else dtype,
        device=x.device if device is None else device,
    )


@constant
def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros of the shape and dtype of another array."""
    return full_like(x, 0, dtype=dtype, device=device)


@constant
def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones of the shape and dtype of another array."""
    return full_like(x, 1, dtype=dtype, device=device)


@constant
def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """:func:`empty` of the shape and dtype of another array."""
    return zeros_like(x, dtype=dtype, device=device)


def _of_numbers(*numbers: Any) -> ElementType:
    """The type of whole numbers: the default, or that of NumPy's among them."""
    kinds = [kind for kind, _ in filter(None, map(typed_number, numbers))]
    found = reduce(promoted, kinds, DEFAULTS[int])
    return found if found.kind in "iu" else INT64


@exclusive
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """The numbers from ``start`` (0 where only one number is given) up to, but not, ``stop``. By
    default int64 where all are whole numbers (see ``set_default_int``), else float32.
    Raises OverflowError for whole numbers beyond the dtype's range, where NumPy wraps."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise InvalidArgument("arange", "step", step, "another number than 0")
    is_whole = all(isinstance(number, int | np.integer) for number in (start, stop, step))
    kind = _kind("arange", dtype, _of_numbers(start, stop, step) if is_whole else FLOAT32)
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
        # Modulo 2^32 or 2^64, so that products and sums may pass the range in between.
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
    """``num`` numbers at even distances from ``start`` to ``stop``, which is one of them if
    ``endpoint``. float32 by default."""
    count = checks.integer("linspace", "num", num)
    kind = _kind("linspace", dtype, FLOAT32)
    gaps = max(count - 1 if endpoint else count, 1)
    tracer = current(device)
    at = apply.cast_to("linspace", Array(coordinates(tracer, (count,), 0), tracer), FLOAT32)
    # Of the two ends' shares, so that both ends are met.
    share = at / gaps
    found: Array = (1.0 - share) * float(start) + share * float(stop)
    return apply.cast_to("linspace", found, kind, copy=False)


@exclusive
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Array:
    """A matrix with ones on the k-th diagonal, float32 by default."""
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


def _of_tril(g: Array, k: int) -> Array:
    return tril(g, k=k)


def _of_triu(g: Array, k: int) -> Array:
    return triu(g, k=k)


@differentiable(x=_of_tril)
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The matrices with zeros above the k-th diagonal."""
    return _triangle("tril", x, k, lower=True)


@differentiable(x=_of_triu)
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The matrices with zeros below the k-th diagonal."""
    return _triangle("triu", x, k, lower=False)


def _of_grid(g: tuple[Array, ...], indexing: str) -> list[Array]:
    order = [*range(len(g))]
    if indexing == "xy":
        order[:2] = order[1::-1]
    return [
        own.sum(axis=tuple(n for n in order if n != at)) for at, own in zip(order, g, strict=True)
    ]


@differentiable(arrays=_of_grid)
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """The coordinates of a grid: for each of some vectors, an array of as many axes as there are
    vectors. With "xy" the first two axes are exchanged."""
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
