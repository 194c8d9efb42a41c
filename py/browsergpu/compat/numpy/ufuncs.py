"""Ufuncs that are composed of other elementwise functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.compat.numpy.operands import as_floats
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import elementwise

_LN2 = math.log(2.0)
_DEGREE = math.pi / 180


def _real_floats(op: str, x: Array) -> Array:
    if x.dtype.kind == "c":
        raise InvalidType(op, "x", x.dtype, "real numbers")
    floats: Array = as_floats(x)
    return floats


def _cbrt(x: Array, /) -> Array:
    own = _real_floats("cbrt", x)
    return elementwise.copysign(elementwise.pow(elementwise.abs(own), 1 / 3), own)


def _exp2(x: Array, /) -> Array:
    return elementwise.pow(2.0, as_floats(x))


def _scaled(op: str, factor: float) -> Callable[[Array], Array]:
    def call(x: Array, /) -> Array:
        scaled: Array = _real_floats(op, x) * factor
        return scaled

    return call


def _fabs(x: Array, /) -> Array:
    return elementwise.abs(_real_floats("fabs", x))


def _ignoring_nan(extreme: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Array]:
    """Return a maximum or minimum that ignores NaN if the other element is a number."""

    def call(x1: Any, x2: Any, /) -> Array:
        found = extreme(x1, x2)
        for own, other in ((x1, x2), (x2, x1)):
            if not isinstance(own, Array):
                if own != own:
                    found = elementwise.where(elementwise.equal(found, found), found, other)
            elif own.dtype.kind == "f":
                found = elementwise.where(elementwise.isnan(own), other, found)
        return found

    return call


def _logaddexp2(x1: Any, x2: Any, /) -> Array:
    found: Array = elementwise.logaddexp(as_floats(x1) * _LN2, as_floats(x2) * _LN2) / _LN2
    return found


def _float_power(x1: Any, x2: Any, /) -> Array:
    """Return powers in float32 or complex64, also of float16."""
    return elementwise.pow(*map(_at_least_float32, (x1, x2)))


def _at_least_float32(x: Any) -> Any:
    own = as_floats(x)
    is_half = isinstance(own, Array) and own.dtype == np.float16
    return own.astype(np.float32) if is_half else own


@differentiable(x1=lambda g: g, x2=lambda g, x1, x2: -g * elementwise.trunc(x1 / x2))
def _fmod(x1: Any, x2: Any, /) -> Array:
    """Return the remainder with the sign of x1, as ``numpy.fmod``. Integers modulo 0 are 0."""
    if any(_is_float(x) for x in (x1, x2)):
        size = elementwise.remainder(_size(x1), _size(x2))
        return elementwise.copysign(size, x1)
    found = elementwise.remainder(x1, x2)
    is_other = elementwise.logical_and(found != 0, (found < 0) != (x1 < 0))
    return elementwise.where(is_other, found - x2, found)


def _is_float(x: Any) -> bool:
    return x.dtype.kind == "f" if isinstance(x, Array) else isinstance(x, float | np.floating)


def _size(x: Any) -> Any:
    return elementwise.abs(as_floats(x)) if isinstance(x, Array) else abs(float(x))


def _power_of_2(exponent: Any) -> Any:
    return _exp2(exponent) if isinstance(exponent, Array) else 2.0**exponent


def _ldexp(x1: Any, x2: Any, /) -> Array:
    """Return x1 times 2 to the power of x2, as ``numpy.ldexp``."""
    # In three factors, because the power of 2 alone may be outside of float32.
    if isinstance(x2, Array) and x2.dtype.kind not in "iub":
        raise InvalidType("ldexp", "x2", x2.dtype, "integers")
    exponent: Any
    if isinstance(x2, Array):
        exponent = elementwise.clip(reduce.narrowed_to_int32("ldexp", x2), -300, 300)
    else:
        exponent = min(max(int(x2), -300), 300)
    part = exponent // 3
    factor = _power_of_2(part)
    found: Array = as_floats(x1) * factor * factor * _power_of_2(exponent - 2 * part)
    return found


def _frexp(x: Array, /) -> tuple[Array, Array]:
    """Return mantissas with absolute values in [0.5, 1), and int32 exponents of 2."""
    own = _real_floats("frexp", x)
    size = elementwise.abs(own.astype(np.float32, copy=False))
    is_regular = elementwise.logical_and(size > 0, elementwise.isfinite(size))
    regular = elementwise.where(is_regular, size, 1.0)
    exponent = elementwise.floor(elementwise.log2(regular)).astype(np.int32) + 1
    mantissa = _ldexp(regular, -exponent)
    # The logarithm of a number next to a power of 2 may be rounded to the logarithm of the power.
    for is_beyond, factor, step in ((mantissa >= 1, 0.5, 1), (mantissa < 0.5, 2.0, -1)):
        mantissa = elementwise.where(is_beyond, mantissa * factor, mantissa)
        exponent = elementwise.where(is_beyond, exponent + step, exponent)
    signed = elementwise.copysign(mantissa, own).astype(own.dtype, copy=False)
    return (
        elementwise.where(is_regular, signed, own),
        elementwise.where(is_regular, exponent, 0),
    )


def _modf(x: Array, /) -> tuple[Array, Array]:
    """Return the fractional and integral parts, both with the sign of x, as ``numpy.modf``."""
    own = _real_floats("modf", x)
    whole = elementwise.trunc(own)
    fraction = elementwise.where(elementwise.isinf(own), 0.0, own - whole)
    return elementwise.copysign(fraction, own), whole


def _spacing(x: Array, /) -> Array:
    own = _real_floats("spacing", x)
    away = elementwise.copysign(elementwise.where(elementwise.isnan(own), own, math.inf), own)
    found: Array = elementwise.nextafter(own, away) - own
    return found


def _reciprocal(x: Array, /) -> Array:
    """Return 1 / x, as ``numpy.reciprocal``. The results for integers are integers."""
    own = x.astype(np.int8) if x.dtype.kind == "b" else x
    if own.dtype.kind not in "iu":
        return elementwise.reciprocal(own)
    found: Array = elementwise.where(elementwise.abs(own) == 1, own, 0)
    return found


def _divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    return elementwise.floor_divide(x1, x2), elementwise.remainder(x1, x2)


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.cbrt: _cbrt,
    np.deg2rad: _scaled("deg2rad", _DEGREE),
    np.degrees: _scaled("degrees", 1 / _DEGREE),
    np.divmod: _divmod,
    np.exp2: _exp2,
    np.fabs: _fabs,
    np.float_power: _float_power,
    np.fmax: _ignoring_nan(elementwise.maximum),
    np.fmin: _ignoring_nan(elementwise.minimum),
    np.fmod: _fmod,
    np.frexp: _frexp,
    np.ldexp: _ldexp,
    np.logaddexp2: _logaddexp2,
    np.modf: _modf,
    np.rad2deg: _scaled("rad2deg", 1 / _DEGREE),
    np.radians: _scaled("radians", _DEGREE),
    np.reciprocal: _reciprocal,
    np.spacing: _spacing,
}
