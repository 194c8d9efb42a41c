"""NumPy's elementwise functions that are not ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import as_floats, on_one_device, write_out
from browsergpu.engine.core.element_types import BOOL
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, statistics


def _angle(z: Array, deg: bool = False) -> Array:
    if z.dtype.kind == "c":
        found = elementwise.atan2(z.imag, z.real)
    else:
        own = as_floats(z)
        found = elementwise.atan2(creation.zeros_like(own), own)
    return found * (180 / math.pi) if deg else found


def _fix(x: Array, out: Any = None) -> Array:
    return write_out(out, elementwise.trunc(x))


#: Polynomial coefficients, lowest power first: of I0(x) in (x / 3.75)² for x up to 3.75, and of
#: I0(x) exp(-x) √x in 3.75 / x for larger x.
#: Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 9.8.1 and 9.8.2.
_NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_FAR = (
    0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537,
    -0.01647633, 0.00392377,
)  # fmt: skip


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    found: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        found = found * x + coefficient
    return found  # type: ignore[no-any-return]


def i0(x: Array) -> Array:
    """Return the modified Bessel function of the first kind and order 0, within 4e-7."""
    size = elementwise.abs(as_floats(x))
    share = size / 3.75
    near = _polynomial(share * share, _NEAR)
    known = elementwise.maximum(size, 3.75)
    far = elementwise.exp(known) / elementwise.sqrt(known) * _polynomial(3.75 / known, _FAR)
    return elementwise.where(size <= 3.75, near, far)


def _bools(x: Array, *, value: bool) -> Array:
    return x.like(apply.full_node(x.tracer, x.shape, BOOL, value))


def _iscomplex(x: Array) -> Array:
    return elementwise.not_equal(x.imag, 0) if x.dtype.kind == "c" else _bools(x, value=False)


def _isreal(x: Array) -> Array:
    return elementwise.equal(x.imag, 0) if x.dtype.kind == "c" else _bools(x, value=True)


def _nan_to_num(
    x: Array, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    if x.dtype.kind == "c":
        real, imag = (_nan_to_num(part, True, nan, posinf, neginf) for part in (x.real, x.imag))
        found = elementwise.complex_number(real, imag)
    elif x.dtype.kind == "f":
        largest = float(np.finfo(x.dtype).max)
        above = largest if posinf is None else posinf
        below = -largest if neginf is None else neginf
        finite = elementwise.where(elementwise.isnan(x), nan, x)
        finite = elementwise.where(elementwise.equal(x, math.inf), above, finite)
        found = elementwise.where(elementwise.equal(x, -math.inf), below, finite)
    else:
        found = x.__copy__()
    return found if copy else write_out(x, found)


def _sinc(x: Array) -> Array:
    own = as_floats(x)
    is_zero = elementwise.equal(own, 0)
    angle = math.pi * elementwise.where(is_zero, 1, own)
    return elementwise.where(is_zero, 1, elementwise.sin(angle) / angle)


def _arrays(op: str, a: Any, b: Any) -> tuple[Array, Array]:
    """Convert two operands to arrays on one device. A number gets the dtype of the other array."""
    x, y = on_one_device((a, b))
    beside = x if isinstance(x, Array) else y
    return apply.array_of(op, "a", x, beside), apply.array_of(op, "b", y, beside)


def _distance(x: Array, y: Array) -> Array:
    """Return absolute differences as floats. Differences of integers are exact before rounding."""
    if x.dtype.kind in "iu" and y.dtype.kind == x.dtype.kind:
        greater, less = elementwise.maximum(x, y), elementwise.minimum(x, y)
        unsigned = np.uint64 if greater.dtype.itemsize == 8 else np.uint32
        apart: Array = greater.astype(unsigned) - less.astype(unsigned)
        return apart.astype(np.float32)
    return elementwise.abs(as_floats(x) - as_floats(y))


def _isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    x, y = _arrays("isclose", a, b)
    size = elementwise.abs(as_floats(y))
    near: Any = elementwise.less_equal(_distance(x, y), atol + rtol * size)
    found: Any = (near & elementwise.isfinite(y)) | elementwise.equal(x, y)
    if equal_nan:
        found = found | (elementwise.not_equal(x, x) & elementwise.not_equal(y, y))
    return found  # type: ignore[no-any-return]


def _allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close, as ``numpy.allclose``. Waits for the GPU."""
    return bool(statistics.all(_isclose(a, b, rtol, atol, equal_nan)))


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether shapes and elements are equal, as ``numpy.array_equal``. Waits for the GPU."""
    if np.shape(a1) != np.shape(a2):
        return False
    x, y = _arrays("array_equal", a1, a2)
    same: Any = elementwise.equal(x, y)
    if equal_nan:
        same = same | (elementwise.not_equal(x, x) & elementwise.not_equal(y, y))
    return bool(statistics.all(same))


def _round(a: Array, decimals: int = 0, out: Any = None) -> Array:
    if not isinstance(decimals, int | np.integer):
        raise InvalidArgument("round", "decimals", decimals, "an integer")
    return write_out(out, _round_to(a, int(decimals)))


def _round_to(a: Array, decimals: int) -> Array:
    if a.dtype.kind not in "fc":
        return a.__copy__() if decimals >= 0 else _round_integers(a, -decimals)
    if decimals == 0:
        return elementwise.round(a)
    power = 10.0 ** min(abs(decimals), 38)
    scaled: Any = a * power if decimals > 0 else a / power
    found = elementwise.round(scaled)
    found = found / power if decimals > 0 else found * power
    # Elements that overflow when scaled have no decimals.
    return elementwise.where(elementwise.isfinite(scaled), found, a)


def _round_integers(a: Array, zeros: int) -> Array:
    """Round integers to a multiple of a power of 10, halves to the even multiple."""
    # Half of the next power exceeds all elements.
    most = 9 if a.dtype.itemsize < 8 else 18 if a.dtype.kind == "i" else 19
    if zeros > most or a.dtype.kind == "b":
        return creation.zeros_like(a)
    power = 10**zeros
    wide = a if a.dtype.itemsize >= 4 else a.astype(np.int32)
    times = wide // power
    rest = wide - times * power
    other = power - rest
    is_up = (rest > other) | ((rest == other) & (times % 2 == 1))
    return ((times + is_up) * power).astype(a.dtype, copy=False)  # type: ignore[no-any-return]


def _can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    own, target = (x.dtype if isinstance(x, Array) else x for x in (from_, to))
    return np.can_cast(own, target, casting=casting)  # type: ignore[arg-type]


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.allclose: _allclose,
    np.angle: _angle,
    np.around: _round,
    np.array_equal: _array_equal,
    np.can_cast: _can_cast,
    np.fix: _fix,
    np.i0: i0,
    np.isclose: _isclose,
    np.iscomplex: _iscomplex,
    np.isreal: _isreal,
    np.nan_to_num: _nan_to_num,
    np.round: _round,
    np.sinc: _sinc,
}
