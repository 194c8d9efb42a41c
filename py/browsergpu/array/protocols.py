"""NumPy's functions called on our arrays: which of ours they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.array import numpys, numpys_linalg, numpys_statistics, shapes_only
from browsergpu.array.array import Array
from browsergpu.array.functions import (
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
from browsergpu.array.numpys.operands import on_one_device as _on_one_device
from browsergpu.array.numpys.operands import refuse
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


def _reduction(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, axis: Any = None, **options: Any) -> Array:
        out = options.pop("out", None)
        dtype = options.pop("dtype", None)
        if dtype is not None:
            if own in (statistics.sum, statistics.prod):
                options["dtype"] = dtype
            else:
                a = a.astype(dtype, copy=False)
        if "ddof" in options:
            options["correction"] = options.pop("ddof")
        given = {key: value for key, value in options.items() if value is not np._NoValue}
        found = own(a, axis=axis, **given)
        return found if out is None else _into(out, found)

    return call


def _running(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Array, axis: int | None = None, dtype: Any = None) -> Array:
        flat = manipulation.reshape(a, (-1,)) if axis is None else a
        return own(flat, axis=axis or 0, dtype=dtype)

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
    """``order`` and ``casting`` say nothing here: results are packed, and types are promoted."""
    ours = next(x for x in operands if isinstance(x, Array))
    given = [
        creation.asarray(x, device=ours.device) if isinstance(x, np.ndarray) else x
        for x in operands
    ]
    found = contraction.einsum(*given, optimize=optimize, dtype=dtype)
    return found if out is None else _into(out, found)


def _reshape(a: Array, /, shape: Any) -> Array:
    return manipulation.reshape(a, shape)


def _squeeze(a: Array, axis: Any = None) -> Array:
    chosen = tuple(n for n, extent in enumerate(a.shape) if extent == 1) if axis is None else axis
    return manipulation.squeeze(a, chosen)


def _where(condition: Any, x: Any, y: Any) -> Array:
    return elementwise.where(*_on_one_device((condition, x, y)))


def _clip(a: Array, a_min: Any = None, a_max: Any = None) -> Array:
    return elementwise.clip(a, a_min, a_max)


def _of_two(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Any, b: Any, **options: Any) -> Array:
        return own(*_on_one_device((a, b)), **options)

    return call


def _like(number: Any) -> Callable[..., Array]:
    def call(a: Array, dtype: Any = None, order: str = "K", shape: Any = None) -> Array:
        return _full_like(a, number, dtype=dtype, shape=shape)

    return call


def _full_like(
    a: Array, fill_value: Any, dtype: Any = None, order: str = "K", shape: Any = None
) -> Array:
    """``order`` says nothing here. In the likeness of an array without values one is made that has
    them, where there are elements."""
    kind = a.dtype if dtype is None else dtype
    extents = a.shape if shape is None else shape
    if a.device.has_values:
        return creation.full(extents, fill_value, dtype=kind, device=a.device)
    return shapes_only.full(extents, fill_value, kind)


def _made(a: Any, dtype: Any = None, *, ndmin: int = 0, copy: Any = None, **_: Any) -> Array:
    """``np.asarray(a, like=x)``, which does not tell x; the order in memory says nothing here."""
    found = shapes_only.asarray(a, dtype)
    if copy:
        found = creation.asarray(found, copy=True)
    return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found


def _range(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, **_: Any) -> Array:
    device = shapes_only.here().device
    if device.has_values and all(isinstance(x, int | None) for x in (start, stop, step)):
        return creation.arange(start, stop, step, dtype=dtype, device=device)
    numbers = np.arange(start, stop, step)
    kind = of_numpy(numbers.dtype)  # what 64 bits come to, which nobody has asked for
    return shapes_only.asarray(numbers, kind.numpy if dtype is None and kind else dtype)


def _take(a: Array, indices: Any, axis: int | None = None, mode: str = "raise") -> Array:
    """``mode`` says nothing here: indices on the GPU are not checked."""
    own = manipulation.reshape(a, (-1,)) if axis is None else a
    return manipulation.take(own, indices, axis=axis or 0)


def _vstack(tup: Any) -> Array:
    """Vectors as rows, others behind each other."""
    parts = _on_one_device(tuple(tup))
    return manipulation.concat([x if x.ndim > 1 else x.reshape((1, -1)) for x in parts], axis=0)


def _hstack(tup: Any) -> Array:
    parts = [x if x.ndim else x.reshape((1,)) for x in _on_one_device(tuple(tup))]
    return manipulation.concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def _dot(a: Array, b: Array) -> Array:
    if a.ndim == 0 or b.ndim == 0:
        return a * b  # type: ignore[no-any-return]
    return linear.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def _is_complex(x: Array) -> bool:
    return x.dtype.kind == "c"


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.all: _reduction(statistics.all),
    np.any: _reduction(statistics.any),
    np.amax: _reduction(statistics.max),
    np.amin: _reduction(statistics.min),
    np.arange: _range,
    np.argmax: lambda a, axis=None, **o: sorting.argmax(a, axis=axis, **o),
    np.argmin: lambda a, axis=None, **o: sorting.argmin(a, axis=axis, **o),
    np.array: _made,
    np.asanyarray: _made,
    np.asarray: _made,
    np.argsort: lambda a, axis=-1, **_: sorting.argsort(a, axis=axis),
    np.ascontiguousarray: _made,
    np.astype: data_types.astype,
    np.broadcast_arrays: manipulation.broadcast_arrays,
    np.broadcast_to: manipulation.broadcast_to,
    np.clip: _clip,
    np.concatenate: _concatenate,
    np.copy: lambda a, **_: creation.asarray(a, copy=True),
    np.count_nonzero: _reduction(statistics.count_nonzero),
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
    np.isin: _of_two(lambda a, b, invert=False, **_: sets.isin(a, b, invert=invert)),
    np.max: _reduction(statistics.max),
    np.mean: _reduction(statistics.mean),
    np.min: _reduction(statistics.min),
    np.moveaxis: manipulation.moveaxis,
    np.ndim: lambda a: a.ndim,
    np.nonzero: sorting.nonzero,
    np.ones_like: _like(1),
    np.prod: _reduction(statistics.prod),
    np.ravel: lambda a, order="C": manipulation.reshape(a, (-1,)),
    np.real: lambda val: val.real,
    np.repeat: lambda a, repeats, axis=None: manipulation.repeat(a, repeats, axis=axis),
    np.reshape: _reshape,
    np.result_type: data_types.result_type,
    np.roll: lambda a, shift, axis=None: manipulation.roll(a, shift, axis=axis),
    np.save: lambda file, arr, allow_pickle=True: files.save(file, arr),
    np.shape: lambda a: a.shape,
    np.size: lambda a: a.size,
    np.sort: lambda a, axis=-1, **_: sorting.sort(a, axis=axis),
    np.squeeze: _squeeze,
    np.stack: _stack,
    np.std: _reduction(statistics.std),
    np.sum: _reduction(statistics.sum),
    np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    np.take: _take,
    np.tensordot: _of_two(lambda a, b, axes=2: linear.tensordot(a, b, axes=axes)),
    np.tile: lambda A, reps: manipulation.tile(A, reps if hasattr(reps, "__len__") else (reps,)),
    np.transpose: manipulation.transpose,
    np.tril: lambda m, k=0: creation.tril(m, k=k),
    np.triu: lambda m, k=0: creation.triu(m, k=k),
    np.var: _reduction(statistics.var),
    np.vstack: _vstack,
    np.where: _where,
    np.zeros_like: _like(0),
    **numpys.FUNCTIONS,
    **numpys_statistics.FUNCTIONS,
    **numpys_linalg.FUNCTIONS,
    **{theirs: _of_two(own) for theirs, own in numpys_linalg.OF_TWO.items()},
}
#: Those that call functions of the user's, and let other threads work meanwhile.
_CALLING = frozenset((np.apply_along_axis, np.piecewise))

Array._protocols = sys.modules[__name__]
