"""Elementwise functions of ``jax.numpy``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from browsergpu.arrays import apply
from browsergpu.engine.core.element_types import (
    COMPLEX64,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    UINT8,
    UINT16,
    UINT32,
)
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import elementwise as own
from browsergpu.functions.linalg import linear
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JaxArray, as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array, inexact, promoted
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public

_unary, _binary = exclusive(apply.unary), exclusive(apply.binary)
_FLOATS = frozenset((FLOAT16, FLOAT32, COMPLEX64))
_NUMBERS = _FLOATS | {INT8, INT16, INT32, UINT8, UINT16, UINT32}

#: Functions whose results are floats: names, and the function of an array.
_TO_FLOATS: dict[str, Any] = {
    **{name: getattr(own, name) for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log",
        "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh",
    )},
    "arccos": own.acos, "arccosh": own.acosh, "arcsin": own.asin, "arcsinh": own.asinh,
    "arctan": own.atan, "arctanh": own.atanh, "rint": own.round,
    **dict.fromkeys(("cbrt", "exp2", "fabs", "sinc",
                     "spacing", "frexp", "modf", "signbit"), ""),
}  # fmt: skip
#: Functions that keep the dtype, or give bools.
_OF_ANY: dict[str, Any] = {
    "abs": own.abs, "absolute": own.abs, "negative": own.negative, "positive": own.positive,
    "sign": own.sign, "square": own.square, "bitwise_not": own.bitwise_invert,
    "bitwise_invert": own.bitwise_invert, "invert": own.bitwise_invert,
    "logical_not": own.logical_not, "isfinite": own.isfinite, "isinf": own.isinf,
    "isnan": own.isnan,
    **dict.fromkeys(("conj", "conjugate", "real", "imag", "isneginf", "isposinf", "isreal",
                     "iscomplex", "nan_to_num", "angle", "bitwise_count"), ""),
}  # fmt: skip
#: Functions that round floats, and return integers as they are.
_ROUNDED = {"floor": own.floor, "ceil": own.ceil, "trunc": own.trunc}
_OF_FLOATS_2: dict[str, Any] = {
    "divide": own.divide, "true_divide": own.divide, "arctan2": own.atan2, "atan2": own.atan2,
    "hypot": own.hypot, "copysign": own.copysign, "nextafter": own.nextafter,
    "logaddexp": own.logaddexp,
    **dict.fromkeys(("logaddexp2", "float_power", "heaviside"), ""),
}  # fmt: skip
_OF_TWO: dict[str, Any] = {
    "add": own.add, "subtract": own.subtract, "multiply": own.multiply, "maximum": own.maximum,
    "minimum": own.minimum, "equal": own.equal, "not_equal": own.not_equal, "less": own.less,
    "less_equal": own.less_equal, "greater": own.greater, "greater_equal": own.greater_equal,
    "bitwise_and": own.bitwise_and, "bitwise_or": own.bitwise_or, "bitwise_xor": own.bitwise_xor,
    "left_shift": own.bitwise_left_shift, "bitwise_left_shift": own.bitwise_left_shift,
    "right_shift": own.bitwise_right_shift, "bitwise_right_shift": own.bitwise_right_shift,
    "logical_and": own.logical_and, "logical_or": own.logical_or, "logical_xor": own.logical_xor,
    "floor_divide": own.floor_divide, "remainder": own.remainder, "mod": own.remainder,
    "power": own.pow, "pow": own.pow,
    **dict.fromkeys(("fmax", "fmin", "fmod", "gcd", "lcm"), ""),
}  # fmt: skip
#: Functions for which two bools count as int32.
_OF_WHOLE = frozenset((
    "floor_divide", "remainder", "mod", "power", "pow", "left_shift", "right_shift",
    "bitwise_left_shift", "bitwise_right_shift", "fmod",
))  # fmt: skip


def _composed(name: str) -> Callable[..., Any]:
    """Return a function of browsergpu that takes arrays of the base class."""

    def call(*given: Any) -> Any:
        return wrappers.own(name)(*map(unwrapped, given))

    return call


def _of_one(name: str, function: Any, prepare: Any, quick: frozenset[Any]) -> Any:
    operation = own.OPERATIONS.get(function) if function else None
    run = function or _composed(name)

    def of_one(x: Any, /) -> Any:
        if type(x) is JaxArray and operation is not None and x.node.kind in quick:
            return _unary(operation, x)
        return as_jax(run(prepare(name, x)))

    return of_one


def _of_two(name: str, function: Any, floats: bool) -> Any:
    operation = own.OPERATIONS.get(function) if function else None
    run = function or _composed(name)
    quick = _FLOATS if floats else _NUMBERS
    is_of_whole = name in _OF_WHOLE

    def of_two(x: Any, y: Any, /) -> Any:
        if type(x) is JaxArray and operation is not None:
            kind, other = x.node.kind, type(y)
            if other is JaxArray:
                if kind is y.node.kind and kind in quick:
                    return _binary(operation, x, y)
            elif (other is float or other is int) and kind in _FLOATS:
                return _binary(operation, x, y)
        own = promoted(name, x, y, floats=floats)
        if is_of_whole and all(_is_bool(one) for one in own):
            own = [cast(array(name, one), dtypes.INT32) for one in own]
        return as_jax(run(*own))

    return of_two


def _is_bool(x: Any) -> bool:
    return x.dtype.kind == "b" if isinstance(x, JaxArray) else isinstance(x, bool)


def _enter(name: str, call: Any, doc: str) -> None:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    FUNCTIONS[name] = call


def _rounded(name: str, function: Any) -> Any:
    def of_one(x: Any, /) -> Any:
        given = array(name, x)
        return given if given.dtype.kind in "biu" else function(given)

    return of_one


for _name, _function in _TO_FLOATS.items():
    _enter(_name, _of_one(_name, _function, inexact, _FLOATS),
           f"Return ``jnp.{_name}`` of each element. Integers become float32.")  # fmt: skip
for _name, _function in _OF_ANY.items():
    _enter(_name, _of_one(_name, _function, array, _NUMBERS),
           f"Return ``jnp.{_name}`` of each element.")  # fmt: skip
for _name, _function in _ROUNDED.items():
    _enter(_name, _rounded(_name, _function), f"Return ``jnp.{_name}`` of each element.")
for _name, _function in _OF_FLOATS_2.items():
    _enter(_name, _of_two(_name, _function, floats=True),
           f"Return ``jnp.{_name}`` of each pair. Integers become float32.")  # fmt: skip
for _name, _function in _OF_TWO.items():
    _enter(_name, _of_two(_name, _function, floats=False),
           f"Return ``jnp.{_name}`` of each pair of elements.")  # fmt: skip


def _without_bools(name: str, function: Any) -> Any:
    """Return a function that returns bools as they are."""

    def of_one(x: Any, /) -> Any:
        given = array(name, x)
        return given if given.dtype.kind == "b" else function(given)

    return of_one


def _of_whole(name: str, function: Any) -> Any:
    """Return a function for which bools count as int32."""

    def of_one(x: Any, /) -> Any:
        given = x if type(x) is JaxArray else array(name, x)
        return function(cast(given, dtypes.INT32) if given.dtype.kind == "b" else given)

    return of_one


for _name in ("positive", "conj", "conjugate"):
    _enter(_name, _without_bools(_name, FUNCTIONS[_name]), FUNCTIONS[_name].__doc__)
_enter("square", _of_whole("square", FUNCTIONS["square"]), FUNCTIONS["square"].__doc__)


def _scaled(name: str, factor: float) -> Any:
    def of_one(x: Any, /) -> Any:
        return inexact(name, x) * factor

    return of_one


for _name, _factor in (("rad2deg", 180 / math.pi), ("degrees", 180 / math.pi),
                       ("deg2rad", math.pi / 180), ("radians", math.pi / 180)):  # fmt: skip
    _enter(_name, _scaled(_name, _factor), f"Return ``jnp.{_name}`` of each element.")


@public()
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Replace NaN and infinities by numbers. ``copy`` is only for compatibility."""
    given = unwrapped(array("nan_to_num", x))
    return as_jax(wrappers.own("nan_to_num")(given, nan=nan, posinf=posinf, neginf=neginf))


