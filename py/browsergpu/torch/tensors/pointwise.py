"""Elementwise functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import Batched
from browsergpu.arrays.autograd.rules import values
from browsergpu.arrays.autograd.variable import Variable
from browsergpu.arrays.value import Value
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, special
from browsergpu.functions.nn import activations
from browsergpu.torch.tensors.dtypes import (
    BOOL,
    DTYPES,
    FLOAT32,
    INT64,
    default_float,
    operands,
)  # fmt: skip
from browsergpu.torch.tensors.public import add_method, public
from browsergpu.torch.tensors.tensor import BatchedTensor, Tensor, TrackedTensor

#: PyTorch's names of functions of one argument.
_UNARY: dict[str, Any] = {
    **{
        name: getattr(elementwise, name)
        for name in (
            "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp",
            "expm1", "floor", "log", "log10", "log1p", "log2", "negative", "reciprocal",
            "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "isfinite",
            "isinf", "isnan", "logical_not",
        )
    },
    "absolute": elementwise.abs, "arccos": elementwise.acos, "arcsin": elementwise.asin,
    "arctan": elementwise.atan, "arccosh": elementwise.acosh, "arcsinh": elementwise.asinh,
    "arctanh": elementwise.atanh, "neg": elementwise.negative, "fix": elementwise.trunc,
    "bitwise_not": elementwise.bitwise_invert,
    "erf": special.erf, "erfc": special.erfc, "erfinv": special.erfinv, "exp2": special.exp2,
    "digamma": special.digamma, "sigmoid": special.expit,
    "special_expit": special.expit, "i0": special.i0, "sinc": special.sinc,
    "relu": activations.relu,
}  # fmt: skip
#: Functions of one argument for which integers are cast to float first.
_OF_FLOATS = frozenset({
    "erf", "erfc", "erfinv", "exp2", "digamma", "sigmoid", "i0", "sinc", "reciprocal",
})  # fmt: skip
_BINARY: dict[str, Any] = {
    "multiply": elementwise.multiply, "mul": elementwise.multiply,
    "true_divide": elementwise.divide, "floor_divide": elementwise.floor_divide,
    "remainder": elementwise.remainder, "pow": elementwise.pow, "atan2": elementwise.atan2,
    "arctan2": elementwise.atan2, "maximum": elementwise.maximum, "minimum": elementwise.minimum,
    "hypot": elementwise.hypot, "copysign": elementwise.copysign,
    "nextafter": elementwise.nextafter, "logaddexp": elementwise.logaddexp,
    "bitwise_and": elementwise.bitwise_and, "bitwise_or": elementwise.bitwise_or,
    "bitwise_xor": elementwise.bitwise_xor,
    "bitwise_left_shift": elementwise.bitwise_left_shift,
    "bitwise_right_shift": elementwise.bitwise_right_shift,
    "logical_and": elementwise.logical_and, "logical_or": elementwise.logical_or,
    "logical_xor": elementwise.logical_xor,
    "fmax": "fmax", "fmin": "fmin", "fmod": "fmod", "gcd": "gcd", "lcm": "lcm",
    "logaddexp2": "logaddexp2",
}  # fmt: skip
_COMPARISONS: dict[str, Any] = {
    "eq": elementwise.equal, "ne": elementwise.not_equal, "not_equal": elementwise.not_equal,
    "lt": elementwise.less, "less": elementwise.less, "le": elementwise.less_equal,
    "less_equal": elementwise.less_equal, "gt": elementwise.greater,
    "greater": elementwise.greater, "ge": elementwise.greater_equal,
    "greater_equal": elementwise.greater_equal,
}  # fmt: skip


def floats(x: Any) -> Any:
    """Return a tensor of integers or bools as floats, and others as they are."""
    kind = x.dtype.kind if isinstance(x, Array) else ""
    return data_types.astype(x, default_float()) if kind and kind in "iub" else x


def _of_one(name: str, function: Callable[..., Any]) -> None:
    if name in _OF_FLOATS:

        def of_one(input: Any) -> Any:
            return function(floats(input))
    else:

        def of_one(input: Any) -> Any:
            return function(input)

    of_one.__name__ = name
    of_one.__doc__ = f"Return ``torch.{name}`` of each element."
    public(name)(of_one)


def _of_two(name: str, function: Any) -> None:
    if isinstance(function, str):
        theirs = function

        def function(a: Any, b: Any) -> Any:
            return getattr(ABOVE.namespace, theirs)(a, b)

    def of_two(input: Any, other: Any) -> Any:
        return function(*operands(input, other))

    of_two.__name__ = name
    of_two.__doc__ = f"Return ``torch.{name}`` of each pair of elements."
    public(name)(of_two)


for _name, _function in _UNARY.items():
    _of_one(_name, _function)
for _name, _function in (*_BINARY.items(), *_COMPARISONS.items()):
    _of_two(_name, _function)


@public("positive", out=False)
def positive(input: Any) -> Any:
    """Return the tensor itself."""
    if input.dtype.kind == "b":
        raise InvalidType("positive", "input", input.dtype, "a number dtype")
    return input


add_method("__pos__", positive)


@public("sign", "sgn")
def sign(input: Any) -> Any:
    """Return -1, 0 or 1 by the sign, and 0 for NaN."""
    if input.dtype.kind != "f":
        return elementwise.sign(input)
    return elementwise.where(elementwise.isnan(input), 0.0, elementwise.sign(input))


@public()
def square(input: Any) -> Any:
    """Return the squares, int64 for bools."""
    return elementwise.square(input if input.dtype.kind != "b" else input.astype(INT64))


@public()
def lgamma(input: Any) -> Any:
    """Return the logarithm of the magnitude of the gamma function, infinity at both infinities."""
    x = floats(input)
    return elementwise.where(elementwise.isinf(x), math.inf, special.gammaln(x))


def _as_tensor_beside(x: Any, other: Any) -> Any:
    """Return a number beside a tensor of floats as a tensor of its dtype, others as they are."""
    if isinstance(x, Array) or not isinstance(other, Array) or other.dtype.kind != "f":
        return x
    return creation.full((), float(x), dtype=other.dtype, device=other.device)


@public()
def xlogy(input: Any, other: Any) -> Any:
    """Return ``input * log(other)``, and 0 where input is 0."""
    own, theirs = operands(_as_tensor_beside(input, other), _as_tensor_beside(other, input))
    return special.xlogy(own, theirs)


@public()
def heaviside(input: Any, values: Any) -> Any:
    """Return 0 for negative elements, 1 for positive ones, and ``values`` for zeros."""
    if not isinstance(values, Array) or values.dtype != input.dtype:
        raise InvalidType("heaviside", "values", values, f"a tensor of {input.dtype}")
    return ABOVE.namespace.heaviside(input, values).astype(input.dtype, copy=False)


@public()
def float_power(input: Any, exponent: Any) -> Any:
    """Return powers in the widest float dtype, float32 or complex64."""
    return elementwise.pow(_widest(input), _widest(exponent))


def _widest(x: Any) -> Any:
    if not isinstance(x, Array):
        return x if isinstance(x, complex) else float(x)
    return data_types.astype(x, FLOAT32, copy=False) if x.dtype.kind != "c" else x


def factor(op: str, name: str, value: Any, *tensors: Any) -> Any:
    """Return the factor of a product. Raises InvalidArgument for a float beside integers."""
    if isinstance(value, float) and all(x.dtype.kind in "iub" for x in tensors):
        raise InvalidArgument(op, name, value, "an integer beside tensors of integers")
    return value


def _times(op: str, input: Any, other: Any, alpha: Any) -> Any:
    factor(op, "alpha", alpha, *(x for x in (input, other) if isinstance(x, Array)))
    return other if not isinstance(alpha, bool) and alpha == 1 else other * alpha


@public()
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input + alpha * other``."""
    return elementwise.add(*operands(input, _times("add", input, other, alpha)))


