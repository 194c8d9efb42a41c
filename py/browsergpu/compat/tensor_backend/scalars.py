"""Functions of plain numbers, computed on the host.

A transfer to the GPU and back would take a thousand times longer. Integers (int and NumPy's) stay
exact, even above 2**53, if the result is an integer within the range of a double: sums,
differences, products, remainders, powers, magnitudes and rounding. Everything else is computed in
double precision with IEEE 754 semantics, as in NumPy: division by zero gives an infinity or NaN,
not an exception, and ``mod`` has the sign of the divisor. Comparisons are exact for integers and
floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import inf
from operator import index
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown

Number = int | float

_LARGEST_EXPONENT = 1024  # of a double


def _number(op: str, name: str, value: Any) -> Number:
    """Return a Python int for integers, else a float."""
    if isinstance(value, bool | np.bool_ | str | bytes) or not hasattr(value, "__float__"):
        raise InvalidArgument(op, name, value, "a real number")
    try:
        real = float(value)  # also refuses integers beyond the range of a double
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(op, name, value, "a real number") from None
    try:
        return index(value)
    except TypeError:
        return real


def _one(op: str, function: Any, x: Any) -> float:
    """Apply a function in double precision."""
    with np.errstate(all="ignore"):
        return float(function(np.float64(_number(op, "x", x))))


def _rounded(op: str, function: Any, x: Any) -> Number:
    """Apply a rounding function. Integers stay the same."""
    number = _number(op, "x", x)
    return number if isinstance(number, int) else _one(op, function, number)


def _two(
    op: str, function: Any, a: Any, b: Any, exact: Callable[[int, int], Number | None]
) -> Number:
    """Apply a function in double precision, or ``exact`` to two integers.

    The exact result is not used if it is None or beyond the range of a double.
    """
    first, second = _number(op, "a", a), _number(op, "b", b)
    if isinstance(first, int) and isinstance(second, int):
        result = exact(first, second)
        if result is not None and _has_a_double(result):
            return result
    with np.errstate(all="ignore"):
        return float(function(np.float64(first), np.float64(second)))


def _has_a_double(number: Number) -> bool:
    try:
        float(number)
    except OverflowError:
        return False
    return True


def _quotient(a: int, b: int) -> float | None:
    return a / b if b else None


def _remainder(a: int, b: int) -> int | None:
    return a % b if b else None


def _power(a: int, b: int) -> Number | None:
    if b < 0:
        return None
    if abs(a) > 1 and (a.bit_length() - 1) * b >= _LARGEST_EXPONENT:
        # At least 2^((bits - 1) b). Computing it would take long, only to be discarded.
        return -inf if a < 0 and b % 2 else inf
    return int(a**b)


def _compare(op: str, function: Callable[[Number, Number], bool], a: Any, b: Any) -> bool:
    # Python compares an int and a float by their values, NumPy by the nearest double.
    return function(_number(op, "a", a), _number(op, "b", b))


class Scalars(Shown):
    """The scalar methods of TensorBackend. They return numbers, and comparisons return bools."""

    def scalar_add(self, a: Number, b: Number) -> Number:
        """Return a + b."""
        return _two("scalar_add", np.add, a, b, operator.add)

    def scalar_sub(self, a: Number, b: Number) -> Number:
        """Return a - b."""
        return _two("scalar_sub", np.subtract, a, b, operator.sub)

    def scalar_mul(self, a: Number, b: Number) -> Number:
        """Return a b."""
        return _two("scalar_mul", np.multiply, a, b, operator.mul)

    def scalar_div(self, a: Number, b: Number) -> float:
        """Return a / b, an infinity or NaN if b is 0."""
        return float(_two("scalar_div", np.divide, a, b, _quotient))

    def scalar_mod(self, a: Number, b: Number) -> Number:
        """Return a modulo b with the sign of b, NaN if b is 0."""
        return _two("scalar_mod", np.mod, a, b, _remainder)

    def scalar_sqrt(self, x: Number) -> float:
        """Return the square root, NaN below 0."""
        return _one("scalar_sqrt", np.sqrt, x)

    def scalar_pow(self, a: Number, b: Number) -> Number:
        """Return a to the power b."""
        return _two("scalar_pow", np.power, a, b, _power)

    def scalar_sin(self, x: Number) -> float:
        """Return the sine of x radians."""
        return _one("scalar_sin", np.sin, x)

    def scalar_cos(self, x: Number) -> float:
        """Return the cosine of x radians."""
        return _one("scalar_cos", np.cos, x)

    def scalar_tan(self, x: Number) -> float:
        """Return the tangent of x radians."""
        return _one("scalar_tan", np.tan, x)

    def scalar_log(self, x: Number) -> float:
        """Return the natural logarithm, -inf at 0 and NaN below."""
        return _one("scalar_log", np.log, x)

    def scalar_exp(self, x: Number) -> float:
        """Return e to the power x."""
        return _one("scalar_exp", np.exp, x)

    def scalar_floor(self, x: Number) -> Number:
        """Return the largest integer not above x."""
        return _rounded("scalar_floor", np.floor, x)

    def scalar_ceil(self, x: Number) -> Number:
        """Return the smallest integer not below x."""
        return _rounded("scalar_ceil", np.ceil, x)

    def scalar_round(self, x: Number) -> Number:
        """Return the nearest integer, with ties to even."""
        return _rounded("scalar_round", np.round, x)

    def scalar_abs(self, x: Number) -> Number:
        """Return the magnitude of x."""
        return abs(_number("scalar_abs", "x", x))

    def scalar_eq(self, a: Number, b: Number) -> bool:
        """Return a == b."""
        return _compare("scalar_eq", operator.eq, a, b)

    def scalar_ne(self, a: Number, b: Number) -> bool:
        """Return a != b."""
        return _compare("scalar_ne", operator.ne, a, b)

    def scalar_lt(self, a: Number, b: Number) -> bool:
        """Return a < b."""
        return _compare("scalar_lt", operator.lt, a, b)

    def scalar_le(self, a: Number, b: Number) -> bool:
        """Return a <= b."""
        return _compare("scalar_le", operator.le, a, b)

    def scalar_gt(self, a: Number, b: Number) -> bool:
        """Return a > b."""
        return _compare("scalar_gt", operator.gt, a, b)

    def scalar_ge(self, a: Number, b: Number) -> bool:
        """Return a >= b."""
        return _compare("scalar_ge", operator.ge, a, b)
