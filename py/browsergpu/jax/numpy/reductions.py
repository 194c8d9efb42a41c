"""Reductions of ``jax.numpy``: sums of integers keep 32 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.engine.core.element_types import FLOAT16, FLOAT32, INT32, UINT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JaxArray, as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array, inexact
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public, refuse

_QUICK = frozenset((FLOAT16, FLOAT32))
_QUICK_EXTREMES = _QUICK | {INT32, UINT32}


def _summed_dtype(x: Any, promote: bool) -> Any:
    """Return the dtype in which the elements of an array are added."""
    kind = x.dtype
    if kind.kind == "b" or (promote and kind.kind in "iu" and kind.itemsize < 4):
        return dtypes.UINT32 if kind.kind == "u" else dtypes.INT32
    return kind


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _masked(
    name: str, x: Any, axis: Any, keepdims: bool, where: Any, initial: Any = None, **more: Any
) -> Any:
    """Reduce the elements where a mask is true, beginning with a value, by NumPy's function."""
    if where is not None:
        more["where"] = unwrapped(array(name, where, "where"))
    if initial is not None:
        return _begun(name, x, axis, keepdims, initial, more)
    return as_jax(wrappers.own(name)(unwrapped(x), axis=_axes(axis), keepdims=keepdims, **more))


#: The functions that combine a reduction with its initial value.
_COMBINE = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


def _begun(name: str, x: Any, axis: Any, keepdims: bool, initial: Any, more: dict[str, Any]) -> Any:
    """Reduce, and combine the result with an initial value, which takes the dtype of the array."""
    first = array(name, initial, "initial")
    if first.ndim:
        raise InvalidArgument(name, "initial", first, "a scalar")
    if first.dtype.kind == "c" and x.dtype.kind != "c":
        first = FUNCTIONS["real"](first)
    if name in ("max", "min") and x.dtype.kind == "c":
        raise InvalidType(name, "a", x.dtype, "a real dtype with initial or where")
    # The result of no elements.
    limits = {"max": -math.inf, "min": math.inf} if x.dtype.kind == "f" else {}
    if name in ("max", "min"):
        more["initial"] = limits[name] if limits else fill_of(name, x.dtype)
    found = as_jax(wrappers.own(name)(unwrapped(x), axis=_axes(axis), keepdims=keepdims, **more))
    return cast(FUNCTIONS[_COMBINE[name]](cast(found, x.dtype), cast(first, x.dtype)), x.dtype)


def fill_of(name: str, kind: Any) -> Any:
    """Return the least value of integers or bools for "max", and the greatest for "min"."""
    if kind.kind == "b":
        return name == "min"
    limits = np.iinfo(kind)
    return int(limits.min if name == "max" else limits.max)


def _sum_function(name: str, quick: Callable[..., Any]) -> None:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = None, promote_integers: bool = True,
    ) -> Any:  # fmt: skip
        is_quick = type(a) is JaxArray and dtype is out is initial is where is None
        if is_quick and a.node.kind in _QUICK:
            return quick(a, axis=axis, keepdims=keepdims)
        refuse(name, out=out)
        x = array(name, a, "a")
        kind = dtypes.dtype_of(name, dtype) or _summed_dtype(x, promote_integers)
        x = cast(x, kind)
        if initial is None and where is None:
            return as_jax(quick(x, axis=_axes(axis), keepdims=keepdims, dtype=kind))
        return _masked(name, x, axis, keepdims, where, initial, dtype=kind)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the {name} along axes. Small integers count as 32-bit integers."
    FUNCTIONS[name] = call


_sum_function("sum", statistics.sum)
_sum_function("prod", statistics.prod)


def _extreme(name: str, quick: Callable[..., Any]) -> Any:
    def call(
        a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
        where: Any = None,
    ) -> Any:  # fmt: skip
        is_quick = type(a) is JaxArray and out is initial is where is None
        if is_quick and a.node.kind in _QUICK_EXTREMES:
            return quick(a, axis=axis, keepdims=keepdims)
        refuse(name, out=out)
        x = array(name, a, "a")
        if initial is None and where is None:
            return as_jax(quick(x, axis=_axes(axis), keepdims=keepdims))
        return _masked(name, x, axis, keepdims, where, initial)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the {name}imum along axes."
    return call


FUNCTIONS["max"] = FUNCTIONS["amax"] = _extreme("max", statistics.max)
FUNCTIONS["min"] = FUNCTIONS["amin"] = _extreme("min", statistics.min)


@public()
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *,
    where: Any = None,
) -> Any:  # fmt: skip
    """Return the mean along axes. Integers become float32."""
    if type(a) is JaxArray and dtype is out is where is None and a.node.kind in _QUICK:
        return statistics.mean(a, axis=axis, keepdims=keepdims)
    refuse("mean", out=out)
    x = inexact("mean", a, "a")
    kind = _dtype_of_floats("mean", dtype, x)
    if kind is not None:
        x = cast(x, kind)
    if where is None:
        return as_jax(statistics.mean(x, axis=_axes(axis), keepdims=keepdims))
    return _masked("mean", x, axis, keepdims, where)


