"""Functions of each element. All take arrays, of which one may be a Python number, that broadcast
to one shape, and give an array of it; a chain of them is one kernel. Complex numbers have the
branch cuts and special cases of C17's Annex G."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.value import Value
from browsergpu.core.errors import InvalidType
from browsergpu.functions import operands

Rule = Callable[..., Any]
OfOne = Callable[[Array], Array]
OfTwo = Callable[[Any, Any], Array]
_LN2, _LN10 = math.log(2.0), math.log(10.0)

#: The functions that are a single operation, and the operation's name.
OPERATIONS: dict[Callable[..., Any], str] = {}


def _unary(name: str, text: str, rule: Rule | None = None) -> OfOne:
    """A function of one array, and its rule; without one its results have no gradient."""

    def function(x: Array, /) -> Array:
        return apply.unary(name, operands.array(name, "x", x))

    _name(function, name, text)
    made = differentiable(x=rule)(function) if rule else constant(function)
    OPERATIONS[made] = name
    return made


def _binary(name: str, text: str, x1: Rule | None = None, x2: Rule | None = None) -> OfTwo:
    """A function of two arrays, and the rules of both."""

    def function(x1: Any, x2: Any, /) -> Array:
        if not isinstance(x1, Value):
            operands.array(name, "x2", x2)
        found = apply.binary(name, x1, x2)
        if found is NotImplemented:
            raise InvalidType(name, "x1, x2", (x1, x2), "arrays, or an array and a number")
        return found  # type: ignore[no-any-return]

    _name(function, name, text)
    made = differentiable(x1=x1, x2=x2)(function) if x1 and x2 else constant(function)
    OPERATIONS[made] = name
    return made


def _name(function: Any, name: str, text: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text


def _c(x: Any) -> Any:
    """A factor of a gradient: the conjugate, where that is another number."""
    if isinstance(x, Array):
        return conj(x) if x.dtype.kind == "c" else x
    return x.conjugate()


def _share(own: Any, other: Any, is_ahead: Callable[[Any, Any], Array]) -> Array:
    """How much of a gradient goes to the one that is ahead: all, and half where they are equal."""
    return where(is_ahead(own, other), 1.0, where(equal(own, other), 0.5, 0.0))


def _of_base(g: Array, x1: Any, x2: Any) -> Any:
    slope = x2 * pow(x1, x2 - 1)
    if isinstance(x2, Array):  # where the exponent is 0 the power is 1, also of 0
        slope = where(equal(x2, 0), 0, slope)
    elif x2 == 0:
        slope = 0
    return g * _c(slope)


def _of_exponent(g: Array, y: Array, x1: Any) -> Any:
    is_complex = y.dtype.kind == "c"
    if not isinstance(x1, Array):
        if x1 == 0 or (not is_complex and x1 < 0):
            return g * 0
        return g * _c(y * (cmath.log(x1) if is_complex else math.log(x1)))
    if is_complex:
        known = where(equal(x1, 0), 1, x1).astype(y.dtype)
    else:
        known = where(greater(x1, 0), x1, 1)
    return g * _c(y * log(known))


def _of_sign(g: Array, y: Array, x: Array) -> Any:
    """What of a gradient turns a complex number; real ones have nothing to turn."""
    if x.dtype.kind != "c":
        return None
    size = abs(x)
    turned = g - y * real(conj(y) * g)
    return where(equal(size, 0), 0, turned / where(equal(size, 0), 1, size))


def _chosen(condition: Array, x1: Any, x2: Any) -> Array:
    return where(condition, x1, x2)


@differentiable(
    x1=lambda g, condition: _chosen(condition, g, 0),
    x2=lambda g, condition: _chosen(condition, 0, g),
)
def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """x1 where a condition is true, else x2; one of these may be a Python number."""
    operands.array("where", "condition", condition)
    return apply.apply("where", condition, condition, x1, x2)


def _inside(g: Array, x: Array, min: Any, max: Any) -> Array:
    for is_out, bound in ((less, min), (greater, max)):
        if bound is not None:
            g = where(is_out(x, bound), 0, g)
    return g


def _of_lower(g: Array, x: Array, min: Any, max: Any) -> Array:
    """Of bounds the wrong way round the upper one is the result."""
    own = where(less(x, min), g, 0)
    return own if max is None else where(greater(min, max), 0, own)


def _of_upper(g: Array, x: Array, min: Any, max: Any) -> Array:
    own = where(greater(x, max), g, 0)
    return own if min is None else where(greater(min, max), g, own)


@differentiable(x=_inside, min=_of_lower, max=_of_upper)
def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Limit the elements to a range.

    Parameters
    ----------
    x : array
        Real numbers.
    min, max : array or number, optional
        The bounds. None leaves that side open.

    Returns
    -------
    array
        Of the dtype that x and the bounds promote to, as in NumPy: int32 with a bound of 1.5 gives
        float32. A Python integer outside of an integer dtype's range limits nothing on its side.

    Raises
    ------
    OverflowError
        Where a Python integer bound excludes every value of x's integer dtype.
    """
    operands.array("clip", "x", x)
    found = x
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is None or _limits_nothing(x, name, bound):
            continue
        found = apply.binary(name, found, bound)
        if found is NotImplemented:
            raise InvalidType(
                "clip", "min" if name == "maximum" else "max", bound, "an array or a number"
            )
    return apply.cast_to("clip", found, found.node.kind, copy=found is x)


