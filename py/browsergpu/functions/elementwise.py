"""Elementwise functions of arrays.

Arrays broadcast to one shape, and one operand of a binary function may be a number. A chain of
operations is one fused kernel. Complex functions have the branch cuts and special cases of Annex G
of C17.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.value import Value
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import operands

Rule = Callable[..., Any]
Unary = Callable[[Array], Array]
Binary = Callable[[Any, Any], Array]
_LN2, _LN10 = math.log(2.0), math.log(10.0)

#: Operation name of each function that records a single operation.
OPERATIONS: dict[Callable[..., Any], str] = {}


class _Dtypes(NamedTuple):
    """The dtypes of operands and results, as the docstrings describe them."""

    operands: str
    result: str


_PROMOTED = "The dtype of the operands, promoted."
_AS_FLOAT32 = f"{_PROMOTED} Integers and bools count as float32."
_ANY = _Dtypes("Any dtype.", _PROMOTED)
_TO_BOOL = _Dtypes("Any dtype.", "bool.")
_TO_FLOAT32 = _Dtypes("Any dtype.", "The dtype of ``x``; float32 if ``x`` is complex.")
_NUMBERS = _Dtypes("Integers, floats or complex numbers.", _PROMOTED)
_POWER = _Dtypes("Any dtype.", f"{_PROMOTED} Bools give int8.")
_REAL = _Dtypes("Any dtype but complex64.", _PROMOTED)
_ARITHMETIC = _Dtypes("Any dtype but complex64.", f"{_PROMOTED} Bools give int8.")
_ORDER = _Dtypes("Any dtype but complex64.", "bool.")
_FLOATING = _Dtypes("Any dtype.", _AS_FLOAT32)
_REAL_FLOATING = _Dtypes("Any dtype but complex64.", _AS_FLOAT32)
_INTEGERS = _Dtypes("Integers or bools.", f"{_PROMOTED} Bools give int8.")
_INTEGERS_OR_BOOLS = _Dtypes("Integers or bools.", _PROMOTED)
_SIGN_BIT = _Dtypes("float32 or float16.", "bool.")

_DOC_UNARY = """{summary}

    Parameters
    ----------
    x : Array
        {operands}

    Returns
    -------
    Array
        An array of the shape of ``x``. {result}

    Raises
    ------
    InvalidType
        If ``x`` is not an array, or has another dtype.
    """
_DOC_BINARY = """{summary}

    Parameters
    ----------
    x1, x2 : Array or number
        {operands} The shapes broadcast. At least one operand is an array.

    Returns
    -------
    Array
        An array of the common shape. {result}

    Raises
    ------
    InvalidType
        If neither operand is an array, if one has another dtype, or if the arrays are on two
        devices.
    InvalidArgument
        If the shapes do not broadcast.
    """


def _unary(name: str, summary: str, dtypes: _Dtypes, rule: Rule | None = None) -> Unary:
    """Make a function of one array. Without a rule, its results have no gradient."""

    def function(x: Array, /) -> Array:
        return apply.unary(name, operands.array(name, "x", x))

    _describe(function, name, _DOC_UNARY, summary, dtypes)
    made = differentiable(x=rule)(function) if rule else constant(function)
    OPERATIONS[made] = name
    return made


def _binary(
    name: str, summary: str, dtypes: _Dtypes, x1: Rule | None = None, x2: Rule | None = None
) -> Binary:
    """Make a function of two arrays, with a gradient rule for each."""

    def function(x1: Any, x2: Any, /) -> Array:
        if not isinstance(x1, Value):
            operands.array(name, "x2", x2)
        found = apply.binary(name, x1, x2)
        if found is NotImplemented:
            raise InvalidType(name, "x1, x2", (x1, x2), "arrays, or an array and a number")
        return found  # type: ignore[no-any-return]

    _describe(function, name, _DOC_BINARY, summary, dtypes)
    made = differentiable(x1=x1, x2=x2)(function) if x1 and x2 else constant(function)
    OPERATIONS[made] = name
    return made


def _describe(function: Any, name: str, doc: str, summary: str, dtypes: _Dtypes) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.format(summary=summary, operands=dtypes.operands, result=dtypes.result)


def _conj_factor(x: Any) -> Any:
    """Return the conjugate of a gradient's factor, if it is complex."""
    if isinstance(x, Array):
        return conj(x) if x.dtype.kind == "c" else x
    return x.conjugate()


