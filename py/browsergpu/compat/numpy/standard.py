"""Functions of the Array API standard, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.value import NODE
from browsergpu.compat.numpy.coercion import device_among, operand
from browsergpu.compat.numpy.operands import (
    check_order,
    indices_by_mode,
    on_one_device,
    refuse,
    write_out,
)
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import is_several, product
from browsergpu.engine.core.element_types import of_numpy
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation, meta
from browsergpu.functions.interchange import files
from browsergpu.functions.linalg import contraction, linear
from browsergpu.functions.ordering import sets, sorting

_NONE: Any = np._NoValue


def _cumulative(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
        flat = manipulation.reshape(a, (-1,)) if axis is None else a
        return write_out(out, own(flat, axis=axis or 0, dtype=dtype))

    return call


def _einsum(
    *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = True, order: str = "K",
    casting: str = "safe",
) -> Any:  # fmt: skip
    check_order("np.einsum", order)
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
        given[-1] = operands[-1]  # subscripts of the result
    found = contraction.einsum(*given, optimize=optimize, dtype=dtype)
    return write_out(out, found)


def _reshape(a: Array, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    if not _is_fortran_order("np.reshape", a, order):
        return manipulation.reshape(a, shape, copy=copy)
    extents = shape if isinstance(shape, tuple | list) else (shape,)
    return manipulation.reshape(a.T, tuple(extents[::-1]), copy=copy).T


def _ravel(a: Array, order: str = "C") -> Array:
    own = a.T if _is_fortran_order("np.ravel", a, order) else a
    return manipulation.reshape(own, (-1,))


def _is_fortran_order(op: str, a: Array, order: str) -> bool:
    """Return whether ``order`` is column-major. "K" and "A" are refused for views."""
    if order in ("C", "F"):
        return order == "F"
    node = NODE.__get__(a)
    is_packed = node.trace is not None or node.strides is None
    if order not in ("K", "A") or not is_packed:
        expected = "'C' or 'F', or 'K' or 'A' for arrays that are not views"
        raise InvalidArgument(op, "order", order, expected)
    return False


def _squeeze(a: Array, axis: Any = None) -> Array:
    chosen = tuple(n for n, extent in enumerate(a.shape) if extent == 1) if axis is None else axis
    return manipulation.squeeze(a, chosen)


def _where(condition: Any, x: Any = _NONE, y: Any = _NONE, /) -> Any:
    if x is _NONE and y is _NONE:
        return tuple(sorting.nonzero(condition))
    if x is _NONE or y is _NONE:
        raise InvalidType("where", "y", None, "given together with x")
    if isinstance(condition, bool | np.bool_):
        condition = creation.asarray(bool(condition), device=device_among((x, y)))
    return elementwise.where(*on_one_device((condition, x, y)))


def _clip(
    a: Array, min: Any = _NONE, max: Any = _NONE, out: Any = None, *, a_min: Any = _NONE,
    a_max: Any = _NONE,
) -> Array:  # fmt: skip
    """Limit elements to a range, as ``numpy.clip``."""
    below, above = _bound("min", a_min, min), _bound("max", a_max, max)
    return write_out(out, elementwise.clip(*on_one_device((a, below, above))))


def _bound(name: str, first: Any, second: Any) -> Any:
    """Return a bound of ``clip``, which has two names, such as ``min`` and ``a_min``."""
    if first is not _NONE and second is not _NONE:
        raise InvalidArgument("np.clip", name, second, f"omitted if a_{name} is given")
    found = second if first is _NONE else first
    return None if found is _NONE else found


def on_one_device_function(own: Callable[..., Array], theirs: Any) -> Callable[..., Array]:
    """Return a function that first uploads its NumPy operand to the device of the other."""

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
    """Create an array with the shape and dtype of another one, as ``numpy.full_like``.

    ``subok`` has no effect, because arrays have no subclasses.
    """
    del subok
    check_order("np.full_like", order)
    kind = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else shape
    if a.device.has_values or device is not None:
        there = a.device if device is None else device
        return creation.full(extents, fill_value, dtype=kind, device=there)
    return meta.full(extents, fill_value, kind)


def _asarray(
    a: Any, dtype: Any = None, order: Any = None, *, ndmin: int = 0, ndmax: int = 0,
    copy: Any = None, subok: bool = False, device: Any = None,
) -> Array:  # fmt: skip
    """Implement ``np.asarray(a, like=x)``. NumPy does not pass x.

    ``subok`` has no effect, because arrays have no subclasses.
    """
    check_order("np.asarray", order)
    refuse("np.asarray", device=device, ndmax=ndmax or None)
    found = meta.asarray(a, dtype)
    if copy:
        found = creation.asarray(found, copy=True)
    return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found


def _ascontiguousarray(a: Any, dtype: Any = None) -> Array:
    """Implement ``np.ascontiguousarray(a, like=x)``, which has at least one axis."""
    return _asarray(a, dtype, ndmin=1)


def _arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None
) -> Array:
    refuse("np.arange", device=device)
    device = meta.here().device
    if device.has_values and all(isinstance(x, int | None) for x in (start, stop, step)):
        return creation.arange(start, stop, step, dtype=dtype, device=device)
    numbers = np.arange(start, stop, step)
    kind = of_numpy(numbers.dtype)  # 64 bits were not requested
    return meta.asarray(numbers, kind.numpy if dtype is None and kind else dtype)


def _take(
    a: Array, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    own = manipulation.reshape(a, (-1,)) if axis is None else a
    extent = own.shape[axis or 0]
    at = indices if isinstance(indices, Array) else _host_indices(indices)
    if mode == "raise" and not isinstance(at, Array):
        _check_indices(at, extent, axis or 0)
    at = indices_by_mode("np.take", at, extent, mode)
    if not isinstance(at, Array):
        at = creation.asarray(at.astype(np.int32), device=own.device)
    return write_out(out, manipulation.take(own, at, axis=axis or 0))


def _host_indices(indices: Any) -> np.ndarray:
    found = np.asarray(indices)
    if found.dtype.kind not in "biu":
        raise InvalidType("np.take", "indices", indices, "integers")
    return found.astype(np.int64, copy=False)


def _check_indices(at: np.ndarray, extent: int, axis: int) -> None:
    """Raise IndexError for an index that is out of bounds."""
    outside = at[(at < -extent) | (at >= extent)]
    if outside.size:
        told = f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}"
        raise IndexError(told)


def _copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    """Copy an array, as ``numpy.copy``. ``subok`` has no effect: arrays have no subclasses."""
    check_order("np.copy", order)
    return creation.asarray(a, copy=True)


def _isin(
    a: Array, b: Array, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """Return whether each element is in another array, as ``numpy.isin``.

    ``assume_unique`` and ``kind`` have no effect. They only select NumPy's algorithm.
    """
    return sets.isin(a, b, invert=invert)


def _dot(a: Any, b: Any, out: Any = None) -> Array:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return write_out(out, a * b)
    return write_out(out, linear.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),))))


def _size(a: Array, axis: Any = None) -> int:
    if axis is None:
        return a.size
    return product([a.shape[n] for n in shapes.axes("size", "axis", axis, a.ndim)])


def _broadcast_to(array: Array, shape: Any, subok: bool = False) -> Array:
    """Broadcast an array to a shape, as ``numpy.broadcast_to``. ``subok`` has no effect."""
    del subok
    return manipulation.broadcast_to(array, shape if is_several(shape) else (shape,))


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    del subok
    return manipulation.broadcast_arrays(*on_one_device(args))


def _is_complex(x: Array) -> bool:
    return x.dtype.kind == "c"


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.arange: _arange,
    np.array: _asarray,
    np.asanyarray: _asarray,
    np.asarray: _asarray,
    np.ascontiguousarray: _ascontiguousarray,  # noqa: TID251
    np.astype: data_types.astype,
    np.broadcast_arrays: _broadcast_arrays,
    np.broadcast_to: _broadcast_to,
    np.clip: _clip,
    np.copy: _copy,
    np.cumprod: _cumulative(sorting.cumulative_prod),
    np.cumsum: _cumulative(sorting.cumulative_sum),
    np.dot: on_one_device_function(_dot, _dot),
    np.einsum: _einsum,
    np.empty_like: _like(0),
    np.expand_dims: lambda a, axis: manipulation.expand_dims(a, axis=axis),
    np.flip: lambda m, axis=None: manipulation.flip(m, axis=axis),
    np.full_like: _full_like,
    np.imag: lambda val: val.imag,
    np.iscomplexobj: _is_complex,
    np.isin: on_one_device_function(_isin, _isin),
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
    np.tensordot: on_one_device_function(
        lambda a, b, axes=2: linear.tensordot(a, b, axes=axes), np.tensordot
    ),
    np.tile: lambda A, reps: manipulation.tile(A, reps if is_several(reps) else (reps,)),
    np.transpose: manipulation.transpose,
    np.tril: lambda m, k=0: creation.tril(m, k=k),
    np.triu: lambda m, k=0: creation.triu(m, k=k),
    np.where: _where,
    np.zeros_like: _like(0),
}
