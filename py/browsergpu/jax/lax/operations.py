"""Elementwise functions with the names of ``jax.lax``: operands have one dtype and shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import elementwise as own
from browsergpu.functions import special
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays.array import JAX, as_jax, cast
from browsergpu.jax.arrays.operands import array, operand, promoted
from browsergpu.jax.lax.control import associative_scan
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY

#: The functions by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: JAX's names of functions of one array, and whether these take floats only.
_UNARY: dict[str, tuple[Any, bool]] = {
    **{name: (NUMPY[name], True) for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "exp",
        "exp2", "expm1", "floor", "log", "log1p", "reciprocal", "sin", "sinh", "sqrt", "tan",
        "tanh",
    )},
    **{name: (NUMPY[name], False) for name in ("abs", "conj", "sign", "square")},
    "neg": (NUMPY["negative"], False), "bitwise_not": (NUMPY["invert"], False),
    "is_finite": (NUMPY["isfinite"], True), "real": (NUMPY["real"], False),
    "imag": (NUMPY["imag"], False),
    "erf": (special.erf, True), "erfc": (special.erfc, True), "erf_inv": (special.erfinv, True),
    "lgamma": (special.gammaln, True), "digamma": (special.digamma, True),
    "logistic": (special.expit, True), "bessel_i0e": (special.i0e, True),
    "bessel_i1e": (special.i1e, True),
}  # fmt: skip
_BINARY: dict[str, Any] = {
    "add": own.add, "sub": own.subtract, "mul": own.multiply, "max": own.maximum,
    "min": own.minimum, "eq": own.equal, "ne": own.not_equal, "lt": own.less, "le": own.less_equal,
    "gt": own.greater, "ge": own.greater_equal, "atan2": own.atan2, "nextafter": own.nextafter,
    "bitwise_and": own.bitwise_and, "bitwise_or": own.bitwise_or, "bitwise_xor": own.bitwise_xor,
    "shift_left": own.bitwise_left_shift, "shift_right_arithmetic": own.bitwise_right_shift,
}  # fmt: skip


def same(op: str, *given: Any) -> list[Any]:
    """Return operands of one dtype and shape. Numbers and arrays without axes broadcast.

    Raises InvalidType for others, as JAX does.
    """
    found = [operand(op, x) for x in given]
    kinds = {x.dtype.name: None for x in found if type(x) in JAX}
    numbers = {type(x) for x in found if type(x) not in JAX}
    if not kinds and len(numbers) > 1:
        kinds = {array(op, x).dtype.name: None for x in found}
    if len(kinds) > 1:
        advice = f"jnp.{op} promotes dtypes." if op in NUMPY else "Cast with x.astype()."
        told = Description(", ".join(kinds))
        raise InvalidType(f"lax.{op}", "x, y", told, "of the same dtypes", advice)
    shapes = {tuple(x.shape) for x in found if type(x) in JAX and x.ndim}
    if len({len(shape) for shape in shapes}) > 1:
        told = Description(", ".join(map(str, sorted(shapes))))
        raise InvalidType(f"lax.{op}", "x, y", told, "of the same number of axes",
                          f"jnp.{op} broadcasts." if op in NUMPY else "")  # fmt: skip
    return promoted(op, *found)


def _enter(name: str, call: Any) -> None:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``lax.{name}`` of each element."
    FUNCTIONS[name] = call


def _of_one(name: str, function: Any, floats: bool) -> None:
    def of_one(x: Any, /, accuracy: Any = None) -> Any:
        if accuracy is not None:
            raise InvalidArgument(f"lax.{name}", "accuracy", accuracy, "None")
        given = array(name, x)
        if floats and given.dtype.kind not in "fc":
            raise InvalidType(f"lax.{name}", "x", given.dtype, "floats")
        return as_jax(function(given))

    _enter(name, of_one)


def _of_two(name: str, function: Any) -> None:
    def of_two(x: Any, y: Any, /) -> Any:
        return as_jax(function(*same(name, x, y)))

    _enter(name, of_two)


for _name, _row in _UNARY.items():
    _of_one(_name, *_row)
for _name, _function in _BINARY.items():
    _of_two(_name, _function)


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """Enter a function under its own name without a final underscore."""
    FUNCTIONS[function.__name__.removesuffix("_")] = function
    return function


@public
def div(x: Any, y: Any) -> Any:
    """Return the quotients. Those of integers are rounded towards zero."""
    a, b = same("div", x, y)
    if a.dtype.kind not in "iu":
        return as_jax(own.divide(a, b))
    found = own.floor_divide(a, b)
    if a.dtype.kind == "u":
        return as_jax(found)
    is_inexact = own.not_equal(found * b, a)
    is_negative = own.not_equal(own.less(a, 0), own.less(b, 0))
    return as_jax(own.where(own.logical_and(is_inexact, is_negative), found + 1, found))


@public
def rem(x: Any, y: Any) -> Any:
    """Return the remainders, with the sign of ``x``."""
    return NUMPY["fmod"](*same("rem", x, y))


@public
def pow(x: Any, y: Any) -> Any:
    """Return ``x`` to the power of ``y``, whose integers may be of another dtype."""
    base, exponent = array("pow", x), operand("pow", y)
    if type(exponent) in JAX and exponent.dtype != base.dtype and exponent.dtype.kind not in "iu":
        told = Description(f"{base.dtype}, {exponent.dtype}")
        raise InvalidType("lax.pow", "x, y", told, "of the same dtypes")
    if type(exponent) in JAX:
        exponent = cast(exponent, base.dtype)
    return as_jax(own.pow(base, exponent))


@public
def integer_pow(x: Any, y: int) -> Any:
    """Return ``x`` to the power of a Python integer."""
    base = array("integer_pow", x)
    if y < 0 and base.dtype.kind in "iu":
        raise InvalidType("lax.integer_pow", "y", y, "at least 0 for integers")
    return as_jax(own.pow(base, int(y)))


@public
def rsqrt(x: Any, accuracy: Any = None) -> Any:
    """Return ``1 / sqrt(x)``."""
    if accuracy is not None:
        raise InvalidArgument("lax.rsqrt", "accuracy", accuracy, "None")
    given = array("rsqrt", x)
    if given.dtype.kind not in "fc":
        raise InvalidType("lax.rsqrt", "x", given.dtype, "floats")
    return as_jax(own.reciprocal(own.sqrt(given)))


@public
def round_(x: Any, rounding_method: Any = 0) -> Any:
    """Round to integers: halves away from zero, or to even with ``RoundingMethod(1)``."""
    given = array("round", x)
    method = int(getattr(rounding_method, "value", rounding_method))
    if method == 1:
        return as_jax(own.round(given))
    if method != 0:
        expected = "RoundingMethod.AWAY_FROM_ZERO or TO_NEAREST_EVEN"
        raise InvalidArgument("lax.round", "rounding_method", rounding_method, expected)
    whole = own.trunc(given)
    is_half = own.greater_equal(own.abs(given - whole), 0.5)
    return as_jax(own.where(is_half, whole + own.copysign(own.abs(given) * 0 + 1, given), whole))


@public
def clamp(min: Any, x: Any, max: Any) -> Any:
    """Limit elements to a range."""
    given = array("clamp", x)
    low, high = (cast(array("clamp", one), given.dtype) for one in (min, max))
    return as_jax(own.minimum(own.maximum(given, low), high))


@public
def complex(x: Any, y: Any) -> Any:
    """Return complex numbers of real and imaginary parts."""
    a, b = [array("complex", one) for one in same("complex", x, y)]
    return as_jax(own.complex_number(a, b))


@public
def shift_right_logical(x: Any, y: Any) -> Any:
    """Shift bits to the right, and fill with zeros."""
    a, b = same("shift_right_logical", x, y)
    if a.dtype.kind == "u":
        return as_jax(own.bitwise_right_shift(a, b))
    if a.dtype.itemsize != 4:
        raise InvalidType("lax.shift_right_logical", "x", a.dtype, "int32 or an unsigned integer")
    found = own.bitwise_right_shift(cast(a, "uint32"), cast(array("shift", b), "uint32"))
    return cast(as_jax(found), "int32")


@public
def population_count(x: Any) -> Any:
    """Return the number of bits that are 1, in the dtype of the integers."""
    given = array("population_count", x)
    return cast(NUMPY["bitwise_count"](given), given.dtype)


@public
def clz(x: Any) -> Any:
    """Return the number of leading zero bits."""
    given = array("clz", x)
    bits = given.dtype.itemsize * 8
    if given.dtype.kind != "u":
        raise InvalidType("lax.clz", "x", given.dtype, "unsigned integers")
    spread = given
    for step in (1, 2, 4, 8, 16):
        if step < bits:
            spread = own.bitwise_or(spread, own.bitwise_right_shift(spread, step))
    return bits - NUMPY["bitwise_count"](as_jax(spread)).astype(given.dtype)


@public
def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Return floats rounded to float16's precision, or as they are for float32's."""
    given = array("reduce_precision", operand)
    if (exponent_bits, mantissa_bits) == (8, 23):
        return given
    if (exponent_bits, mantissa_bits) != (5, 10):
        told = (exponent_bits, mantissa_bits)
        raise InvalidArgument("lax.reduce_precision", "bits", told, "(8, 23) or (5, 10)")
    return cast(cast(given, "float16"), given.dtype)


def _cumulative(name: str, function: Callable[..., Any]) -> None:
    def call(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        given = array(name, operand)
        if not 0 <= axis < given.ndim:
            raise InvalidArgument(f"lax.{name}", "axis", axis, f"from 0 to {given.ndim - 1}")
        if reverse:
            given = NUMPY["flip"](given, axis)
        found = as_jax(function(given, axis))
        return NUMPY["flip"](found, axis) if reverse else found

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``lax.{name}`` along an axis, from the end with ``reverse``."
    FUNCTIONS[name] = call


def _scanned(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, axis: int) -> Any:
        return associative_scan(function, x, axis=axis)

    return call


_cumulative("cumsum", lambda x, n: sorting.cumulative_sum(x, axis=n, dtype=x.dtype))
_cumulative("cumprod", lambda x, n: sorting.cumulative_prod(x, axis=n, dtype=x.dtype))
_cumulative("cummax", _scanned(own.maximum))
_cumulative("cummin", _scanned(own.minimum))
_cumulative("cumlogsumexp", _scanned(own.logaddexp))