def _dtype_of_floats(op: str, dtype: Any, x: Any) -> Any:
    """Return a requested dtype. Raises InvalidType for integers, and for floats beside complex."""
    kind = dtypes.dtype_of(op, dtype)
    if kind is not None and (kind.kind not in "fc" or (x.dtype.kind == "c" and kind.kind != "c")):
        expected = "a complex dtype" if x.dtype.kind == "c" else "a float or complex dtype"
        raise InvalidType(op, "dtype", dtype, expected, "Cast the result.")
    return kind


def _spread(name: str, quick: Callable[..., Any]) -> None:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: bool = False, *, where: Any = None, mean: Any = None,
        correction: float | None = None,
    ) -> Any:  # fmt: skip
        refuse(name, out=out, mean=mean)
        if ddof and correction is not None:
            raise InvalidArgument(name, "correction", correction, "None if ddof is given")
        x = inexact(name, a, "a")
        kind = _dtype_of_floats(name, dtype, x)
        if kind is not None:
            x = cast(x, kind)
        less = ddof if correction is None else correction
        axes = _axes(axis)
        if where is not None:
            return _without_freedom(name, x, axes, keepdims, where, less)
        found = as_jax(quick(x, axis=axes, correction=less, keepdims=keepdims))
        if less <= 0:
            return found
        over = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
        has_freedom = math.prod([x.shape[n] for n in over]) > less
        return found if has_freedom else FUNCTIONS["full_like"](found, math.nan)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the {name} along axes, with ``ddof`` degrees less."
    FUNCTIONS[name] = call


def _without_freedom(name: str, x: Any, axis: Any, keepdims: bool, where: Any, less: float) -> Any:
    """Return a masked variance, which is NaN where ``less`` elements or fewer are chosen."""
    found = _masked(name, x, axis, keepdims, where, ddof=less)
    chosen = as_jax(manipulation.broadcast_to(array(name, where, "where").astype(bool), x.shape))
    count = statistics.count_nonzero(chosen, axis=axis, keepdims=keepdims)
    return as_jax(elementwise.where(elementwise.greater(count, less), found, math.nan))


_spread("std", statistics.std)
_spread("var", statistics.var)


def _truth(name: str, quick: Callable[..., Any]) -> Any:
    def call(
        a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
    ) -> Any:
        refuse(name, out=out)
        x = array(name, a, "a")
        if where is None:
            return as_jax(quick(x, axis=_axes(axis), keepdims=keepdims))
        return _masked(name, x, axis, keepdims, where)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return whether {name} elements along axes are true."
    return call


FUNCTIONS["all"], FUNCTIONS["any"] = _truth("all", statistics.all), _truth("any", statistics.any)


@public()
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the maximum minus the minimum along axes."""
    high = FUNCTIONS["max"](a, axis, out, keepdims)
    return high - FUNCTIONS["min"](a, axis, out, keepdims)


def _index_of(name: str, quick: Callable[..., Any]) -> None:
    def call(a: Any, axis: Any = None, out: Any = None, keepdims: bool | None = None) -> Any:
        refuse(name, out=out)
        found = quick(array(name, a, "a"), axis=axis, keepdims=bool(keepdims))
        return as_jax(found)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the indices of ``jnp.{name}`` along an axis, as int32."
    FUNCTIONS[name] = call


_index_of("argmax", sorting.argmax)
_index_of("argmin", sorting.argmin)


@public()
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the numbers of nonzero elements along axes, as int32."""
    x = array("count_nonzero", a, "a")
    return as_jax(statistics.count_nonzero(x, axis=_axes(axis), keepdims=keepdims))


def _cumulative(name: str, quick: Callable[..., Any]) -> None:
    def call(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        refuse(name, out=out)
        x = array(name, a, "a")
        kind = dtypes.dtype_of(name, dtype) or _summed_dtype(x, False)
        x = cast(x, kind)
        flat = x.reshape(-1) if axis is None else x
        return as_jax(quick(flat, axis=axis or 0, dtype=kind))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.{name}`` along an axis, by default of the flattened array."
    FUNCTIONS[name] = call


_cumulative("cumsum", sorting.cumulative_sum)
_cumulative("cumprod", sorting.cumulative_prod)


def _with_initial(name: str, quick: Callable[..., Any]) -> None:
    def call(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        given = array(name, x)
        kind = dtypes.dtype_of(name, dtype) or _summed_dtype(given, name == "cumulative_sum")
        return as_jax(quick(cast(given, kind), axis=axis, dtype=kind,
                            include_initial=include_initial))  # fmt: skip

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.{name}`` along an axis."
    FUNCTIONS[name] = call


_with_initial("cumulative_sum", sorting.cumulative_sum)
_with_initial("cumulative_prod", sorting.cumulative_prod)


def _without_nan(name: str, fill: float) -> None:
    plain = FUNCTIONS[name.removeprefix("nan")]

    def call(a: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        x = array(name, a, "a")
        if x.dtype.kind in "fc":
            x = as_jax(elementwise.where(elementwise.isnan(x), fill, x))
        return plain(x, axis, *args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.{name[3:]}`` along axes, without the elements that are NaN."
    FUNCTIONS[name] = call


for _name, _fill in (("nansum", 0.0), ("nanprod", 1.0), ("nancumsum", 0.0), ("nancumprod", 1.0)):
    _without_nan(_name, _fill)
