"""Functions of each element. All take arrays, of which one may be a Python number, that broadcast
to one shape, and give an array of it; a chain of them is one kernel. Complex numbers have the
branch cuts and special cases of C17's Annex G."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.array import apply
from browsergpu.array.array import Array
from browsergpu.array.functions import operands
from browsergpu.array.value import Value
from browsergpu.core.errors import InvalidType


def _unary(name: str, text: str) -> Callable[[Array], Array]:
    def function(x: Array, /) -> Array:
        return apply.unary(name, operands.array(name, "x", x))

    _name(function, name, text)
    return function


def _binary(name: str, text: str) -> Callable[[Any, Any], Array]:
    def function(x1: Any, x2: Any, /) -> Array:
        if not isinstance(x1, Value):
            operands.array(name, "x2", x2)
        found = apply.binary(name, x1, x2)
        if found is NotImplemented:
            raise InvalidType(name, "x1, x2", (x1, x2), "arrays, or an array and a number")
        return found  # type: ignore[no-any-return]

    _name(function, name, text)
    return function


def _name(function: Any, name: str, text: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """x1 where a condition is true, else x2; one of these may be a Python number."""
    operands.array("where", "condition", condition)
    return apply.apply("where", condition, condition, x1, x2)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The elements moved into a range; either end may be None. The dtype is x's."""
    operands.array("clip", "x", x)
    found = x
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is not None:
            found = apply.binary(name, found, bound)
    return apply.cast_to("clip", found, x.node.kind, copy=found is x)


abs = _unary("abs", "The absolute value; of complex numbers float32.")
acos = _unary("acos", "The angle from 0 to π whose cosine it is. Floats, complex.")
acosh = _unary("acosh", "The hyperbolic arc cosine. Floats, complex.")
add = _binary("add", "a + b; of bools whether one is true.")
asin = _unary("asin", "The angle from -π/2 to π/2 whose sine it is. Floats, complex.")
asinh = _unary("asinh", "The hyperbolic arc sine. Floats, complex.")
atan = _unary("atan", "The angle from -π/2 to π/2 whose tangent it is. Floats, complex.")
atan2 = _binary("atan2", "The angle from -π to π of the point (x2, x1). Floats.")
atanh = _unary("atanh", "The hyperbolic arc tangent. Floats, complex.")
bitwise_and = _binary(
    "bitwise_and", "Each bit, or bool, that is set in both. Whole numbers and bool."
)
bitwise_invert = _unary("bitwise_invert", "Each bit, or bool, inverted. Whole numbers and bool.")
bitwise_left_shift = _binary("bitwise_left_shift", "a with its bits moved up by b. Whole numbers.")
bitwise_or = _binary(
    "bitwise_or", "Each bit, or bool, that is set in one at least. Whole numbers and bool."
)
bitwise_right_shift = _binary(
    "bitwise_right_shift", "a with its bits moved down by b, the sign kept. Whole numbers."
)
bitwise_xor = _binary(
    "bitwise_xor", "Each bit, or bool, that is set in one only. Whole numbers and bool."
)
ceil = _unary("ceil", "The least whole number that is not less. Real numbers.")
conj = _unary("conj", "The complex conjugate. Numbers.")
copysign = _binary("copysign", "The size of a with the sign of b. Floats.")
cos = _unary("cos", "The cosine, of radians. Floats, complex.")
cosh = _unary("cosh", "The hyperbolic cosine. Floats, complex.")
divide = _binary("divide", "a / b. Floats, complex; whole numbers become float32.")
equal = _binary("equal", "Whether they are equal.")
exp = _unary("exp", "e to the power of it. Floats, complex.")
expm1 = _unary("expm1", "exp(x) - 1, also near 0. Floats, complex.")
floor = _unary("floor", "The greatest whole number that is not greater. Real numbers.")
floor_divide = _binary(
    "floor_divide", "a / b, rounded down; whole numbers by 0 give 0. Real numbers."
)
greater = _binary("greater", "Whether a > b. Real numbers.")
greater_equal = _binary("greater_equal", "Whether a >= b. Real numbers.")
hypot = _binary("hypot", "The length of (x1, x2). Floats.")
imag = _unary("imag", "The imaginary part; of complex numbers float32.")
isfinite = _unary("isfinite", "Whether it is neither infinite nor NaN.")
isinf = _unary("isinf", "Whether it is infinite.")
isnan = _unary("isnan", "Whether it is NaN.")
logaddexp = _binary("logaddexp", "The logarithm of e to the x1 plus e to the x2. Floats.")
less = _binary("less", "Whether a < b. Real numbers.")
less_equal = _binary("less_equal", "Whether a <= b. Real numbers.")
log = _unary("log", "The natural logarithm. Floats, complex.")
log10 = _unary("log10", "The logarithm to base 10. Floats, complex.")
log1p = _unary("log1p", "log(1 + x), also near 0. Floats, complex.")
log2 = _unary("log2", "The logarithm to base 2. Floats, complex.")
logical_and = _binary("logical_and", "Whether both are true; anything but 0 is.")
logical_not = _unary("logical_not", "Whether it is not true; anything but 0 is.")
logical_or = _binary("logical_or", "Whether one at least is true.")
logical_xor = _binary("logical_xor", "Whether one only is true.")
maximum = _binary("maximum", "The greater one; NaN where one is NaN. Real numbers.")
minimum = _binary("minimum", "The smaller one; NaN where one is NaN. Real numbers.")
multiply = _binary("multiply", "a b; of bools whether both are true.")
negative = _unary("negative", "The number with the other sign; unsigned ones wrap around. Numbers.")
nextafter = _binary("nextafter", "The next float32 from x1 towards x2. Floats.")
not_equal = _binary("not_equal", "Whether they differ.")
positive = _unary("positive", "The number itself. Numbers.")
pow = _binary("pow", "x1 to the power of x2. Numbers.")
real = _unary("real", "The real part; of complex numbers float32.")
reciprocal = _unary("reciprocal", "1 / x. Floats, complex.")
remainder = _binary(
    "remainder", "a - b floor(a / b), of b's sign; of whole numbers by 0, 0. Real numbers."
)
round = _unary("round", "The nearest whole number, of two equally near ones the even one. Numbers.")
sign = _unary("sign", "-1, 0 or 1; of complex numbers x / |x|. Numbers.")
signbit = _unary("signbit", "Whether the sign is minus, also of 0 and NaN. Floats.")
sin = _unary("sin", "The sine, of radians. Floats, complex.")
sinh = _unary("sinh", "The hyperbolic sine. Floats, complex.")
sqrt = _unary("sqrt", "The square root, NaN of negative numbers. Floats, complex.")
square = _unary("square", "x * x. Numbers.")
subtract = _binary("subtract", "a - b. Numbers.")
tan = _unary("tan", "The tangent, of radians. Floats, complex.")
tanh = _unary("tanh", "The hyperbolic tangent. Floats, complex.")
trunc = _unary("trunc", "The number without what is behind the point. Real numbers.")
