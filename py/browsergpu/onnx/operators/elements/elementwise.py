"""Arithmetic and functions of single elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from browsergpu.onnx.graph.values import namespace_of, operands, to_gpu
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator

#: Operators and the names of NumPy's functions with one operand.
_UNARY = {
    "Abs": "abs", "Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh",
    "Atan": "arctan", "Atanh": "arctanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh",
    "Exp": "exp", "Floor": "floor", "IsNaN": "isnan", "Log": "log", "Neg": "negative",
    "Not": "logical_not", "Round": "rint", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
    "Sqrt": "sqrt", "Tan": "tan", "BitwiseNot": "bitwise_not",
}  # fmt: skip
#: Operators and the names of NumPy's functions with two operands.
_BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip


def _unary(name: str) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        module = namespace_of(x)
        return getattr(module, name)(x)

    return function


def binary(name: str, *values: Any) -> Any:
    """Call NumPy's function on host arrays, or this package's on arrays of the GPU."""
    own = operands(*values)
    return getattr(namespace_of(*values), name)(*own)


def _binary(name: str) -> Callable[..., Any]:
    def function(a: Any, b: Any) -> Any:
        return binary(name, a, b)

    return function


for _name, _numpys in _UNARY.items():
    operator(_name, folds=True)(_unary(_numpys))
for _name, _numpys in _BINARY.items():
    operator(_name, since=7, folds=True)(_binary(_numpys))


@operator("Div", since=7, folds=True)
def divide(a: Any, b: Any) -> Any:
    """Divide. Integers are rounded towards zero."""
    if a.dtype.kind in "iu":
        quotient = binary("floor_divide", a, b)
        if a.dtype.kind == "u":
            return quotient
        # Where the signs differ and a rest is left, the quotient of floor_divide is one too small.
        rest = binary("subtract", a, binary("multiply", quotient, b))
        is_low = binary("logical_and", binary("not_equal", rest, _zero(rest)),
                        binary("less", quotient, _zero(quotient)))  # fmt: skip
        return binary("add", quotient, is_low.astype(a.dtype, copy=False))
    return binary("true_divide", a, b)


def _zero(x: Any) -> Any:
    return np.zeros((), x.dtype)


@operator("Mod", since=10, folds=True)
def mod(a: Any, b: Any, *, fmod: int = 0) -> Any:
    """Return the rest of a division, with the sign of the divisor, or of the dividend."""
    return binary("fmod" if fmod else "remainder", a, b)


@operator("Pow", since=7, folds=True)
def power(a: Any, b: Any) -> Any:
    """Raise to a power, in the dtype of the base."""
    if a.dtype.kind in "iu" and b.dtype.kind == "f":
        return binary("power", a.astype("float32", copy=False), b).astype(a.dtype, copy=False)
    if isinstance(b, np.ndarray) and b.size == 1 and not isinstance(a, np.ndarray):
        exponent = b.item()
        if exponent == 2 and b.ndim <= a.ndim:
            return a * a
        if exponent == int(exponent) if np.isfinite(exponent) else False:
            b = np.asarray(int(exponent) if a.dtype.kind in "iu" else float(exponent))
    return binary("power", a, b).astype(a.dtype, copy=False)


def _folded(name: str) -> Callable[..., Any]:
    def function(*inputs: Any) -> Any:
        if not inputs:
            raise ValueError("it needs an input")
        return reduce(lambda a, b: binary(name, a, b), inputs)

    return function


operator("Max", since=6, folds=True)(_folded("maximum"))
operator("Min", since=6, folds=True)(_folded("minimum"))
operator("Sum", since=6, folds=True)(_folded("add"))


@operator("Mean", since=6)
def mean(*inputs: Any) -> Any:
    """Return the mean of arrays."""
    return _folded("add")(*inputs) / len(inputs)


@operator("Reciprocal", folds=True)
def reciprocal(x: Any) -> Any:
    """Return 1 / x."""
    return (1 / x).astype(x.dtype, copy=False)


@operator("Erf", since=9)
def erf(x: Any) -> Any:
    """Return the error function."""
    return bg.special.erf(x)


@operator("IsInf", since=10, folds=True)
def isinf(x: Any, *, detect_positive: int = 1, detect_negative: int = 1) -> Any:
    """Return whether elements are infinite, of one sign or both."""
    module = namespace_of(x)
    found = module.isinf(x)
    if not detect_positive:
        found = module.logical_and(found, x < 0)
    if not detect_negative:
        found = module.logical_and(found, x > 0)
    return found


@operator("BitShift", since=11, folds=True)
def bit_shift(a: Any, b: Any, *, direction: str) -> Any:
    """Shift bits to the left or right."""
    return binary("left_shift" if direction == "LEFT" else "right_shift", a, b)


@operator("Clip", since=6, until=10)
def clip_of_attributes(x: Any, *, min: float = -3.4028235e38, max: float = 3.4028235e38) -> Any:
    """Limit to a range of two attributes."""
    return bg.clip(x, min, max)


@operator("Clip", since=11, folds=True)
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """Limit to a range of two inputs."""
    if min is not None:
        x = binary("maximum", x, min)
    return x if max is None else binary("minimum", x, max)


@operator("Where", since=9, folds=True)
def where(condition: Any, a: Any, b: Any) -> Any:
    """Take elements of two arrays, by a condition."""
    if namespace_of(condition, a, b) is np:
        return np.where(condition, a, b)
    own = [a, b]
    for at, (x, other) in enumerate(((a, b), (b, a))):
        is_number = isinstance(x, np.ndarray) and x.size == 1
        if is_number and not isinstance(other, np.ndarray) and x.ndim <= other.ndim:
            own[at] = x.item()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        own = [to_gpu(a), to_gpu(b)]
    return bg.where(to_gpu(condition), *map(to_gpu, own))