@public()
def angle(z: Any, deg: bool = False) -> Any:
    """Return the angles of complex numbers in radians, or in degrees."""
    return as_jax(wrappers.own("angle")(unwrapped(inexact("angle", z)), deg))


def _absolute(name: str) -> Any:
    quick = FUNCTIONS[name]

    def of_one(x: Any, /) -> Any:
        given = array(name, x)
        if type(given) is JaxArray or given.dtype.kind != "f":
            return quick(given)
        # The gradient at 0 is 1, as in JAX. The sum removes the sign of -0.0.
        return as_jax(own.where(own.greater_equal(given, 0), given, own.negative(given)) + 0.0)

    return of_one


for _name in ("abs", "absolute", "fabs"):
    _enter(_name, _absolute(_name), FUNCTIONS[_name].__doc__)


def _ignoring_nan(name: str, is_ahead: Any) -> Any:
    """Return ``fmax`` or ``fmin``. The second of two equal elements gets the gradient."""
    quick = FUNCTIONS[name]

    def of_two(x: Any, y: Any, /) -> Any:
        one, other = [array(name, x) for x in promoted(name, x, y)]
        if one.dtype.kind != "f":
            return quick(one, other)
        is_first = own.logical_or(is_ahead(one, other), own.isnan(other))
        return as_jax(own.where(is_first, one, other))

    return of_two