def _tie_share(own: Any, other: Any, is_ahead: Callable[[Any, Any], Array]) -> Array:
    """Return the share of a gradient for ``own``: 1 if it is ahead, and 0.5 if both are equal."""
    return where(is_ahead(own, other), 1.0, where(equal(own, other), 0.5, 0.0))


def _pow_base_gradient(g: Array, x1: Any, x2: Any) -> Any:
    slope = x2 * pow(x1, x2 - 1)
    if isinstance(x2, Array):  # 0 to the power of 0 is 1, a constant
        slope = where(equal(x2, 0), 0, slope)
    elif x2 == 0:
        slope = 0
    return g * _conj_factor(slope)


def _pow_exponent_gradient(g: Array, y: Array, x1: Any) -> Any:
    is_complex = y.dtype.kind == "c"
    if not isinstance(x1, Array):
        if x1 == 0:
            return g * 0
        if not is_complex and x1 < 0:  # the logarithm of a negative number is not real
            return g * math.nan
        return g * _conj_factor(y * (cmath.log(x1) if is_complex else math.log(x1)))
    known = where(equal(x1, 0), 1, x1)
    return g * _conj_factor(y * log(known.astype(y.dtype) if is_complex else known))


def _share_of_sum(g: Array, y: Array, x: Array) -> Any:
    """Return the gradient of a term of ``logaddexp``: its share of the sum, 1 where it is inf."""
    return g * exp(where(equal(x, y), 0, x - y))


def _no_slope(g: Array) -> int:
    """Return the gradient of steps, 0 also at the steps, as in PyTorch and JAX."""
    return 0


def _sign_gradient(g: Array, y: Array, x: Array) -> Any:
    """Return the gradient of a complex sign. The sign of a real number is constant."""
    if x.dtype.kind != "c":
        return 0
    size = abs(x)
    turned = g - y * real(conj(y) * g)
    return where(equal(size, 0), 0, turned / where(equal(size, 0), 1, size))


def _where(condition: Array, x1: Any, x2: Any) -> Array:
    return where(condition, x1, x2)


@differentiable(
    x1=lambda g, condition: _where(condition, g, 0),
    x2=lambda g, condition: _where(condition, 0, g),
)
def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Return elements of ``x1`` where ``condition`` is true, and of ``x2`` elsewhere.

    Parameters
    ----------
    condition : Array
        Bools. In other dtypes, nonzero elements are true.
    x1, x2 : Array or number
        The two sources. They broadcast with ``condition``.

    Returns
    -------
    Array
        An array of the common shape, in the promoted dtype of ``x1`` and ``x2``.

    Raises
    ------
    InvalidType
        If ``condition`` is not an array, or the arrays are on two devices.
    InvalidArgument
        If the shapes do not broadcast.
    """
    operands.array("where", "condition", condition)
    return apply.apply("where", condition, condition, x1, x2)


def _clip_gradient(g: Array, x: Array, min: Any, max: Any) -> Array:
    for is_out, bound in ((less, min), (greater, max)):
        if bound is not None:
            g = where(is_out(x, bound), 0, g)
    return g


def _clip_min_gradient(g: Array, x: Array, min: Any, max: Any) -> Array:
    """Return the gradient of the lower bound. If ``min > max``, the result is ``max``."""
    own = where(less(x, min), g, 0)
    return own if max is None else where(greater(min, max), 0, own)


def _clip_max_gradient(g: Array, x: Array, min: Any, max: Any) -> Array:
    own = where(greater(x, max), g, 0)
    return own if min is None else where(greater(min, max), g, own)


@differentiable(x=_clip_gradient, min=_clip_min_gradient, max=_clip_max_gradient)
def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Limit elements to a range.

    Parameters
    ----------
    x : Array
        Real numbers.
    min, max : Array or number, optional
        Lower and upper bound, broadcast with ``x``. None leaves a side unbounded.

    Returns
    -------
    Array
        The promoted dtype of ``x`` and the bounds, as in NumPy: int32 with a bound of 1.5 gives
        float32. A Python integer beyond the range of an integer dtype has no effect if it excludes
        no value.

    Raises
    ------
    InvalidType
        If ``x`` is not an array or is complex, or a bound is neither an array nor a number.
    OverflowError
        If an integer bound excludes all values of the integer dtype of ``x``.
    """
    operands.array("clip", "x", x)
    found = x
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is None or _is_beyond_range(x, name, bound):
            continue
        found = apply.binary(name, found, bound)
        if found is NotImplemented:
            raise InvalidType(
                "clip", "min" if name == "maximum" else "max", bound, "an array or a number"
            )
    return apply.cast_to("clip", found, found.node.kind, copy=found is x)


