"""Convolution, interpolation, integration, polynomials and window functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.elementwise import i0
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.compat.numpy.linalg.algebra import lstsq
from browsergpu.compat.numpy.manipulation.indices import sliding_window_view
from browsergpu.compat.numpy.operands import as_floats, flattened
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation, statistics
from browsergpu.functions.ordering import sorting


def _vector(op: str, name: str, x: Any) -> Any:
    if x.ndim > 1 or not x.size:
        raise InvalidArgument(op, name, x, "a vector with elements")
    return manipulation.reshape(x, (-1,))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Return the discrete convolution of two vectors, as ``numpy.convolve``."""
    return _convolve("convolve", _vector("convolve", "a", a), _vector("convolve", "v", v), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Return the cross-correlation of two vectors, as ``numpy.correlate``."""
    own, other = _vector("correlate", "a", a), _vector("correlate", "v", v)
    other = manipulation.flip(elementwise.conj(other) if other.dtype.kind == "c" else other)
    # NumPy swaps the vectors if the second is longer, and reverses the result.
    return _convolve("correlate", own, other, mode, is_reversed=other.size > own.size)


def _convolve(op: str, a: Any, v: Any, mode: str, *, is_reversed: bool = False) -> Any:
    if mode not in ("full", "same", "valid"):
        raise InvalidArgument(op, "mode", mode, "'full', 'same' or 'valid'")
    if v.size > a.size:
        a, v = v, a
    n, m = a.size, v.size
    zeros = creation.zeros((m - 1,), dtype=a.dtype, device=a.device)
    wide = manipulation.concat([zeros, a, zeros]) if m > 1 else a
    every: Any = sliding_window_view(wide, m)
    products = every * manipulation.flip(v)
    found: Any = statistics.sum(products, axis=-1).astype(products.dtype, copy=False)
    if mode == "full":
        return found
    if mode == "valid":
        return found[m - 1 : n]
    first = m // 2 if is_reversed else (m - 1) // 2
    return found[first : first + n]


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Interpolate linearly between points with increasing ``xp``, as ``numpy.interp``."""
    if period is not None:
        options = {"left": left, "right": right, "period": period}
        return on_host("np.interp", np.interp, (x, xp, fp), options)
    places, values = _vector("interp", "xp", xp), _vector("interp", "fp", fp)
    if places.size != values.size:
        raise InvalidArgument("interp", "fp", values, f"have {places.size} elements, like xp")
    own, at = as_floats(x), as_floats(places)
    values = as_floats(values)
    n = at.size
    lower = values[0] if left is None else left
    upper = values[n - 1] if right is None else right
    if n == 1:
        found = elementwise.where(own < at[0], lower, values[0])
        return elementwise.where(own > at[0], upper, found)
    i = elementwise.clip(sorting.searchsorted(at, own, side="right") - 1, 0, n - 2)
    below = flattened(i)
    above = below + 1
    x0, x1, y0, y1 = (
        manipulation.reshape(manipulation.take(line, places), own.shape)
        for line in (at, values)
        for places in (below, above)
    )
    found = y0 + (y1 - y0) * ((own - x0) / (x1 - x0))
    found = elementwise.where(own == x1, y1, found)
    found = elementwise.where(own < at[0], lower, found)
    return elementwise.where(own > at[n - 1], upper, found)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate by the trapezoidal rule, as ``numpy.trapezoid``."""
    at = shapes.axis("trapezoid", "axis", axis, y.ndim)
    before = (slice(None),) * at
    later, earlier = y[(*before, slice(1, None))], y[(*before, slice(None, -1))]
    step: Any = dx
    if x is not None:
        step = sorting.diff(x, axis=-1 if x.ndim == 1 else at)
        if x.ndim == 1:
            step = manipulation.reshape(step, (-1,) + (1,) * (y.ndim - 1 - at))
    return statistics.sum(step * (later + earlier) / 2.0, axis=at)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Remove jumps of more than half a period, as ``numpy.unwrap``."""
    own = as_floats(p)
    at = shapes.axis("unwrap", "axis", axis, own.ndim)
    step = sorting.diff(own, axis=at)
    limit = period / 2 if discont is None else discont
    low = -period / 2
    inside: Any = (step - low) % period + low
    inside = elementwise.where(elementwise.logical_and(inside == low, step > 0), -low, inside)
    correction = elementwise.where(elementwise.abs(step) < limit, 0.0, inside - step)
    total = sorting.cumulative_sum(correction, axis=at)
    first = own[(*(slice(None),) * at, slice(0, 1))]
    rest = own[(*(slice(None),) * at, slice(1, None))] + total
    return manipulation.concat([first, rest], axis=at)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of consecutive elements of a flattened array, as ``numpy.ediff1d``."""
    flat = manipulation.reshape(ary, (-1,))
    parts = [flat[1:] - flat[:-1]]
    for value, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if value is not None:
            own = value if isinstance(value, Array) else creation.asarray(value, device=ary.device)
            if not data_types.can_cast(own.dtype, flat.dtype, casting="same_kind") and own.size:
                name, expected = ("to_begin", "to_end")[place > 0], f"castable to {flat.dtype}"
                raise InvalidType("ediff1d", name, value, expected)
            own = manipulation.reshape(own.astype(flat.dtype, copy=False), (-1,))
            parts.insert(place, own)
    return manipulation.concat(parts) if len(parts) > 1 else parts[0]


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial, highest power first, as ``numpy.polyval``."""
    if isinstance(x, np.poly1d) or p.ndim != 1:
        raise InvalidArgument("polyval", "p", p, "a vector of coefficients")
    x = x if isinstance(x, Array) else creation.asarray(x, device=p.device)
    found: Any = creation.zeros_like(x)
    for at in range(p.size):
        found = found * x + p[at]
    return found


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None,
    cov: Any = False,
) -> Any:  # fmt: skip
    """Fit a polynomial by least squares in float32, as ``numpy.polyfit``. Waits for the GPU."""
    count = checks.integer("polyfit", "deg", deg) + 1
    if cov:
        options = {"rcond": rcond, "full": full, "w": w, "cov": cov}
        return on_host("np.polyfit", np.polyfit, (x, y, deg), options)
    own, other = as_floats(_vector("polyfit", "x", x)), as_floats(y)
    if other.ndim not in (1, 2) or other.shape[0] != own.size:
        raise InvalidArgument("polyfit", "y", other, f"have {own.size} rows")
    columns = [creation.ones_like(own)]
    for _ in range(count - 1):
        columns.insert(0, columns[0] * own)
    left: Any = manipulation.stack(columns, axis=1)
    if w is not None:
        weights = as_floats(w)
        left = left * manipulation.reshape(weights, (-1, 1))
        other = other * (weights if other.ndim == 1 else manipulation.reshape(weights, (-1, 1)))
    scale = elementwise.sqrt(statistics.sum(left * left, axis=0))
    least = own.size * float(np.finfo(np.float32).eps) if rcond is None else rcond
    c, residuals, rank, s = lstsq(left / scale, other, least)
    found = c / (scale if c.ndim == 1 else manipulation.reshape(scale, (-1, 1)))
    return (found, residuals, rank, s, least) if full else found