@public("sub", "subtract")
def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``input - alpha * other``."""
    return elementwise.subtract(*operands(input, _times("sub", input, other, alpha)))


@public()
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Return ``other - alpha * input``."""
    return subtract(other, input, alpha=alpha)


@public("div", "divide")
def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Return the quotients, rounded to "floor" or "trunc" if wanted."""
    own, theirs = operands(input, other)
    if rounding_mode is None:
        return elementwise.divide(own, theirs)
    if rounding_mode == "floor":
        return elementwise.floor_divide(own, theirs)
    if rounding_mode != "trunc":
        raise InvalidArgument("div", "rounding_mode", rounding_mode, "None, 'floor' or 'trunc'")
    if _is_integer(own) and _is_integer(theirs):
        down = elementwise.floor_divide(own, theirs)
        # Rounded towards zero: one more where the quotient is negative and not whole.
        is_between = elementwise.less(down, 0) & elementwise.not_equal(down * theirs, own)
        return elementwise.where(is_between, down + 1, down)
    return elementwise.trunc(elementwise.divide(own, theirs))


def _is_integer(x: Any) -> bool:
    return x.dtype.kind in "iu" if isinstance(x, Array) else type(x) is int


@public()
def ldexp(input: Any, other: Any) -> Any:
    """Return the numbers times 2 to the power of other ones."""
    return floats(input) * elementwise.pow(2.0, floats(other))


@public(method=False)
def polygamma(n: int, input: Any) -> Any:
    """Return the derivative of order n of digamma."""
    return special.polygamma(n, floats(input))


add_method("polygamma", lambda self, n: polygamma(n, self))


@public("round")
def round_(input: Any, *, decimals: int = 0) -> Any:
    """Round to the nearest number, halves to even."""
    return elementwise.round(input) if not decimals else ABOVE.namespace.round(input, decimals)


@public("rsqrt")
def rsqrt(input: Any) -> Any:
    """Return 1 over the square root."""
    return elementwise.reciprocal(elementwise.sqrt(floats(input)))


@public()
def frac(input: Any) -> Any:
    """Return the part behind the decimal point."""
    return input - elementwise.trunc(input)


@public("clamp", "clip")
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Limit the elements to an interval."""
    if min is None and max is None:
        raise InvalidArgument("clamp", "min", min, "given, or max")
    if isinstance(min, Array) or isinstance(max, Array):
        found = input if min is None else _limited(input, min, elementwise.less)
        return found if max is None else _limited(found, max, elementwise.greater)
    if input.dtype.kind in "iu" and (isinstance(min, float) or isinstance(max, float)):
        input = floats(input)
    return elementwise.clip(input, min, max)


