"""NumPy's functions called on our arrays: which of ours they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import numpys, numpys_linalg, numpys_statistics, shapes_only
from browsergpu.arrays.array import Array
from browsergpu.arrays.functions import (
    contraction,
    creation,
    data_types,
    elementwise,
    files,
    linear,
    manipulation,
    sets,
    sorting,
    statistics,
)
from browsergpu.arrays.numpys.operands import indices_by_mode, into, layout, refuse
from browsergpu.arrays.numpys.operands import on_one_device as _on_one_device
from browsergpu.arrays.value import NODE
from browsergpu.core.checks import is_several
from browsergpu.core.element_types import of_numpy
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.turns import exclusive

#: NumPy's names of our elementwise operations, where they differ.
_RENAMED = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "power": "pow",
    "absolute": "abs",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "true_divide": "divide",
}
_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "add": statistics.sum,
    "multiply": statistics.prod,
    "maximum": statistics.max,
    "minimum": statistics.min,
    "logical_and": statistics.all,
    "logical_or": statistics.any,
}

_NONE: Any = np._NoValue

_RUNNING: dict[str, Callable[..., Array]] = {
    "add": sorting.cumulative_sum,
    "multiply": sorting.cumulative_prod,
}


@exclusive
def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``np.add(a, b)`` and its kin, with ``out``, ``dtype`` and ``where``; ``np.add.reduce(a)``.
    Beside others' arrays, which know what to do with ours, NotImplemented. Raises InvalidType, a
    TypeError, for what there is not."""
    if any(map(_is_of_others, inputs)):
        return NotImplemented
    out = options.pop("out", None)
    name = _RENAMED.get(function.__name__, function.__name__)
    if method == "reduce" and name in _REDUCTIONS:
        options.setdefault("axis", 0)
        found = _REDUCTIONS[name](*inputs, **options)
    elif method == "__call__":
        own = linear.matmul if function is np.matmul else getattr(elementwise, name, None)
        own = own or numpys.UFUNCS.get(function)
        if own is None:
            raise _unknown(function)
        found = own(*_on_one_device(inputs))
        if options:
            found = _as_asked(f"np.{function.__name__}", found, out, **options)
        if isinstance(found, tuple):
            return _several(found, out)
    elif method == "accumulate" and name in _RUNNING:
        options.setdefault("axis", 0)
        found = _RUNNING[name](*inputs, **options)
    elif method == "outer":
        own = _outer(function, *inputs, **options)
        return own if out is None else _into(out[0], own)
    else:  # NumPy would leak its arguments if it were told NotImplemented here
        raise InvalidType(f"np.{function.__name__}.{method}", "array", inputs[0], "NumPy's own")
    return found if out is None else _into(out[0], found)


