"""NumPy's functions that the Array API standard has too, with NumPy's arguments."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.compat.numpy.coercion import device_among, operand
from browsergpu.compat.numpy.operands import indices_by_mode, into, layout, on_one_device, refuse
from browsergpu.core import shapes
from browsergpu.core.checks import is_several, product
from browsergpu.core.element_types import of_numpy
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation, meta
from browsergpu.functions.interchange import files
from browsergpu.functions.linalg import contraction, linear
from browsergpu.functions.ordering import sets, sorting

_NONE: Any = np._NoValue


def _running(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
        flat = manipulation.reshape(a, (-1,)) if axis is None else a
        return into(out, own(flat, axis=axis or 0, dtype=dtype))

    return call


def _einsum(
    *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = True, order: str = "K",
    casting: str = "safe",
) -> Any:  # fmt: skip
    layout("np.einsum", order)
    if casting != "safe":
        refuse("np.einsum", casting=casting)
    if len(operands) < 2:
        raise InvalidArgument("einsum", "operands", len(operands), "subscripts, and arrays")
    device = device_among(operands)
    is_by_text = isinstance(operands[0], str)
    given = [
        operand(x, device) if n >= is_by_text and (is_by_text or n % 2 == 0) else x
        for n, x in enumerate(operands)
    ]
    if not is_by_text and len(operands) % 2:
        given[-1] = operands[-1]  # the subscripts of the result
    found = contraction.einsum(*given, optimize=optimize, dtype=dtype)
    return into(out, found)


def _reshape(a: Array, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    if not _is_by_columns("np.reshape", a, order):
        return manipulation.reshape(a, shape, copy=copy)
    extents = shape if isinstance(shape, tuple | list) else (shape,)
    return manipulation.reshape(a.T, tuple(extents[::-1]), copy=copy).T


def _ravel(a: Array, order: str = "C") -> Array:
    own = a.T if _is_by_columns("np.ravel", a, order) else a
    return manipulation.reshape(own, (-1,))


def _is_by_columns(op: str, a: Array, order: str) -> bool:
    """Whether elements are taken in Fortran's order. "K" and "A" depend on the memory of views."""
    if order == "F":
        return a.ndim > 1
    node = NODE.__get__(a)
    is_packed = node.trace is not None or node.strides is None
    if order != "C" and (order not in ("K", "A") or not is_packed):
        expected = "'C' or 'F', or for arrays that are no views 'K' or 'A'"
        raise InvalidArgument(op, "order", order, expected)
    return False


def _squeeze(a: Array, axis: Any = None) -> Array:
    chosen = tuple(n for n, extent in enumerate(a.shape) if extent == 1) if axis is None else axis
    return manipulation.squeeze(a, chosen)


def _where(condition: Any, x: Any = _NONE, y: Any = _NONE, /) -> Any:
    if x is _NONE and y is _NONE:
        return tuple(sorting.nonzero(condition))
    if x is _NONE or y is _NONE:
        raise InvalidType("where", "y", None, "given beside x")
    return elementwise.where(*on_one_device((condition, x, y)))


def _clip(
    a: Array, min: Any = _NONE, max: Any = _NONE, out: Any = None, *, a_min: Any = _NONE,
    a_max: Any = _NONE,
) -> Array:  # fmt: skip
    """The bounds stand where NumPy has them, by the names that the standard has there."""
    below, above = _bound("min", a_min, min), _bound("max", a_max, max)
    return into(out, elementwise.clip(*on_one_device((a, below, above))))


def _bound(name: str, first: Any, second: Any) -> Any:
    """A bound of clip(), which has two names."""
    if first is not _NONE and second is not _NONE:
        raise InvalidArgument("np.clip", name, second, f"left out beside a_{name}")
    found = second if first is _NONE else first
    return None if found is _NONE else found


def of_two(own: Callable[..., Array], theirs: Any) -> Callable[..., Array]:
    def call(a: Any, b: Any, *rest: Any, **options: Any) -> Array:
        return own(*on_one_device((a, b)), *rest, **options)

    call.__signature__ = signature(theirs)  # type: ignore[attr-defined]
    return call


def _like(number: Any) -> Callable[..., Array]:
    def call(
        a: Array, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
        *, device: Any = None,
    ) -> Array:  # fmt: skip
        return _full_like(a, number, dtype, order, subok, shape, device=device)

    return call


def _full_like(
    a: Array, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: Any = None,
) -> Array:  # fmt: skip
    """In the likeness of an array without values one is made that has them, where there are
    elements. There are no subclasses of arrays."""
    del subok
    layout("np.full_like", order)
    kind = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else shape
    if a.device.has_values or device is not None:
        there = a.device if device is None else device
        return creation.full(extents, fill_value, dtype=kind, device=there)
    return meta.full(extents, fill_value, kind)