for _name, _ahead in (("fmax", own.greater), ("fmin", own.less)):
    _enter(_name, _ignoring_nan(_name, _ahead), FUNCTIONS[_name].__doc__)


@public()
def i0(x: Any, /) -> Any:
    """Return the modified Bessel function of the first kind and order 0 of real numbers."""
    given = inexact("i0", x)
    if given.dtype.kind == "c":
        raise InvalidType("i0", "x", given.dtype, "real numbers")
    return as_jax(wrappers.own("i0")(unwrapped(given)))


@public()
def divmod(x: Any, y: Any, /) -> Any:
    """Return the floor of the quotients, and the remainders."""
    return FUNCTIONS["floor_divide"](x, y), FUNCTIONS["remainder"](x, y)


@public()
def ldexp(x: Any, y: Any, /) -> Any:
    """Return ``x * 2**y``."""
    exponent = array("ldexp", y)
    if exponent.dtype.kind not in "biu":
        raise InvalidType("ldexp", "y", exponent.dtype, "integers")
    own_x = inexact("ldexp", x)
    return as_jax(wrappers.own("ldexp")(unwrapped(own_x), unwrapped(exponent)))


@public()
def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Any:
    """Limit elements to a range."""
    found = array("clip", arr)
    if found.dtype.kind == "c":
        raise InvalidType("clip", "arr", found.dtype, "real numbers")
    if min is not None:
        found = FUNCTIONS["maximum"](found, min)
    return found if max is None else FUNCTIONS["minimum"](found, max)


@public("round", "around")
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to a number of decimals, halves to even."""
    wrappers.refuse("round", out=out)
    given = array("round", a)
    if given.dtype.kind == "b":
        raise InvalidType("round", "a", given.dtype, "numbers")
    return as_jax(wrappers.own("round")(unwrapped(given), decimals))


@public()
def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Return the matrix product. Every ``precision`` of JAX has float32's rounding."""
    a, b = in_wider("matmul", preferred_element_type, a, b)
    if type(a) is JaxArray and type(b) is JaxArray and a.node.kind is b.node.kind is FLOAT32:
        found = linear.matmul(a, b)
    else:
        found = as_jax(linear.matmul(*[array("matmul", x) for x in promoted("matmul", a, b)]))
    return in_dtype("matmul", found, precision, preferred_element_type)


def in_wider(op: str, preferred_element_type: Any, *given: Any) -> list[Any]:
    """Return the operands of a product, in the dtype of the result if that is wider."""
    if preferred_element_type is None:
        return list(given)
    kind = dtypes.dtype_of(op, preferred_element_type)
    own = [array(op, x) for x in given]
    is_wider = all(dtypes.promoted(x.dtype, kind) == kind for x in own)
    return [cast(x, kind) for x in own] if is_wider else own


def in_dtype(op: str, found: Any, precision: Any, preferred_element_type: Any) -> Any:
    """Return a product in the requested dtype. Every precision is that of float32."""
    if precision is not None:
        check_precision(op, precision)
    if preferred_element_type is None:
        return found
    return cast(found, dtypes.dtype_of(op, preferred_element_type))


def check_precision(op: str, precision: Any) -> None:
    """Raise InvalidType for a precision that is not one of JAX's."""
    for one in precision if isinstance(precision, tuple) else (precision,):
        name = getattr(one, "name", one)
        if one is not None and str(name).lower() not in _PRECISIONS:
            raise InvalidType(op, "precision", precision, "'default', 'high' or 'highest'")


_PRECISIONS = frozenset((
    "default", "high", "highest", "fastest", "bfloat16", "tensorfloat32", "float32",
))  # fmt: skip

for _name in (*_TO_FLOATS, *_OF_ANY, *_ROUNDED, *_OF_FLOATS_2, *_OF_TWO):
    globals()[_name] = FUNCTIONS[_name]
