"""Functions along an axis: ``apply_along_axis``, ``gradient``, ``average`` and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from operator import add
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import as_floats, on_one_device, supports_meta, write_out
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import DEFAULTS
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting

#: Functions that ``apply_along_axis`` calls once, with their parameter ``axis``.
_AXIS_FUNCTIONS = frozenset(
    (
        np.all, np.any, np.amax, np.amin, np.argmax, np.argmin, np.count_nonzero, np.cumprod,
        np.cumsum, np.max, np.mean, np.median, np.min, np.nanmax, np.nanmean, np.nanmin, np.nanprod,
        np.nanstd, np.nansum, np.nanvar, np.prod, np.std, np.sum, np.var,
    )
)  # fmt: skip


def _apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Array, *args: Any, **kwargs: Any
) -> Array:
    """Apply a function to slices along an axis, as ``numpy.apply_along_axis``.

    NumPy's reductions and cumulative sums are computed by one call, other functions slice by slice.
    """
    found: Array = supports_meta(_along_axis)(arr, func1d, axis, args, kwargs)
    return found


def _along_axis(
    arr: Array, func1d: Callable[..., Any], axis: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Array:
    op = "apply_along_axis"
    at = shapes.axis(op, "axis", axis, arr.ndim)
    if func1d in _AXIS_FUNCTIONS and not kwargs and args in ((), (0,), (-1,)):
        return func1d(arr, axis=at)  # type: ignore[no-any-return]
    lines = manipulation.moveaxis(arr, at, -1)
    outer = lines.shape[:-1]
    count = prod(outer)
    if not count:
        raise InvalidArgument(op, "arr", arr, "have at least one slice along the axis")
    flat = manipulation.reshape(lines, (count, lines.shape[-1]))
    results = [_as_array(op, func1d(flat[n], *args, **kwargs), arr) for n in range(count)]
    whole = manipulation.reshape(manipulation.stack(results), (*outer, *results[0].shape))
    # Move the new axes from the end to the position of the slices.
    rank = results[0].ndim
    source = tuple(range(len(outer), len(outer) + rank))
    return manipulation.moveaxis(whole, source, tuple(range(at, at + rank)))


@exclusive
def _as_array(op: str, found: Any, beside: Array) -> Array:
    if isinstance(found, Array):
        return found
    if type(found) in DEFAULTS:
        return beside.like(apply.full_node(beside.tracer, (), DEFAULTS[type(found)], found))
    if isinstance(found, np.generic | np.ndarray | list):
        made: Array = on_one_device((beside, np.asarray(found)))[1]
        return made
    raise InvalidType(op, "func1d", found, "a function whose results are arrays or numbers")


@supports_meta
def _gradient(
    f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> Array | tuple[Array, ...]:
    op = "gradient"
    names = range(f.ndim) if axis is None else axis
    is_one = not checks.is_several(names)
    chosen = [shapes.axis(op, "axis", n, f.ndim) for n in ([names] if is_one else names)]
    if len(varargs) not in (0, 1, len(chosen)):
        raise InvalidType(
            op,
            "varargs",
            Description(f"{len(varargs)} distances"),
            "no distance, one distance, or one for each axis",
        )
    if edge_order not in (1, 2):
        raise InvalidArgument(op, "edge_order", edge_order, "1 or 2")
    if not chosen:
        return ()
    distances = varargs or (1.0,)
    if len(distances) < len(chosen):
        distances = distances * len(chosen)
    own = as_floats(f)
    found = tuple(
        _slope(op, own, at, distance, edge_order)
        for at, distance in zip(chosen, distances, strict=True)
    )
    return found[0] if len(found) == 1 else found


def _slope(op: str, f: Array, axis: int, distance: Any, edge_order: int) -> Array:
    n = f.shape[axis]
    if n < edge_order + 1:
        expected = f"have at least {edge_order + 1} elements on axis {axis}"
        raise InvalidArgument(op, "f", f, expected)
    rows = manipulation.moveaxis(f, axis, -1)
    inner, ends = _weights(op, f, distance, n, edge_order)
    parts = [_weighted_sum([rows[..., i : i + 1] for i in range(edge_order + 1)], ends[0])]
    if n > 2:
        parts.append(_weighted_sum([rows[..., :-2], rows[..., 1:-1], rows[..., 2:]], inner))
    last = [rows[..., n - 1 - i : n - i] for i in range(edge_order + 1)]
    parts.append(_weighted_sum(last, ends[1]))
    return manipulation.moveaxis(manipulation.concat(parts, axis=-1), -1, axis)


def _weighted_sum(parts: Sequence[Array], weights: Sequence[Any]) -> Array:
    """Return a weighted sum. Parts with weight 0 are skipped, even if they are infinite."""
    own = [
        part * weight
        for part, weight in zip(parts, weights, strict=True)
        if not (isinstance(weight, float) and weight == 0)
    ]
    found: Array = reduce(add, own)
    return found


def _weights(op: str, f: Array, distance: Any, n: int, edge_order: int) -> tuple[Any, Any]:
    """Return the weights of the finite differences.

    The first result has the weights for inner elements, of the three neighbours. The second has
    those for the first and the last element, from the end inwards. For coordinates on the host they
    are computed in float64.
    """
    if not getattr(distance, "ndim", np.ndim(distance)):
        h = distance if isinstance(distance, Array) else float(distance)
        inner: tuple[Any, ...] = (-0.5 / h, 0.0, 0.5 / h)
        first: tuple[Any, ...] = (
            (-1.0 / h, 1.0 / h) if edge_order == 1 else (-1.5 / h, 2.0 / h, -0.5 / h)
        )
        return inner, (first, tuple(-1.0 * w for w in first))
    at = distance if isinstance(distance, Array) else np.asarray(distance, np.float64)
    if isinstance(at, np.ndarray) and at.shape == (n,) and len(set(np.diff(at))) == 1:
        return _weights(op, f, at[1] - at[0], n, edge_order)
    if at.shape != (n,):
        raise InvalidArgument(op, "varargs", at, f"numbers, or {n} coordinates")
    steps = as_floats(at[1:]) - as_floats(at[:-1]) if isinstance(at, Array) else np.diff(at)
    a, b = steps[:-1], steps[1:]
    inner = (-b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b)))

    def end(near: Any, far: Any) -> tuple[Any, ...]:
        if edge_order == 1:
            return -1 / near, 1 / near
        both = near + far
        return -(2 * near + far) / (near * both), both / (near * far), -near / (far * both)

    first = end(steps[0], steps[min(1, n - 2)])
    last = tuple(-w for w in end(steps[-1], steps[max(n - 3, 0)]))

    def on_device(weights: Sequence[Any]) -> list[Any]:
        return [
            creation.asarray(w.astype(np.float32), device=f.device)
            if isinstance(w, np.ndarray)
            else float(w)
            if isinstance(w, np.floating)
            else w
            for w in weights
        ]

    return on_device(inner), (on_device(first), on_device(last))


def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    op = "linspace"
    if device is not None:
        advice = "The result is on the device of the arrays."
        raise InvalidArgument(op, "device", device, "None", advice)
    first, last = (as_floats(x) for x in on_one_device((start, stop)))
    count = checks.integer(op, "num", num)
    gaps = count - 1 if endpoint else count
    apart = last - first
    numbers = creation.arange(count, device=apart.device).astype(np.float32)
    share = manipulation.reshape(numbers, (count, *(1,) * apart.ndim)) / max(gaps, 1)
    # As a weighted sum of both ends, so that both ends are exact.
    found = (1.0 - share) * first + share * last
    if dtype is not None:
        wanted = checks.numpy_dtype(op, "dtype", dtype)
        found = (elementwise.floor(found) if wanted.kind in "iu" else found).astype(dtype)
    moved = manipulation.moveaxis(found, 0, axis) if axis else found
    if not retstep:
        return moved
    return moved, apart / gaps if gaps > 0 else apart * float("nan")


def _cumulative(own: Callable[..., Array], number: float) -> Callable[..., Array]:
    """Return a cumulative sum or product that replaces NaN by a number."""

    def call(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
        given = a
        if a.dtype.kind in "fc":
            given = elementwise.where(elementwise.isnan(a), number, a)
        flat = manipulation.reshape(given, (-1,)) if axis is None else given
        return write_out(out, own(flat, axis=axis or 0, dtype=dtype))

    return call


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    op = "average"
    kept = keepdims is not np._NoValue and bool(keepdims)
    if weights is None:
        own = as_floats(on_one_device((a,))[0])
        found = statistics.mean(own, axis=axis, keepdims=kept)
        if not returned:
            return found
        return found, elementwise.multiply(creation.ones_like(found), own.size / found.size)
    own, shares = (as_floats(x) for x in on_one_device((a, weights)))
    if shares.shape != own.shape:
        if axis is None or shares.ndim != 1:
            raise InvalidType(op, "weights", shares, f"have shape {own.shape}, or one axis")
        at = shapes.axis(op, "axis", axis, own.ndim)
        if shares.size != own.shape[at]:
            raise InvalidArgument(op, "weights", shares, f"have {own.shape[at]} numbers")
        spread = (-1, *(1,) * (own.ndim - at - 1))
        shares = manipulation.broadcast_to(manipulation.reshape(shares, spread), own.shape)
    total = statistics.sum(shares, axis=axis, keepdims=kept)
    found = statistics.sum(own * shares, axis=axis, keepdims=kept) / total
    return (found, total) if returned else found


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.apply_along_axis: _apply_along_axis,
    np.average: _average,
    np.gradient: _gradient,
    np.linspace: _linspace,
    np.nancumprod: _cumulative(sorting.cumulative_prod, 1.0),
    np.nancumsum: _cumulative(sorting.cumulative_sum, 0.0),
}