def _limited(input: Any, limit: Any, is_beyond: Any) -> Any:
    """Replace elements beyond a limit. Equal elements keep their gradient, and NaN stays."""
    x, edge = operands(input, limit)
    if not isinstance(edge, Array):
        edge = creation.full((), edge, dtype=x.dtype, device=x.device)
    taken = is_beyond(x, edge)
    if edge.dtype.kind == "f":
        taken = taken | (elementwise.isnan(edge) & elementwise.equal(x, x))
    return elementwise.where(taken, edge, x)


@public()
def clamp_min(input: Any, min: Any) -> Any:
    """Limit the elements from below."""
    return clamp(input, min)


@public()
def clamp_max(input: Any, max: Any) -> Any:
    """Limit the elements from above."""
    return clamp(input, None, max)


@public()
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return ``input + weight * (end - input)``."""
    return input + weight * (end - input)


@public()
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return ``input + value * tensor1 * tensor2``."""
    return input + factor("addcmul", "value", value, input, tensor1, tensor2) * (tensor1 * tensor2)


@public()
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Return ``input + value * tensor1 / tensor2``."""
    if not any(x.dtype.kind in "fc" for x in (input, tensor1, tensor2)):
        raise InvalidType("addcdiv", "input", input.dtype, "a float dtype", "Call x.float() first.")
    return input + value * (tensor1 / tensor2)


@public()
def logit(input: Any, eps: float | None = None) -> Any:
    """Return ``log(x / (1 - x))``."""
    x = floats(input)
    return special.logit(x if eps is None else elementwise.clip(x, eps, 1 - eps))


@public()
def nan_to_num(input: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace NaN and infinities by numbers."""
    return ABOVE.namespace.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


@public("isclose")
def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Test which elements are nearly equal."""
    return ABOVE.namespace.isclose(values(input), values(other), rtol, atol, equal_nan)


@public(out=False)
def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Test whether all elements are nearly equal. Waits for the GPU."""
    return bool(ABOVE.namespace.allclose(values(input), values(other), rtol, atol, equal_nan))


@public(out=False)
def equal(input: Any, other: Any) -> bool:
    """Test whether the shapes and all elements are equal. Waits for the GPU."""
    return bool(ABOVE.namespace.array_equal(values(input), values(other)))


@public()
def isneginf(input: Any) -> Any:
    """Test which elements are minus infinity."""
    return ABOVE.namespace.isneginf(values(input))


@public()
def isposinf(input: Any) -> Any:
    """Test which elements are infinity."""
    return ABOVE.namespace.isposinf(values(input))