def _made(
    a: Any, dtype: Any = None, order: Any = None, *, ndmin: int = 0, ndmax: int = 0,
    copy: Any = None, subok: bool = False, device: Any = None,
) -> Array:  # fmt: skip
    """``np.asarray(a, like=x)``, which does not tell x. There are no subclasses of arrays."""
    layout("np.asarray", order)
    refuse("np.asarray", device=device, ndmax=ndmax or None)
    found = meta.asarray(a, dtype)
    if copy:
        found = creation.asarray(found, copy=True)
    return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found


def _range(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None
) -> Array:
    refuse("np.arange", device=device)
    device = meta.here().device
    if device.has_values and all(isinstance(x, int | None) for x in (start, stop, step)):
        return creation.arange(start, stop, step, dtype=dtype, device=device)
    numbers = np.arange(start, stop, step)
    kind = of_numpy(numbers.dtype)  # what 64 bits come to, which nobody has asked for
    return meta.asarray(numbers, kind.numpy if dtype is None and kind else dtype)


def _take(
    a: Array, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    own = manipulation.reshape(a, (-1,)) if axis is None else a
    at = indices_by_mode("np.take", indices, own.shape[axis or 0], mode)
    found = manipulation.take(own, at, axis=axis or 0)
    return into(out, found)


def _copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    """There are no subclasses of arrays."""
    layout("np.copy", order)
    return creation.asarray(a, copy=True)


def _isin(
    a: Array, b: Array, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """``assume_unique`` and ``kind`` choose NumPy's algorithm, and not the result."""
    return sets.isin(a, b, invert=invert)


def _dot(a: Any, b: Any, out: Any = None) -> Array:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return into(out, a * b)
    return into(out, linear.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),))))


def _size(a: Array, axis: Any = None) -> int:
    if axis is None:
        return a.size
    return product([a.shape[n] for n in shapes.axes("size", "axis", axis, a.ndim)])


def _broadcast_to(array: Array, shape: Any, subok: bool = False) -> Array:
    """There are no subclasses of arrays."""
    del subok
    return manipulation.broadcast_to(array, shape if is_several(shape) else (shape,))


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    del subok
    return manipulation.broadcast_arrays(*on_one_device(args))


def _is_complex(x: Array) -> bool:
    return x.dtype.kind == "c"


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.arange: _range,
    np.array: _made,
    np.asanyarray: _made,
    np.asarray: _made,
    np.ascontiguousarray: _made,
    np.astype: data_types.astype,
    np.broadcast_arrays: _broadcast_arrays,
    np.broadcast_to: _broadcast_to,
    np.clip: _clip,
    np.copy: _copy,
    np.cumprod: _running(sorting.cumulative_prod),
    np.cumsum: _running(sorting.cumulative_sum),
    np.dot: of_two(_dot, _dot),
    np.einsum: _einsum,
    np.empty_like: _like(0),
    np.expand_dims: lambda a, axis: manipulation.expand_dims(a, axis=axis),
    np.flip: lambda m, axis=None: manipulation.flip(m, axis=axis),
    np.full_like: _full_like,
    np.imag: lambda val: val.imag,
    np.iscomplexobj: _is_complex,
    np.isin: of_two(_isin, _isin),
    np.matrix_transpose: manipulation.matrix_transpose,
    np.moveaxis: manipulation.moveaxis,
    np.ndim: lambda a: a.ndim,
    np.ones_like: _like(1),
    np.ravel: _ravel,
    np.real: lambda val: val.real,
    np.repeat: lambda a, repeats, axis=None: manipulation.repeat(a, repeats, axis=axis),
    np.reshape: _reshape,
    np.result_type: data_types.result_type,
    np.roll: lambda a, shift, axis=None: manipulation.roll(a, shift, axis=axis),
    np.save: files.save,
    np.shape: lambda a: a.shape,
    np.size: _size,
    np.squeeze: _squeeze,
    np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    np.take: _take,
    np.tensordot: of_two(lambda a, b, axes=2: linear.tensordot(a, b, axes=axes), np.tensordot),
    np.tile: lambda A, reps: manipulation.tile(A, reps if is_several(reps) else (reps,)),
    np.transpose: manipulation.transpose,
    np.tril: lambda m, k=0: creation.tril(m, k=k),
    np.triu: lambda m, k=0: creation.triu(m, k=k),
    np.where: _where,
    np.zeros_like: _like(0),
}
