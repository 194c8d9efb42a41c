"""NumPy's protocols ``__array_ufunc__`` and ``__array_function__`` for arrays on the GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat import numpy
from browsergpu.compat.numpy.coercion import is_numpys_alone as is_numpys_alone
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.compat.numpy.operands import check_order, check_out, refuse
from browsergpu.compat.numpy.operands import on_one_device as _on_one_device
from browsergpu.compat.numpy.wrappers import public_function
from browsergpu.engine.core.above import register
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, data_types, elementwise, manipulation, meta
from browsergpu.functions.linalg import linear
from browsergpu.functions.ordering import additions, sorting

#: Elementwise functions by NumPy's name, if the names differ.
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
#: Functions that implement the method ``reduce`` of ufuncs, with NumPy's arguments.
_REDUCTIONS: dict[str, Any] = {
    "add": np.sum,
    "multiply": np.prod,
    "maximum": np.max,
    "minimum": np.min,
    "logical_and": np.all,
    "logical_or": np.any,
}

_GENERALIZED: dict[Any, Callable[..., Any]] = {
    np.matmul: linear.matmul,
    np.vecdot: linear.vecdot,
}

_NONE: Any = np._NoValue

_CUMULATIVE: dict[str, Callable[..., Array]] = {
    "add": sorting.cumulative_sum,
    "multiply": sorting.cumulative_prod,
}


FUNCTIONS = numpy.FUNCTIONS


@exclusive
def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a ufunc such as ``np.add(a, b)``, or a method such as ``np.add.reduce(a)``.

    Returns NotImplemented if an operand of another library has ``__array_ufunc__``. Raises
    InvalidType for an unknown ufunc.
    """
    if any(map(_is_foreign, inputs)):
        return NotImplemented
    out = options.pop("out", None)
    name = _RENAMED.get(function.__name__, function.__name__)
    if out is not None and any(isinstance(x, np.ndarray) for x in out):
        return _ufunc_on_host(function, method, inputs, options, out)
    if method == "reduce" and name in _REDUCTIONS:
        options.setdefault("axis", 0)
        found = FUNCTIONS[_REDUCTIONS[name]](*inputs, **options)
    elif method == "__call__":
        own = own_ufunc(function)
        if function is np.vecdot:
            own = partial(linear.vecdot, axis=options.pop("axis", -1))
        if own is None:
            return _ufunc_on_host(function, method, inputs, options, out)
        given = _on_one_device(inputs)
        if options.get("dtype") is not None:
            given = _in_dtype(function.__name__, given, options["dtype"])
        found = own(*given)
        if options:
            found = _apply_options(f"np.{function.__name__}", found, out, **options)
        if isinstance(found, tuple):
            return _write_outs(found, out)
    elif method == "accumulate" and name in _CUMULATIVE:
        options.setdefault("axis", 0)
        found = _CUMULATIVE[name](*inputs, **options)
    elif method == "outer":
        own = _outer(function, *inputs, **options)
        return own if out is None else _write_out(out[0], own)
    elif method == "at" and name in ("add", "subtract") and _adds(inputs[0], inputs[2]):
        return _added_at(inputs[0], inputs[1], inputs[2], name == "subtract")
    else:
        return _ufunc_on_host(function, method, inputs, options, out)
    return found if out is None else _write_out(out[0], found)


def own_ufunc(function: np.ufunc) -> Callable[..., Any] | None:
    """Return the GPU implementation of a ufunc of NumPy or ``scipy.special``, or None."""
    if function in _GENERALIZED:
        return _GENERALIZED[function]
    if _is_scipys(function):
        from browsergpu.functions import special  # loaded when first used

        return getattr(special, function.__name__, None)
    name = _RENAMED.get(function.__name__, function.__name__)
    found = numpy.UFUNCS.get(function) or getattr(elementwise, name, None)
    return found if getattr(np, function.__name__, None) is function else None


def _is_scipys(function: np.ufunc) -> bool:
    scipys = sys.modules.get("scipy.special")
    return scipys is not None and getattr(scipys, function.__name__, None) is function


def _ufunc_on_host(
    function: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any], out: Any
) -> Any:
    if getattr(np, function.__name__, None) is not function:
        raise _unknown(function)
    call = function if method == "__call__" else getattr(function, method)
    name = f"np.{function.__name__}" + ("" if method == "__call__" else f".{method}")
    given = options if out is None else {**options, "out": out}
    return on_host(name, call, inputs, given)


def _adds(a: Array, b: Any) -> bool:
    """Return whether ``at`` adds in the dtype of the array. NumPy rounds each sum to integers."""
    kind = b.dtype.kind if isinstance(b, Array) else np.asarray(b).dtype.kind
    return a.dtype.kind in "fc" or (a.dtype.kind in "iu" and kind in "biu")


def _added_at(a: Array, indices: Any, b: Any, is_less: bool) -> None:
    """Compute ``np.add.at`` or ``np.subtract.at``. Repeated indices add repeatedly."""
    key = indices if isinstance(indices, tuple) else (indices,)
    value, own = _on_one_device((b, a))
    shape = own[key].shape
    value = creation.asarray(value, device=own.device).astype(own.dtype, copy=False)
    value = manipulation.broadcast_to(value, shape)
    a[...] = additions.added_at(own, key, -value if is_less else value)