def _limits_nothing(x: Array, name: str, bound: Any) -> bool:
    """Whether a Python integer lies beyond the range of x's dtype on the side that it limits."""
    kind = x.node.kind
    if type(bound) is not int or kind.kind not in "iu":
        return False
    limits = np.iinfo(kind.numpy)
    return bound < limits.min if name == "maximum" else bound > limits.max


abs: OfOne = _unary(
    "abs", "The absolute value; of complex numbers float32.", lambda g, x: g * sign(x)
)
acos: OfOne = _unary(
    "acos",
    "The angle from 0 to π whose cosine it is. Floats, complex.",
    lambda g, x: -g / _c(sqrt(1 - x * x)),
)
acosh: OfOne = _unary(
    "acosh",
    "The hyperbolic arc cosine. Floats, complex.",
    lambda g, x: g / _c(sqrt(x - 1) * sqrt(x + 1)),
)
add: OfTwo = _binary("add", "a + b; of bools whether one is true.", lambda g: g, lambda g: g)
asin: OfOne = _unary(
    "asin",
    "The angle from -π/2 to π/2 whose sine it is. Floats, complex.",
    lambda g, x: g / _c(sqrt(1 - x * x)),
)
asinh: OfOne = _unary(
    "asinh", "The hyperbolic arc sine. Floats, complex.", lambda g, x: g / _c(sqrt(x * x + 1))
)
atan: OfOne = _unary(
    "atan",
    "The angle from -π/2 to π/2 whose tangent it is. Floats, complex.",
    lambda g, x: g / _c(1 + x * x),
)
atan2: OfTwo = _binary(
    "atan2",
    "The angle from -π to π of the point (x2, x1). Floats.",
    lambda g, x1, x2: g * x2 / (x1 * x1 + x2 * x2),
    lambda g, x1, x2: -g * x1 / (x1 * x1 + x2 * x2),
)
atanh: OfOne = _unary(
    "atanh", "The hyperbolic arc tangent. Floats, complex.", lambda g, x: g / _c(1 - x * x)
)
bitwise_and: OfTwo = _binary(
    "bitwise_and", "Each bit, or bool, that is set in both. Whole numbers and bool."
)
bitwise_invert: OfOne = _unary(
    "bitwise_invert", "Each bit, or bool, inverted. Whole numbers and bool."
)
bitwise_left_shift: OfTwo = _binary(
    "bitwise_left_shift", "a with its bits moved up by b. Whole numbers."
)
bitwise_or: OfTwo = _binary(
    "bitwise_or", "Each bit, or bool, that is set in one at least. Whole numbers and bool."
)
bitwise_right_shift: OfTwo = _binary(
    "bitwise_right_shift", "a with its bits moved down by b, the sign kept. Whole numbers."
)
bitwise_xor: OfTwo = _binary(
    "bitwise_xor", "Each bit, or bool, that is set in one only. Whole numbers and bool."
)
ceil: OfOne = _unary("ceil", "The least whole number that is not less. Real numbers.")
conj: OfOne = _unary("conj", "The complex conjugate. Numbers.", lambda g: conj(g))
copysign: OfTwo = _binary(
    "copysign",
    "The size of a with the sign of b. Floats.",
    lambda g, y, x1: where(equal(sign(y), sign(x1)), g, -g),
    lambda g: g * 0,
)
cos: OfOne = _unary("cos", "The cosine, of radians. Floats, complex.", lambda g, x: -g * _c(sin(x)))
cosh: OfOne = _unary(
    "cosh", "The hyperbolic cosine. Floats, complex.", lambda g, x: g * _c(sinh(x))
)
divide: OfTwo = _binary(
    "divide",
    "a / b. Floats, complex; whole numbers become float32.",
    lambda g, x2: g / _c(x2),
    lambda g, y, x2: -g * _c(y / x2),
)
equal: OfTwo = _binary("equal", "Whether they are equal.")
exp: OfOne = _unary("exp", "e to the power of it. Floats, complex.", lambda g, y: g * _c(y))
expm1: OfOne = _unary(
    "expm1", "exp(x) - 1, also near 0. Floats, complex.", lambda g, y: g * _c(y + 1)
)
floor: OfOne = _unary("floor", "The greatest whole number that is not greater. Real numbers.")
floor_divide: OfTwo = _binary(
    "floor_divide", "a / b, rounded down; whole numbers by 0 give 0. Real numbers."
)
greater: OfTwo = _binary("greater", "Whether a > b. Real numbers.")
greater_equal: OfTwo = _binary("greater_equal", "Whether a >= b. Real numbers.")
hypot: OfTwo = _binary(
    "hypot",
    "The length of (x1, x2). Floats.",
    lambda g, y, x1: where(equal(y, 0), 0, g * x1 / y),
    lambda g, y, x2: where(equal(y, 0), 0, g * x2 / y),
)
imag: OfOne = _unary(
    "imag",
    "The imaginary part; of complex numbers float32.",
    lambda g, x_like: g * 1j if x_like.dtype.kind == "c" else None,
)
isfinite: OfOne = _unary("isfinite", "Whether it is neither infinite nor NaN.")
isinf: OfOne = _unary("isinf", "Whether it is infinite.")
isnan: OfOne = _unary("isnan", "Whether it is NaN.")
logaddexp: OfTwo = _binary(
    "logaddexp",
    "The logarithm of e to the x1 plus e to the x2. Floats.",
    lambda g, y, x1: g * exp(x1 - y),
    lambda g, y, x2: g * exp(x2 - y),
)
less: OfTwo = _binary("less", "Whether a < b. Real numbers.")
less_equal: OfTwo = _binary("less_equal", "Whether a <= b. Real numbers.")
log: OfOne = _unary("log", "The natural logarithm. Floats, complex.", lambda g, x: g / _c(x))
log10: OfOne = _unary(
    "log10", "The logarithm to base 10. Floats, complex.", lambda g, x: g / _c(x * _LN10)
)
log1p: OfOne = _unary(
    "log1p", "log(1 + x), also near 0. Floats, complex.", lambda g, x: g / _c(1 + x)
)
log2: OfOne = _unary(
    "log2", "The logarithm to base 2. Floats, complex.", lambda g, x: g / _c(x * _LN2)
)
logical_and: OfTwo = _binary("logical_and", "Whether both are true; anything but 0 is.")
logical_not: OfOne = _unary("logical_not", "Whether it is not true; anything but 0 is.")
logical_or: OfTwo = _binary("logical_or", "Whether one at least is true.")
logical_xor: OfTwo = _binary("logical_xor", "Whether one only is true.")
maximum: OfTwo = _binary(
    "maximum",
    "The greater one; NaN where one is NaN. Real numbers.",
    lambda g, x1, x2: g * _share(x1, x2, greater),
    lambda g, x1, x2: g * _share(x2, x1, greater),
)
minimum: OfTwo = _binary(
    "minimum",
    "The smaller one; NaN where one is NaN. Real numbers.",
    lambda g, x1, x2: g * _share(x1, x2, less),
    lambda g, x1, x2: g * _share(x2, x1, less),
)
multiply: OfTwo = _binary(
    "multiply",
    "a b; of bools whether both are true.",
    lambda g, x2: g * _c(x2),
    lambda g, x1: g * _c(x1),
)
negative: OfOne = _unary(
    "negative", "The number with the other sign; unsigned ones wrap around. Numbers.", lambda g: -g
)
nextafter: OfTwo = _binary("nextafter", "The next float32 from x1 towards x2. Floats.")
not_equal: OfTwo = _binary("not_equal", "Whether they differ.")
positive: OfOne = _unary("positive", "The number itself. Numbers.", lambda g: g)
pow: OfTwo = _binary("pow", "x1 to the power of x2. Numbers.", _of_base, _of_exponent)
real: OfOne = _unary("real", "The real part; of complex numbers float32.", lambda g: g)
reciprocal: OfOne = _unary("reciprocal", "1 / x. Floats, complex.", lambda g, y: -g * _c(y * y))
remainder: OfTwo = _binary(
    "remainder",
    "a - b floor(a / b), of b's sign; of whole numbers by 0, 0. Real numbers.",
    lambda g: g,
    lambda g, x1, x2: -g * floor(x1 / x2),
)
round: OfOne = _unary(
    "round", "The nearest whole number, of two equally near ones the even one. Numbers."
)
sign: OfOne = _unary("sign", "-1, 0 or 1; of complex numbers x / |x|. Numbers.", _of_sign)
signbit: OfOne = _unary("signbit", "Whether the sign is minus, also of 0 and NaN. Floats.")
sin: OfOne = _unary("sin", "The sine, of radians. Floats, complex.", lambda g, x: g * _c(cos(x)))
sinh: OfOne = _unary("sinh", "The hyperbolic sine. Floats, complex.", lambda g, x: g * _c(cosh(x)))
sqrt: OfOne = _unary(
    "sqrt", "The square root, NaN of negative numbers. Floats, complex.", lambda g, y: g / _c(2 * y)
)
square: OfOne = _unary("square", "x * x. Numbers.", lambda g, x: g * _c(2 * x))
subtract: OfTwo = _binary("subtract", "a - b. Numbers.", lambda g: g, lambda g: -g)
tan: OfOne = _unary(
    "tan", "The tangent, of radians. Floats, complex.", lambda g, y: g * _c(1 + y * y)
)
tanh: OfOne = _unary(
    "tanh", "The hyperbolic tangent. Floats, complex.", lambda g, y: g * _c(1 - y * y)
)
trunc: OfOne = _unary("trunc", "The number without what is behind the point. Real numbers.")