def _outer(function: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """A function of each element of one array with each of another."""
    first, second = _on_one_device((a, b))
    if isinstance(first, Array):
        first = first.reshape((*first.shape, *(1,) * np.ndim(second)))
    return function(first, second, **options)


def _unknown(function: Any) -> InvalidType:
    """The error for a function of NumPy's that there is none of on the GPU."""
    name = f"np.{function.__name__}"
    advice = f"{name} of x.numpy() is computed on the host."
    if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function:
        name, advice = function.__name__, "Write it with functions of arrays, or use x.numpy()."
    return InvalidType(name, "function", function, "a function that the GPU computes", advice)


def _as_asked(
    op: str, found: Any, out: Any, *, dtype: Any = None, where: Any = True,
    casting: str = "same_kind", order: str = "K", subok: bool = True, **others: Any,
) -> Any:  # fmt: skip
    """A result of a dtype, and where a mask is true; elsewhere what ``out`` holds."""
    if casting != "same_kind" or order not in ("C", "K", "A"):
        others |= {"casting": casting, "order": order}
    refuse(op, **others)
    if isinstance(found, tuple):
        refuse(op, dtype=dtype, where=None if where is True else where)
        return found
    if dtype is not None:
        found = found.astype(dtype, copy=False)
    if where is True:
        return found
    if out is None or not isinstance(out[0], Array):
        expected = "an array on the GPU, as where= is given"
        raise InvalidArgument(op, "out", out and out[0], expected)
    mask, value, before = _on_one_device((where, found, out[0]))
    return elementwise.where(mask, value, before).astype(before.dtype, copy=False)


def _several(found: tuple[Array, ...], out: Any) -> tuple[Any, ...]:
    """The results of a function of several, in those arrays of ``out`` that are given."""
    given = (None,) * len(found) if out is None else out
    return tuple(x if own is None else _into(own, x) for own, x in zip(given, found, strict=True))


def _is_of_others(operand: Any) -> bool:
    known = isinstance(operand, Array | np.ndarray | np.generic)
    return not known and hasattr(operand, "__array_ufunc__")


def _into(out: Any, found: Array) -> Any:
    """A result in place of another array's value."""
    if not isinstance(out, Array):
        return NotImplemented
    out[...] = found
    return out


@exclusive
def product(a: Any, b: Any) -> Any:
    """a @ b, where one may be of NumPy."""
    if not all(isinstance(x, Array | np.ndarray) for x in (a, b)):
        return NotImplemented
    return linear.matmul(*_on_one_device((a, b)))


def loaded(data: np.ndarray, device: Any = None) -> Array:
    """An array of what was moved to another device."""
    return creation.asarray(data, device=device)


def pickled(x: Array) -> Any:
    """What makes an array again, and of what. Waits."""
    if shapes_only.has_values(x):
        return shapes_only.unpickled, (x.numpy(),)
    return shapes_only.stand_in, (x.shape, x.dtype)


def function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``np.concatenate([a, b])``, ``np.sum(a, axis=0)`` and so on. Raises InvalidType, a TypeError,
    for what there is not."""
    own = _FUNCTIONS.get(func)
    if own is None:
        raise _unknown(func)
    return own(*args, **kwargs) if func in _CALLING else _exclusively(own, args, kwargs)


@exclusive
def _exclusively(own: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return own(*args, **kwargs)


def _running(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
        flat = manipulation.reshape(a, (-1,)) if axis is None else a
        return into(out, own(flat, axis=axis or 0, dtype=dtype))

    return call


def _concatenate(arrays: Any, axis: int | None = 0) -> Array:
    parts = _on_one_device(tuple(arrays))
    if not parts[0].device.has_values and all(map(shapes_only.has_values, parts)):
        return shapes_only.asarray(np.concatenate([x.numpy() for x in parts], axis=axis))
    return manipulation.concat(parts, axis=axis)


def _stack(arrays: Any, axis: int = 0) -> Array:
    return manipulation.stack(_on_one_device(tuple(arrays)), axis=axis)


def _einsum(
    *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = True, order: str = "K",
    casting: str = "safe",
) -> Any:  # fmt: skip
    layout("np.einsum", order)
    if casting != "safe":
        refuse("np.einsum", casting=casting)
    ours = next(x for x in operands if isinstance(x, Array))
    given = [
        creation.asarray(x, device=ours.device) if isinstance(x, np.ndarray) else x
        for x in operands
    ]
    found = contraction.einsum(*given, optimize=optimize, dtype=dtype)
    return found if out is None else _into(out, found)


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
    is_packed = node.window is not None or node.strides is None
    if order != "C" and (order not in ("K", "A") or not is_packed):
        expected = "'C' or 'F', or for arrays that are no views 'K' or 'A'"
        raise InvalidArgument(op, "order", order, expected)
    return False


def _squeeze(a: Array, axis: Any = None) -> Array:
    chosen = tuple(n for n, extent in enumerate(a.shape) if extent == 1) if axis is None else axis
    return manipulation.squeeze(a, chosen)


def _where(condition: Any, x: Any, y: Any) -> Array:
    return elementwise.where(*_on_one_device((condition, x, y)))


def _clip(
    a: Array, a_min: Any = _NONE, a_max: Any = _NONE, out: Any = None, *, min: Any = _NONE,
    max: Any = _NONE,
) -> Array:  # fmt: skip
    below, above = _bound("min", a_min, min), _bound("max", a_max, max)
    return into(out, elementwise.clip(*_on_one_device((a, below, above))))


def _bound(name: str, first: Any, second: Any) -> Any:
    """A bound of clip(), which has two names."""
    if first is not _NONE and second is not _NONE:
        raise InvalidArgument("np.clip", name, second, f"left out beside a_{name}")
    found = second if first is _NONE else first
    return None if found is _NONE else found


def _of_two(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, b: Any, *rest: Any, **options: Any) -> Array:
        return own(*_on_one_device((a, b)), *rest, **options)

    return call


def _like(number: Any) -> Callable[..., Array]:
    def call(
        a: Array, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
        *, device: Any = None,
    ) -> Array:  # fmt: skip
        return _full_like(a, number, dtype, order, subok, shape, device=device)

    return call


def _full_like(
    a: Array, fill_value: Any, dtype: Any = None, order: str = "K", _subok: bool = True,
    shape: Any = None, *, device: Any = None,
) -> Array:  # fmt: skip
    """In the likeness of an array without values one is made that has them, where there are
    elements. There are no subclasses of arrays."""
    layout("np.full_like", order)
    refuse("np.full_like", device=device)
    kind = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else shape
    if a.device.has_values:
        return creation.full(extents, fill_value, dtype=kind, device=a.device)
    return shapes_only.full(extents, fill_value, kind)


def _made(
    a: Any, dtype: Any = None, order: Any = None, *, ndmin: int = 0, ndmax: int = 0,
    copy: Any = None, subok: bool = False, device: Any = None,
) -> Array:  # fmt: skip
    """``np.asarray(a, like=x)``, which does not tell x. There are no subclasses of arrays."""
    layout("np.asarray", order)
    refuse("np.asarray", device=device, ndmax=ndmax or None)
    found = shapes_only.asarray(a, dtype)
    if copy:
        found = creation.asarray(found, copy=True)
    return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found


def _range(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None
) -> Array:
    refuse("np.arange", device=device)
    device = shapes_only.here().device
    if device.has_values and all(isinstance(x, int | None) for x in (start, stop, step)):
        return creation.arange(start, stop, step, dtype=dtype, device=device)
    numbers = np.arange(start, stop, step)
    kind = of_numpy(numbers.dtype)  # what 64 bits come to, which nobody has asked for
    return shapes_only.asarray(numbers, kind.numpy if dtype is None and kind else dtype)


def _take(
    a: Array, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    own = manipulation.reshape(a, (-1,)) if axis is None else a
    at = indices_by_mode("np.take", indices, own.shape[axis or 0], mode)
    found = manipulation.take(own, at, axis=axis or 0)
    return found if out is None else _into(out, found)


def _ordered(own: Callable[..., Array]) -> Callable[..., Array]:
    """``kind`` and ``stable`` ask for what every sort here is: stable."""

    def call(
        a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Array:
        refuse(f"np.{own.__name__}", order=order)
        x, at = (manipulation.reshape(a, (-1,)), -1) if axis is None else (a, axis)
        return own(x, axis=at)

    return call


def _copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    """There are no subclasses of arrays."""
    layout("np.copy", order)
    return creation.asarray(a, copy=True)


def _isin(
    a: Array, b: Array, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """``assume_unique`` and ``kind`` choose NumPy's algorithm, and not the result."""
    return sets.isin(a, b, invert=invert)


def _vstack(tup: Any) -> Array:
    """Vectors as rows, others behind each other."""
    parts = _on_one_device(tuple(tup))
    return manipulation.concat([x if x.ndim > 1 else x.reshape((1, -1)) for x in parts], axis=0)


def _hstack(tup: Any) -> Array:
    parts = [x if x.ndim else x.reshape((1,)) for x in _on_one_device(tuple(tup))]
    return manipulation.concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def _dot(a: Any, b: Any, out: Any = None) -> Array:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return into(out, a * b)
    return into(out, linear.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),))))