@public()
def isreal(input: Any) -> Any:
    """Test which elements have no imaginary part."""
    return ABOVE.namespace.isreal(values(input))


@public(method=False)
def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Test which elements are among others."""
    return ABOVE.namespace.isin(values(elements), values(test_elements), invert=invert)


@public("real", method=False)
def real(input: Any) -> Any:
    """Return the real parts, a view as ``input.real``."""
    return input.real


@public("imag", method=False)
def imag(input: Any) -> Any:
    """Return the imaginary parts, a view as ``input.imag``."""
    return input.imag


@public("conj", "conj_physical")
def conj(input: Any) -> Any:
    """Return the complex conjugates, for real tensors the tensor itself."""
    return elementwise.conj(input) if input.dtype.kind == "c" else input


@public("resolve_conj", "resolve_neg")
def resolve_conj(input: Any) -> Any:
    """Return the tensor itself."""
    return input


@public()
def angle(input: Any) -> Any:
    """Return the angles of complex numbers, π for negative numbers."""
    if input.dtype.kind == "c":
        return ABOVE.namespace.angle(input)
    x = floats(input)
    return elementwise.where(elementwise.isnan(x), x, math.pi * (x < 0).astype(x.dtype))


@public("rad2deg")
def rad2deg(input: Any) -> Any:
    """Convert radians to degrees."""
    return ABOVE.namespace.rad2deg(input)


@public("deg2rad")
def deg2rad(input: Any) -> Any:
    """Convert degrees to radians."""
    return ABOVE.namespace.deg2rad(input)


@public()
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Choose between two tensors, or return the indices of nonzero elements."""
    if input is None and other is None:
        return ABOVE.namespace.nonzero(condition)
    if not isinstance(condition, Array):
        raise InvalidType("where", "condition", type(condition), "a bool tensor")
    if condition.dtype != np.bool_ and condition.dtype != np.uint8:
        advice = "Compare it, as in x != 0."
        raise InvalidType("where", "condition", condition.dtype, "a bool tensor", advice)
    input, other = operands(input, other)
    if not isinstance(input, Array) and not isinstance(other, Array):
        kind = _kind_of_numbers(input, other)
        input, other = (creation.full((), x, dtype=kind, device=condition.device)
                        for x in (input, other))  # fmt: skip
    return elementwise.where(condition, input, other)


def _kind_of_numbers(*numbers: Any) -> Any:
    if any(isinstance(x, complex | np.complexfloating) for x in numbers):
        return DTYPES["complex64"]
    if any(isinstance(x, float | np.floating) for x in numbers):
        return default_float()
    return BOOL if all(isinstance(x, bool | np.bool_) for x in numbers) else INT64


def where_method(self: Any, condition: Any, other: Any) -> Any:
    """Keep elements where the condition is true, and take others elsewhere."""
    return where(condition, self, other)


add_method("where", where_method)

#: The operand types that operators take. Others get the chance to compute themselves.
_TAKEN = (Value, int, float, complex, np.generic, np.ndarray)
_OPERATORS = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.divide, "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder, "pow": elementwise.pow, "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
    "eq": elementwise.equal, "ne": elementwise.not_equal, "lt": elementwise.less,
    "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_NUMBERS = (int, float, bool)


def _operator(owner: type, base: type, name: str) -> None:
    """Give a class an operator that promotes as PyTorch does."""
    theirs = getattr(base, name)
    # Python does not ask their reflected operators first, as they are no subclasses of Tensor.
    others = (Variable, Batched) if owner is Tensor else ()
    recording = {kind: getattr(kind, name) for kind in others}

    def method(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind not in _NUMBERS:
            if not isinstance(other, _TAKEN):
                return NotImplemented
            self, other = operands(self, other)
        found = recording.get(type(other), theirs)(self, other)
        if type(found) is not Tensor and type(found) in (Array, Variable):
            found.__class__ = Tensor if type(found) is Array else TrackedTensor
        return found

    method.__name__ = name
    setattr(owner, name, method)


for _owner, _base in ((Tensor, Array), (TrackedTensor, Variable), (BatchedTensor, Batched)):
    for _name in _OPERATORS:
        _operator(_owner, _base, f"__{_name}__")
        if _name not in ("eq", "ne", "lt", "le", "gt", "ge"):
            _operator(_owner, _base, f"__r{_name}__")


for _owner in (Tensor, TrackedTensor, BatchedTensor):
    _owner.__hash__ = object.__hash__  # type: ignore[method-assign]
