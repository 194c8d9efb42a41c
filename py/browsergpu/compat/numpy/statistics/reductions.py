"""NumPy's reductions, with the parameters ``out``, ``initial`` and ``where``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import on_one_device, write_out
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting

_NONE: Any = np._NoValue


def flag(keepdims: Any) -> bool:
    """Return ``keepdims`` as a bool."""
    return False if keepdims is _NONE else bool(keepdims)


def is_whole(where: Any) -> bool:
    """Return whether a mask includes all elements."""
    return where is _NONE or where is True


def _masked(op: str, a: Array, where: Any, neutral: Any) -> Array:
    """Replace elements outside of a mask by the neutral element of the reduction."""
    if is_whole(where):
        return a
    if not isinstance(where, Array | np.ndarray | bool):
        raise InvalidType(op, "where", where, "an array of bools")
    if isinstance(where, bool):
        where = creation.asarray(where, device=a.device)
    mask, own = on_one_device((where, a))
    return elementwise.where(mask, own, neutral)


def begin(op: str, initial: Any, found: Array) -> Any:
    """Return the initial value of a reduction in the dtype of its result, as NumPy converts it."""
    if isinstance(initial, Array):
        first = initial.astype(found.dtype, copy=False)
    else:
        with np.errstate(all="ignore"):
            first = found.dtype.type(initial)
    if first.ndim:
        raise InvalidArgument(op, "initial", initial, "a number")
    return first if isinstance(first, Array) else first.item()


def sum(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE,
    initial: Any = _NONE, where: Any = _NONE,
) -> Array:  # fmt: skip
    own = _masked("np.sum", a, where, 0)
    found: Any = statistics.sum(own, axis=axis, dtype=dtype, keepdims=flag(keepdims))
    return write_out(out, found if initial is _NONE else found + begin("np.sum", initial, found))


def prod(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE,
    initial: Any = _NONE, where: Any = _NONE,
) -> Array:  # fmt: skip
    own = _masked("np.prod", a, where, 1)
    found: Any = statistics.prod(own, axis=axis, dtype=dtype, keepdims=flag(keepdims))
    return write_out(out, found if initial is _NONE else found * begin("np.prod", initial, found))


def _extreme(
    own: Callable[..., Array], combine: Callable[[Any, Any], Array]
) -> Callable[..., Array]:
    def call(
        a: Array, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE,
        where: Any = _NONE,
    ) -> Array:  # fmt: skip
        if not is_whole(where) and initial is _NONE:
            expected = "a number, because where= may exclude all elements"
            raise InvalidArgument(f"np.{own.__name__}", "initial", None, expected)
        op, kept = f"np.{own.__name__}", flag(keepdims)
        if initial is _NONE:
            return write_out(out, own(a, axis=axis, keepdims=kept))
        first = begin(op, initial, a)
        if 0 in a.shape:
            none = statistics.any(a, axis=axis, keepdims=kept)
            return write_out(out, elementwise.where(none, 0, first).astype(a.dtype, copy=False))
        found = own(_masked(op, a, where, first), axis=axis, keepdims=kept)
        return write_out(out, combine(found, first))

    return call


def _logical(own: Callable[..., Array], neutral: bool) -> Callable[..., Array]:
    def call(
        a: Array, axis: Any = None, out: Any = None, keepdims: Any = _NONE, *, where: Any = _NONE
    ) -> Array:
        masked = a if is_whole(where) else _masked(f"np.{own.__name__}", a != 0, where, neutral)
        found = own(masked, axis=axis, keepdims=flag(keepdims))
        return write_out(out, found)

    return call


def _cast(op: str, a: Array, dtype: Any) -> Array:
    if dtype is None:
        return a
    found = a.astype(dtype, copy=False)
    if found.dtype.kind in "biu":
        raise InvalidArgument(op, "dtype", dtype, "a floating-point dtype")
    return found


def _count(a: Array, where: Any, axis: Any) -> Any:
    """Return the number of elements that a mask includes in each result, with the axes kept."""
    if where is True:
        return product([a.shape[n] for n in shapes.axes("np.mean", "axis", axis, a.ndim)])
    mask = manipulation.broadcast_to(on_one_device((where, a))[0], a.shape)
    return statistics.count_nonzero(mask, axis=axis, keepdims=True)


def mean(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE, *,
    where: Any = _NONE,
) -> Array:  # fmt: skip
    own = _cast("np.mean", a, dtype)
    if is_whole(where):
        return write_out(out, statistics.mean(own, axis=axis, keepdims=flag(keepdims)))
    return write_out(out, _drop_axes(_masked_mean(own, axis, where), axis, keepdims))


def _masked_mean(a: Array, axis: Any, where: Any) -> Any:
    own = a if a.dtype.kind in "fc" else a.astype(np.float32)
    total: Any = statistics.sum(_masked("np.mean", own, where, 0), axis=axis, keepdims=True)
    return total / _count(a, where, axis)


def _drop_axes(found: Any, axis: Any, keepdims: Any) -> Any:
    """Remove the reduced axes from a result, unless ``keepdims``."""
    return found if flag(keepdims) else statistics.sum(found, axis=axis)


def var(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    return write_out(
        out, _variance("np.var", a, axis, dtype, ddof, keepdims, where, mean, correction)
    )


def _std(
    a: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = _NONE, *, where: Any = _NONE, mean: Any = _NONE, correction: Any = _NONE,
) -> Array:  # fmt: skip
    is_plain = is_whole(where) and mean is _NONE
    if is_plain:
        own, less = _cast("np.std", a, dtype), _correction("np.std", ddof, correction)
        found = statistics.std(own, axis=axis, correction=less, keepdims=flag(keepdims))
    else:
        found = elementwise.sqrt(
            _variance("np.std", a, axis, dtype, ddof, keepdims, where, mean, correction)
        )
    return write_out(out, found)


def _correction(op: str, ddof: Any, correction: Any) -> Any:
    if correction is _NONE:
        return ddof
    if ddof != 0:
        raise InvalidArgument(op, "ddof", ddof, "0 if correction is given")
    return correction


def _variance(
    op: str, a: Array, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any,
    correction: Any,
) -> Array:  # fmt: skip
    own, less = _cast(op, a, dtype), _correction(op, ddof, correction)
    if is_whole(where) and mean is _NONE:
        return statistics.var(own, axis=axis, correction=less, keepdims=flag(keepdims))
    if own.dtype.kind == "c":
        raise InvalidArgument(op, "a", a, "real numbers")
    whole = True if is_whole(where) else where
    centre = _masked_mean(own, axis, whole) if mean is _NONE else on_one_device((own, mean))[1]
    apart: Any = _masked(op, own - centre, whole, 0)
    total: Any = statistics.sum(apart * apart, axis=axis, keepdims=True)
    return _drop_axes(total / (_count(own, whole, axis) - less), axis, keepdims)  # type: ignore[no-any-return]


def _arg(own: Callable[..., Array]) -> Callable[..., Array]:
    def call(a: Array, axis: Any = None, out: Any = None, *, keepdims: Any = _NONE) -> Array:
        return write_out(out, own(a, axis=axis, keepdims=flag(keepdims)))

    return call


def _count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    return statistics.count_nonzero(a, axis=axis, keepdims=keepdims)


max = _extreme(statistics.max, elementwise.maximum)
min = _extreme(statistics.min, elementwise.minimum)

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.all: _logical(statistics.all, True),
    np.amax: max,
    np.amin: min,
    np.any: _logical(statistics.any, False),
    np.argmax: _arg(sorting.argmax),
    np.argmin: _arg(sorting.argmin),
    np.count_nonzero: _count_nonzero,
    np.max: max,
    np.mean: mean,
    np.min: min,
    np.prod: prod,
    np.std: _std,
    np.sum: sum,
    np.var: var,
}

#: Implementations for calls with an array and at most the keyword arguments ``axis`` and
#: ``keepdims``, a bool.
OF_AXES: dict[Any, Callable[..., Any]] = {
    np.all: statistics.all,
    np.any: statistics.any,
    np.max: statistics.max,
    np.mean: statistics.mean,
    np.min: statistics.min,
    np.prod: statistics.prod,
    np.sum: statistics.sum,
}