def _is_complex(x: Array) -> bool:
    return x.dtype.kind == "c"


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.arange: _range,
    np.array: _made,
    np.asanyarray: _made,
    np.asarray: _made,
    np.argsort: _ordered(sorting.argsort),
    np.ascontiguousarray: _made,
    np.astype: data_types.astype,
    np.broadcast_arrays: manipulation.broadcast_arrays,
    np.broadcast_to: manipulation.broadcast_to,
    np.clip: _clip,
    np.concatenate: _concatenate,
    np.copy: _copy,
    np.cumprod: _running(sorting.cumulative_prod),
    np.cumsum: _running(sorting.cumulative_sum),
    np.diff: lambda a, n=1, axis=-1: sorting.diff(a, n=n, axis=axis),
    np.dot: _of_two(_dot),
    np.einsum: _einsum,
    np.empty_like: _like(0),
    np.expand_dims: lambda a, axis: manipulation.expand_dims(a, axis=axis),
    np.flip: lambda m, axis=None: manipulation.flip(m, axis=axis),
    np.full_like: _full_like,
    np.hstack: _hstack,
    np.imag: lambda val: val.imag,
    np.iscomplexobj: _is_complex,
    np.isin: _of_two(_isin),
    np.moveaxis: manipulation.moveaxis,
    np.ndim: lambda a: a.ndim,
    np.nonzero: sorting.nonzero,
    np.ones_like: _like(1),
    np.ravel: _ravel,
    np.real: lambda val: val.real,
    np.repeat: lambda a, repeats, axis=None: manipulation.repeat(a, repeats, axis=axis),
    np.reshape: _reshape,
    np.result_type: data_types.result_type,
    np.roll: lambda a, shift, axis=None: manipulation.roll(a, shift, axis=axis),
    np.save: lambda file, arr, allow_pickle=True: files.save(file, arr),
    np.shape: lambda a: a.shape,
    np.size: lambda a: a.size,
    np.sort: _ordered(sorting.sort),
    np.squeeze: _squeeze,
    np.stack: _stack,
    np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    np.take: _take,
    np.tensordot: _of_two(lambda a, b, axes=2: linear.tensordot(a, b, axes=axes)),
    np.tile: lambda A, reps: manipulation.tile(A, reps if is_several(reps) else (reps,)),
    np.transpose: manipulation.transpose,
    np.tril: lambda m, k=0: creation.tril(m, k=k),
    np.triu: lambda m, k=0: creation.triu(m, k=k),
    np.vstack: _vstack,
    np.where: _where,
    np.zeros_like: _like(0),
    **numpys.FUNCTIONS,
    **numpys_statistics.FUNCTIONS,
    **numpys_linalg.FUNCTIONS,
    **{theirs: _of_two(own) for theirs, own in numpys_linalg.OF_TWO.items()},
}
#: Those that call functions of the user's, and let other threads work meanwhile.
_CALLING = frozenset((np.apply_along_axis, np.apply_over_axes, np.pad, np.piecewise))

Array._protocols = sys.modules[__name__]