def _outer(function: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """Apply a ufunc to all pairs of elements."""
    # NumPy makes arrays of numbers here, whose dtypes are not those of numbers in operations.
    own = [np.asarray(x) if isinstance(x, bool | int | float | complex) else x for x in (a, b)]
    first, second = _on_one_device(own)
    if isinstance(first, Array):
        first = first.reshape((*first.shape, *(1,) * np.ndim(second)))
    return function(first, second, **options)


def _unknown(function: Any) -> InvalidType:
    """Return the error for a ufunc that NumPy does not define."""
    name = function.__name__
    advice = "Write it with array functions, or use x.numpy()."
    return InvalidType(name, "function", function, "a function with a GPU implementation", advice)


def _in_dtype(op: str, inputs: Sequence[Any], dtype: Any) -> list[Any]:
    """Return the operands in the dtype of a call, in which NumPy computes.

    Raises InvalidType if "same_kind" does not cast an operand to it.
    """
    kind = np.dtype(dtype)
    found = []
    for at, x in enumerate(inputs):
        if not isinstance(x, Array):
            if isinstance(x, float | complex) and kind.kind in "biu":
                raise InvalidType(f"np.{op}", "dtype", dtype, f"one that a number as {x} casts to")
            found.append(x)
            continue
        is_other = (op == "ldexp" and at) or (op == "absolute" and x.dtype.kind == "c")
        if not is_other and not data_types.can_cast(x.dtype, kind, casting="same_kind"):
            expected = f"one that 'same_kind' casts {x.dtype} to"
            raise InvalidType(f"np.{op}", "dtype", dtype, expected)
        found.append(x if is_other else x.astype(kind, copy=False))
    return found


def _apply_options(
    op: str, found: Any, out: Any, *, dtype: Any = None, where: Any = True,
    casting: str = "same_kind", order: str = "K", subok: bool = True, **others: Any,
) -> Any:  # fmt: skip
    """Apply the options ``dtype`` and ``where`` to a result.

    Elements where the mask is False keep the values of ``out``.
    """
    if casting != "same_kind" or order not in ("C", "K", "A"):
        others |= {"casting": casting, "order": order}
    refuse(op, **others)
    if isinstance(found, tuple):
        refuse(op, dtype=dtype, where=None if where is True else where)
        return found
    if dtype is not None:
        if not data_types.can_cast(found.dtype, np.dtype(dtype), casting="same_kind"):
            raise InvalidType(op, "dtype", dtype, f"one that 'same_kind' casts {found.dtype} to")
        found = found.astype(dtype, copy=False)
    if where is True:
        return found
    if out is None or not isinstance(out[0], Array):
        expected = "an array on the GPU, because where= is given"
        raise InvalidArgument(op, "out", out and out[0], expected)
    mask, value, before = _on_one_device((where, found, out[0]))
    return elementwise.where(mask, value, before).astype(before.dtype, copy=False)


def _write_outs(found: tuple[Array, ...], out: Any) -> tuple[Any, ...]:
    """Write several results to the arrays of ``out`` that are given."""
    given = (None,) * len(found) if out is None else out
    return tuple(
        x if own is None else _write_out(own, x) for own, x in zip(given, found, strict=True)
    )


def _is_foreign(operand: Any) -> bool:
    known = isinstance(operand, Array | np.ndarray | np.generic)
    return not known and hasattr(operand, "__array_ufunc__")


def _write_out(out: Any, found: Array) -> Any:
    """Write a result to ``out``."""
    if not isinstance(out, Array):
        return NotImplemented
    check_out(out, found)
    out[...] = found
    return out


@exclusive
def product(a: Any, b: Any) -> Any:
    """Return ``a @ b``. One operand may be a NumPy array or a list."""
    a, b = (np.asarray(x) if isinstance(x, list | tuple) else x for x in (a, b))
    if not all(isinstance(x, Array | np.ndarray) for x in (a, b)):
        return NotImplemented
    return linear.matmul(*_on_one_device((a, b)))


def loaded(data: np.ndarray, device: Any = None) -> Array:
    """Upload data that is moved between devices."""
    return creation.asarray(data, device=device)


def check_cast(x: Array, dtype: Any, order: str, casting: str) -> None:
    """Raise InvalidType if NumPy's ``casting`` rule does not allow a cast."""
    check_order("astype", order)
    if not data_types.can_cast(x.dtype, dtype, casting=casting):
        expected = f"one that {casting!r} casts {x.dtype} to"
        raise InvalidType("astype", "dtype", dtype, expected)


def viewed_on_host(x: Array, dtype: Any) -> Any:
    """Return a read-only copy on the host, viewed as a dtype without GPU support."""

    def view(data: np.ndarray) -> np.ndarray:
        found: np.ndarray = data.view(dtype)
        found.flags.writeable = False
        return found

    return on_host("Array.view", view, (x,), {})


def pickled(x: Array) -> Any:
    """Return a function that rebuilds an array, and its arguments. Waits for the GPU."""
    if meta.has_values(x):
        return meta.unpickled, (x.numpy(),)
    return meta.stand_in, (x.shape, x.dtype)


def function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of NumPy such as ``np.concatenate([a, b])``.

    Raises InvalidType for a function without a GPU implementation if the fallback mode is "error".
    """
    if func in FUNCTIONS:
        return public(func)(*args, **kwargs)
    return on_host(_name(func), func, args, kwargs)


@cache
def public(func: Any) -> Callable[..., Any]:
    """Return the package's public function for a function of NumPy."""
    return public_function(_name(func).removeprefix("np."), FUNCTIONS[func], func)


def _name(func: Any) -> str:
    """Return the full name of a function of NumPy, such as "np.linalg.norm"."""
    module = func.__module__.partition(".")[2]
    return ".".join(("np", *([module] if module in ("linalg", "fft") else []), func.__name__))


register("numpy_protocols", sys.modules[__name__])