def _window_of(M: int, of: Callable[[int], Any]) -> Any:
    """Return a window of M points. The formulas need 2 points; a single one is 1."""
    count = int(M)
    return of(count) if count > 1 else creation.ones((max(count, 0),))


def _window(name: str, of: Callable[[Any, int], Any]) -> Callable[..., Any]:
    def call(M: int) -> Any:
        return _window_of(M, lambda n: of(creation.arange(1 - n, n, 2, dtype="float32"), n))

    call.__doc__ = f"Return a float32 window of M points, as ``numpy.{name}``."
    return call


def _bartlett(n: Any, M: int) -> Any:
    return elementwise.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def _blackman(n: Any, M: int) -> Any:
    turn = np.pi * n / (M - 1)
    return 0.42 + 0.5 * elementwise.cos(turn) + 0.08 * elementwise.cos(2.0 * turn)


def _hamming(n: Any, M: int) -> Any:
    return 0.54 + 0.46 * elementwise.cos(np.pi * n / (M - 1))


def _hanning(n: Any, M: int) -> Any:
    return 0.5 + 0.5 * elementwise.cos(np.pi * n / (M - 1))


def kaiser(M: int, beta: float) -> Any:
    """Return the float32 Kaiser window of M points, as ``numpy.kaiser``."""

    def of(count: int) -> Any:
        n: Any = creation.arange(count, dtype="float32")
        alpha = (count - 1) / 2.0
        inside = elementwise.maximum(1 - ((n - alpha) / alpha) ** 2.0, 0.0)
        return i0(beta * elementwise.sqrt(inside)) / float(np.i0(float(beta)))

    return _window_of(M, of)


#: Functions without array arguments, by name.
CREATORS: dict[str, Callable[..., Any]] = {
    "bartlett": _window("bartlett", _bartlett),
    "blackman": _window("blackman", _blackman),
    "hamming": _window("hamming", _hamming),
    "hanning": _window("hanning", _hanning),
    "kaiser": kaiser,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.convolve: convolve,
    np.correlate: correlate,
    np.ediff1d: ediff1d,
    np.interp: interp,
    np.polyfit: polyfit,
    np.polyval: polyval,
    np.trapezoid: trapezoid,
    np.unwrap: unwrap,
}
