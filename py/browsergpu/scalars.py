"""Functions of plain numbers: a tensor language's scalars, in double precision on the host.

A number's journey to the GPU and back takes longer than any of these by a factor of a thousand,
so they do not make it. Semantics are IEEE 754's, as in NumPy: division by zero gives an infinity
or NaN, not an exception; ``mod`` has the sign of the divisor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.errors import InvalidArgument

Number = int | float


def _number(op: str, name: str, value: Any) -> np.float64:
    if isinstance(value, bool | np.bool_ | str | bytes) or not hasattr(value, "__float__"):
        raise InvalidArgument(op, name, value, "a real number")
    try:
        return np.float64(float(value))
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(op, name, value, "a real number") from None


def _one(op: str, function: Any, x: Any) -> float:
    with np.errstate(all="ignore"):
        return float(function(_number(op, "x", x)))


def _two(op: str, function: Any, a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(_number(op, "a", a), _number(op, "b", b)).item()


class Scalars:
    """The scalar methods of TensorBackend: numbers in, a float or (for comparisons) bool out."""

    def scalar_add(self, a: Number, b: Number) -> float:
        """a + b"""
        return float(_two("scalar_add", np.add, a, b))

    def scalar_sub(self, a: Number, b: Number) -> float:
        """a - b"""
        return float(_two("scalar_sub", np.subtract, a, b))

    def scalar_mul(self, a: Number, b: Number) -> float:
        """a b"""
        return float(_two("scalar_mul", np.multiply, a, b))

    def scalar_div(self, a: Number, b: Number) -> float:
        """a / b; an infinity or NaN where b is 0."""
        return float(_two("scalar_div", np.divide, a, b))

    def scalar_mod(self, a: Number, b: Number) -> float:
        """a modulo b, with the sign of b; NaN where b is 0."""
        return float(_two("scalar_mod", np.mod, a, b))

    def scalar_sqrt(self, x: Number) -> float:
        """The square root; NaN below 0."""
        return _one("scalar_sqrt", np.sqrt, x)

    def scalar_pow(self, a: Number, b: Number) -> float:
        """a to the power b."""
        return float(_two("scalar_pow", np.power, a, b))

    def scalar_sin(self, x: Number) -> float:
        """The sine of x radians."""
        return _one("scalar_sin", np.sin, x)

    def scalar_cos(self, x: Number) -> float:
        """The cosine of x radians."""
        return _one("scalar_cos", np.cos, x)

    def scalar_tan(self, x: Number) -> float:
        """The tangent of x radians."""
        return _one("scalar_tan", np.tan, x)

    def scalar_log(self, x: Number) -> float:
        """The natural logarithm; -inf at 0, NaN below."""
        return _one("scalar_log", np.log, x)

    def scalar_exp(self, x: Number) -> float:
        """e to the power x."""
        return _one("scalar_exp", np.exp, x)

    def scalar_floor(self, x: Number) -> float:
        """The largest whole number not above x."""
        return _one("scalar_floor", np.floor, x)

    def scalar_ceil(self, x: Number) -> float:
        """The smallest whole number not below x."""
        return _one("scalar_ceil", np.ceil, x)

    def scalar_round(self, x: Number) -> float:
        """The nearest whole number; halves go to the even one."""
        return _one("scalar_round", np.round, x)

    def scalar_abs(self, x: Number) -> float:
        """The magnitude of x."""
        return _one("scalar_abs", np.abs, x)

    def scalar_eq(self, a: Number, b: Number) -> bool:
        """a == b"""
        return bool(_two("scalar_eq", np.equal, a, b))

    def scalar_ne(self, a: Number, b: Number) -> bool:
        """a != b"""
        return bool(_two("scalar_ne", np.not_equal, a, b))

    def scalar_lt(self, a: Number, b: Number) -> bool:
        """a < b"""
        return bool(_two("scalar_lt", np.less, a, b))

    def scalar_le(self, a: Number, b: Number) -> bool:
        """a <= b"""
        return bool(_two("scalar_le", np.less_equal, a, b))

    def scalar_gt(self, a: Number, b: Number) -> bool:
        """a > b"""
        return bool(_two("scalar_gt", np.greater, a, b))

    def scalar_ge(self, a: Number, b: Number) -> bool:
        """a >= b"""
        return bool(_two("scalar_ge", np.greater_equal, a, b))