def _is_beyond_range(x: Array, name: str, bound: Any) -> bool:
    """Return whether a Python integer bound is beyond the range of the dtype of ``x``."""
    kind = x.node.kind
    if type(bound) is not int or kind.kind not in "iu":
        return False
    limits = np.iinfo(kind.numpy)
    return bound < limits.min if name == "maximum" else bound > limits.max


abs: Unary = _unary("abs", "Return the absolute value.", _TO_FLOAT32, lambda g, x: g * sign(x))
acos: Unary = _unary(
    "acos",
    "Return the arc cosine, in radians from 0 to π.",
    _FLOATING,
    lambda g, x: -g / _conj_factor(sqrt(1 - x * x)),
)
acosh: Unary = _unary(
    "acosh",
    "Return the inverse hyperbolic cosine.",
    _FLOATING,
    lambda g, x: g / _conj_factor(sqrt(x - 1) * sqrt(x + 1)),
)
add: Binary = _binary(
    "add", "Return ``x1 + x2``. For bools, this is the logical or.", _ANY, lambda g: g, lambda g: g
)
asin: Unary = _unary(
    "asin",
    "Return the arc sine, in radians from -π/2 to π/2.",
    _FLOATING,
    lambda g, x: g / _conj_factor(sqrt(1 - x * x)),
)
asinh: Unary = _unary(
    "asinh",
    "Return the inverse hyperbolic sine.",
    _FLOATING,
    lambda g, x: g / _conj_factor(sqrt(x * x + 1)),
)
atan: Unary = _unary(
    "atan",
    "Return the arc tangent, in radians from -π/2 to π/2.",
    _FLOATING,
    lambda g, x: g / _conj_factor(1 + x * x),
)
atan2: Binary = _binary(
    "atan2",
    "Return the angle of the point ``(x2, x1)``, in radians from -π to π.",
    _REAL_FLOATING,
    lambda g, x1, x2: g * x2 / (x1 * x1 + x2 * x2),
    lambda g, x1, x2: -g * x1 / (x1 * x1 + x2 * x2),
)
atanh: Unary = _unary(
    "atanh",
    "Return the inverse hyperbolic tangent.",
    _FLOATING,
    lambda g, x: g / _conj_factor(1 - x * x),
)
bitwise_and: Binary = _binary(
    "bitwise_and", "Return the bitwise and; for bools, the logical and.", _INTEGERS_OR_BOOLS
)
bitwise_invert: Unary = _unary(
    "bitwise_invert", "Invert all bits; for bools, return the logical not.", _INTEGERS_OR_BOOLS
)
bitwise_left_shift: Binary = _binary(
    "bitwise_left_shift", "Shift the bits of ``x1`` left by ``x2``.", _INTEGERS
)
bitwise_or: Binary = _binary(
    "bitwise_or", "Return the bitwise or; for bools, the logical or.", _INTEGERS_OR_BOOLS
)
bitwise_right_shift: Binary = _binary(
    "bitwise_right_shift", "Shift the bits of ``x1`` right by ``x2``. The sign is kept.", _INTEGERS
)
bitwise_xor: Binary = _binary(
    "bitwise_xor",
    "Return the bitwise exclusive or; for bools, the logical one.",
    _INTEGERS_OR_BOOLS,
)
ceil: Unary = _unary("ceil", "Round up to an integer.", _REAL, _no_slope)
complex_number: Binary = _binary(
    "complex",
    "Return complex numbers of real parts ``x1`` and imaginary parts ``x2``.",
    _Dtypes("float16 or float32.", "complex64."),
    lambda g: real(g),
    lambda g: imag(g),
)
conj: Unary = _unary("conj", "Return the complex conjugate.", _NUMBERS, lambda g: conj(g))
copysign: Binary = _binary(
    "copysign",
    "Return the magnitude of ``x1`` with the sign of ``x2``.",
    _REAL_FLOATING,
    lambda g, y, x1: where(equal(sign(y), sign(x1)), g, -g),
    lambda g: g * 0,
)
cos: Unary = _unary(
    "cos",
    "Return the cosine of an angle in radians.",
    _FLOATING,
    lambda g, x: -g * _conj_factor(sin(x)),
)
cosh: Unary = _unary(
    "cosh", "Return the hyperbolic cosine.", _FLOATING, lambda g, x: g * _conj_factor(sinh(x))
)
divide: Binary = _binary(
    "divide",
    "Return ``x1 / x2``.",
    _FLOATING,
    lambda g, x2: g / _conj_factor(x2),
    lambda g, y, x2: -g * _conj_factor(y / x2),
)
equal: Binary = _binary("equal", "Return ``x1 == x2``.", _TO_BOOL)
exp: Unary = _unary(
    "exp", "Return e to the power of ``x``.", _FLOATING, lambda g, y: g * _conj_factor(y)
)
expm1: Unary = _unary(
    "expm1",
    "Return ``exp(x) - 1``, accurate near 0.",
    _FLOATING,
    lambda g, y: g * _conj_factor(y + 1),
)
floor: Unary = _unary("floor", "Round down to an integer.", _REAL, _no_slope)
floor_divide: Binary = _binary(
    "floor_divide", "Return ``x1 / x2``, rounded down. Integers divided by 0 give 0.", _ARITHMETIC
)
greater: Binary = _binary("greater", "Return ``x1 > x2``.", _ORDER)
greater_equal: Binary = _binary("greater_equal", "Return ``x1 >= x2``.", _ORDER)
hypot: Binary = _binary(
    "hypot",
    "Return the length of the vector ``(x1, x2)``.",
    _REAL_FLOATING,
    lambda g, y, x1: where(equal(y, 0), 0, g * x1 / y),
    lambda g, y, x2: where(equal(y, 0), 0, g * x2 / y),
)
imag: Unary = _unary(
    "imag",
    "Return the imaginary part.",
    _TO_FLOAT32,
    lambda g, x_like: g * 1j if x_like.dtype.kind == "c" else None,
)
isfinite: Unary = _unary(
    "isfinite", "Return whether an element is neither infinite nor NaN.", _TO_BOOL
)
isinf: Unary = _unary("isinf", "Return whether an element is infinite.", _TO_BOOL)
isnan: Unary = _unary("isnan", "Return whether an element is NaN.", _TO_BOOL)
logaddexp: Binary = _binary(
    "logaddexp",
    "Return ``log(exp(x1) + exp(x2))`` without overflow.",
    _REAL_FLOATING,
    lambda g, y, x1: _share_of_sum(g, y, x1),
    lambda g, y, x2: _share_of_sum(g, y, x2),
)
less: Binary = _binary("less", "Return ``x1 < x2``.", _ORDER)
less_equal: Binary = _binary("less_equal", "Return ``x1 <= x2``.", _ORDER)
log: Unary = _unary(
    "log", "Return the natural logarithm.", _FLOATING, lambda g, x: g / _conj_factor(x)
)
log10: Unary = _unary(
    "log10", "Return the logarithm to base 10.", _FLOATING, lambda g, x: g / _conj_factor(x * _LN10)
)
log1p: Unary = _unary(
    "log1p",
    "Return ``log(1 + x)``, accurate near 0.",
    _FLOATING,
    lambda g, x: g / _conj_factor(1 + x),
)
log2: Unary = _unary(
    "log2", "Return the logarithm to base 2.", _FLOATING, lambda g, x: g / _conj_factor(x * _LN2)
)
logical_and: Binary = _binary(
    "logical_and", "Return whether both elements are true. Nonzero elements are true.", _TO_BOOL
)
logical_not: Unary = _unary(
    "logical_not", "Return whether an element is false. Zeros are false.", _TO_BOOL
)
logical_or: Binary = _binary(
    "logical_or",
    "Return whether at least one element is true. Nonzero elements are true.",
    _TO_BOOL,
)
logical_xor: Binary = _binary(
    "logical_xor",
    "Return whether exactly one element is true. Nonzero elements are true.",
    _TO_BOOL,
)
maximum: Binary = _binary(
    "maximum",
    "Return the larger element, or NaN if one is NaN.",
    _REAL,
    lambda g, x1, x2: g * _tie_share(x1, x2, greater),
    lambda g, x1, x2: g * _tie_share(x2, x1, greater),
)
minimum: Binary = _binary(
    "minimum",
    "Return the smaller element, or NaN if one is NaN.",
    _REAL,
    lambda g, x1, x2: g * _tie_share(x1, x2, less),
    lambda g, x1, x2: g * _tie_share(x2, x1, less),
)
multiply: Binary = _binary(
    "multiply",
    "Return ``x1 * x2``. For bools, this is the logical and.",
    _ANY,
    lambda g, x2: g * _conj_factor(x2),
    lambda g, x1: g * _conj_factor(x1),
)
negative: Unary = _unary(
    "negative", "Return ``-x``. Unsigned integers wrap around.", _NUMBERS, lambda g: -g
)
nextafter: Binary = _binary(
    "nextafter", "Return the next float32 after ``x1`` towards ``x2``.", _REAL_FLOATING
)
not_equal: Binary = _binary("not_equal", "Return ``x1 != x2``.", _TO_BOOL)
positive: Unary = _unary("positive", "Return ``+x``, the same number.", _NUMBERS, lambda g: g)
pow: Binary = _binary(
    "pow",
    "Return ``x1`` to the power of ``x2``.",
    _POWER,
    _pow_base_gradient,
    _pow_exponent_gradient,
)
real: Unary = _unary("real", "Return the real part.", _TO_FLOAT32, lambda g: g)
reciprocal: Unary = _unary(
    "reciprocal", "Return ``1 / x``.", _FLOATING, lambda g, y: -g * _conj_factor(y * y)
)
remainder: Binary = _binary(
    "remainder",
    "Return ``x1 - x2 * floor(x1 / x2)``, or 0 for integers with ``x2 == 0``.",
    _ARITHMETIC,
    lambda g: g,
    lambda g, x1, x2: -g * floor(x1 / x2),
)
round: Unary = _unary(
    "round", "Round to the nearest integer, and halfway cases to the even one.", _NUMBERS, _no_slope
)
sign: Unary = _unary(
    "sign", "Return -1, 0 or 1; for complex numbers, ``x / abs(x)``.", _NUMBERS, _sign_gradient
)
signbit: Unary = _unary(
    "signbit", "Return whether the sign bit is set, also for -0.0 and NaN.", _SIGN_BIT
)
sin: Unary = _unary(
    "sin",
    "Return the sine of an angle in radians.",
    _FLOATING,
    lambda g, x: g * _conj_factor(cos(x)),
)
sinh: Unary = _unary(
    "sinh", "Return the hyperbolic sine.", _FLOATING, lambda g, x: g * _conj_factor(cosh(x))
)
sqrt: Unary = _unary(
    "sqrt",
    "Return the square root. Negative floats give NaN.",
    _FLOATING,
    lambda g, y: g / _conj_factor(2 * y),
)
square: Unary = _unary("square", "Return ``x * x``.", _POWER, lambda g, x: g * _conj_factor(2 * x))
subtract: Binary = _binary("subtract", "Return ``x1 - x2``.", _NUMBERS, lambda g: g, lambda g: -g)
tan: Unary = _unary(
    "tan",
    "Return the tangent of an angle in radians.",
    _FLOATING,
    lambda g, y: g * _conj_factor(1 + y * y),
)
tanh: Unary = _unary(
    "tanh", "Return the hyperbolic tangent.", _FLOATING, lambda g, y: g * _conj_factor(1 - y * y)
)
trunc: Unary = _unary("trunc", "Round towards 0 to an integer.", _REAL, _no_slope)
