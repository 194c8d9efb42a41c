"""Special functions, named as in ``scipy.special``, with float32 accuracy."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.apply import on_one_device, unary
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.element_types import FLOAT16, FLOAT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.fused.operations import Operation
from browsergpu.functions import elementwise as each
from browsergpu.functions import manipulation, statistics
from browsergpu.functions.creation import asarray
from browsergpu.functions.custom.declarations import Parameter
from browsergpu.functions.custom.operations import applied, operations_of

_FILES = {
    "errors": ("erf", "erfc", "erfcinv", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri"),
    "gammas": ("beta", "betaln", "digamma", "gamma", "gammaln", "polygamma", "rgamma", "sinc"),
    "bessel": ("i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1"),
}
_FILE = {name: file for file, names in _FILES.items() for name in names}


F = TypeVar("F", bound=Callable[..., Any])

#: The sections of a docstring that functions of one array share, and functions of two.
_SECTIONS = {
    1: """

    Parameters
    ----------
    {names} : array_like
        Real numbers.

    Returns
    -------
    Array
        float16 if ``{names}`` is float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If ``{names}`` is complex.
    """,
    2: """

    Parameters
    ----------
    {names} : array_like
        Real numbers. The shapes broadcast.

    Returns
    -------
    Array
        float16 if both are float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If an operand is complex, or the arrays are on two devices.
    InvalidArgument
        If the shapes do not broadcast.
    """,
}


def _of_real_numbers(function: F) -> F:
    """Complete the docstring of a function of one or two arrays of real numbers."""
    names = tuple(inspect.signature(function).parameters)
    function.__doc__ = f"{function.__doc__}{_SECTIONS[len(names)].format(names=', '.join(names))}"
    return function


def _floats(op: str, name: str, x: Any) -> Array:
    """Return an operand as an array of floats."""
    if not isinstance(x, Array):
        x = asarray(np.asarray(x) if isinstance(x, list | tuple) else x)
    if x.dtype.kind == "c":
        raise InvalidType(op, name, x, "real numbers")
    found: Array = x if x.dtype.kind == "f" else x.astype(np.float32)
    return found


@exclusive
def _computed(op: str, *operands: Array) -> Array:
    """Compute a function of shaders/lib/special/."""
    if any(type(x) in BATCHED for x in operands):
        found: Array = ABOVE.batching.of_elements(partial(_computed, op), operands)
        return found
    several = on_one_device(op, *operands)
    kind = FLOAT32 if any(x.dtype != np.float16 for x in several) else FLOAT16
    cast = [x.astype(kind.numpy, copy=False) for x in several]
    if op == "erf":  # an operation of its own, which kernels of products also compute
        made: Array = unary(op, *cast)
        return made
    return applied(op, _operation(op, len(cast), kind), cast, [kind] * len(cast))[0]


@cache
def _operation(op: str, count: int, kind: ElementType) -> tuple[Operation, ...]:
    names = [f"x{n}" for n in range(count)]
    inputs = tuple(Parameter(name, kind) for name in names)
    body = f"y = special_{op}({', '.join(names)});"
    file = f"lib/special/{_FILE[op]}.wgsl"
    return operations_of(op, inputs, (Parameter("y", kind),), body, (file,))


def _of_one(op: str, x: Any) -> Array:
    return _computed(op, _floats(op, "x", x))


#: The slope of ``erf`` at 0, and the density of the normal distribution at 0.
_ERF_SLOPE, _NORMAL_PEAK = 2 / math.sqrt(math.pi), 1 / math.sqrt(2 * math.pi)

#: Below it, sinc's slope is computed by its series.
_NEAR_0 = 0.15


@_of_real_numbers
@differentiable(x=lambda g, x: g * each.exp(-x * x) * _ERF_SLOPE)
def erf(x: Any, /) -> Array:
    """Return the error function, 2/√π ∫ exp(-t²) dt from 0 to x."""
    return _of_one("erf", x)


@_of_real_numbers
@differentiable(x=lambda g, x: g * each.exp(-x * x) * -_ERF_SLOPE)
def erfc(x: Any, /) -> Array:
    """Return ``1 - erf(x)``, accurate also for large ``x``."""
    return _of_one("erfc", x)


def _gamma_gradient(g: Array, y: Array, z: Array) -> Any:
    return g * y * digamma(z)


def _gammaln_gradient(g: Array, x: Array) -> Any:
    return g * digamma(x)


def _digamma_gradient(g: Array, z: Array) -> Any:
    return g * polygamma(1, z)


def _polygamma_gradient(g: Array, n: Any, x: Array) -> Any:
    return g * polygamma((asarray(n) if isinstance(n, list | tuple) else n) + 1, x)


def _sinc_gradient(g: Array, x: Array) -> Any:
    """Return ``g`` times the slope of sinc, by its series near 0, where a difference cancels."""
    is_near = each.less(each.abs(x), _NEAR_0)
    far = each.where(is_near, 1.0, x)
    slope = (each.cos(math.pi * far) - sinc(far)) / far
    squared = x * x * math.pi**2
    series = x * (math.pi**2 / 3) * (squared / 10 - squared * squared / 280 - 1.0)
    return g * each.where(is_near, series, slope)


@_of_real_numbers
@differentiable(x=lambda g, y, x: g * (x * y * 2 - _ERF_SLOPE))
def erfcx(x: Any, /) -> Array:
    """Return ``exp(x**2) * erfc(x)``."""
    return _of_one("erfcx", x)


@_of_real_numbers
@differentiable(x=lambda g, y: g * each.exp(y * y) / _ERF_SLOPE)
def erfinv(x: Any, /) -> Array:
    """Return the inverse of :func:`erf`."""
    return _of_one("erfinv", x)


@_of_real_numbers
def erfcinv(y: Any, /) -> Array:
    """Return the inverse of :func:`erfc`."""
    return _of_one("erfcinv", y)


@_of_real_numbers
@differentiable(x=lambda g, x: g * each.exp(x * x * -0.5) * _NORMAL_PEAK)
def ndtr(x: Any, /) -> Array:
    """Return the standard normal distribution function."""
    return _of_one("ndtr", x)


@_of_real_numbers
@differentiable(x=lambda g, y, x: g * each.exp(x * x * -0.5 - y) * _NORMAL_PEAK)
def log_ndtr(x: Any, /) -> Array:
    """Return the logarithm of :func:`ndtr`, also where it is below float32's range."""
    return _of_one("log_ndtr", x)


@_of_real_numbers
@differentiable(x=lambda g, y: g * each.exp(y * y * 0.5) / _NORMAL_PEAK)
def ndtri(x: Any, /) -> Array:
    """Return the inverse of :func:`ndtr`."""
    return _of_one("ndtri", x)


@_of_real_numbers
@differentiable(z=_gamma_gradient)
def gamma(z: Any, /) -> Array:
    """Return the gamma function of real numbers."""
    return _of_one("gamma", z)


@_of_real_numbers
@differentiable(x=_gammaln_gradient)
def gammaln(x: Any, /) -> Array:
    """Return the logarithm of the absolute value of the gamma function."""
    return _of_one("gammaln", x)


@_of_real_numbers
def rgamma(z: Any, /) -> Array:
    """Return ``1 / gamma(z)``."""
    return _of_one("rgamma", z)


@differentiable(z=_digamma_gradient)
def digamma(z: Any, /) -> Array:
    """Return the digamma function, also named ``psi``.

    It is the derivative of :func:`gammaln`.

    Parameters
    ----------
    z : array_like
        Real numbers.

    Returns
    -------
    Array
        float16 if ``z`` is float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If ``z`` is complex.
    """
    return _of_one("digamma", z)


psi = digamma


@differentiable(x=_polygamma_gradient)
def polygamma(n: Any, x: Any, /) -> Array:
    """Return the derivative of order ``n`` of :func:`digamma`.

    Parameters
    ----------
    n : int or array_like
        The order, a whole number from 0 to 100. 0 is :func:`digamma`. Other elements of an array
        give NaN.
    x : array_like
        Real numbers.

    Returns
    -------
    Array
        float16 if ``x`` is float16, and float32 otherwise. ``n`` and ``x`` broadcast.

    Raises
    ------
    InvalidArgument
        If ``n`` is a single number that is not an integer from 0 to 100.
    InvalidType
        If ``x`` is complex.

    Examples
    --------
    >>> bg.special.polygamma(1, bg.asarray([1.0, 2.0]))
    array([1.6449341 , 0.64493406], dtype=float32)
    """
    own = _floats("polygamma", "x", x)
    if isinstance(n, Array | np.ndarray | list | tuple):
        return _polygamma_of_orders(_floats("polygamma", "n", n).astype(own.dtype), own)
    order = checks.integer("polygamma", "n", n, 0, 100)
    if not order:
        return digamma(own)
    return _computed("polygamma", asarray(order, dtype=own.dtype, device=own.device), own)


def _polygamma_of_orders(orders: Array, x: Array) -> Array:
    known = each.clip(each.round(orders), 1, 100)
    found = each.where(orders == known, _computed("polygamma", known, x), np.nan)
    return each.where(orders == 0, digamma(x), found)


@_of_real_numbers
def beta(a: Any, b: Any, /) -> Array:
    """Return ``gamma(a) * gamma(b) / gamma(a + b)``."""
    return _computed("beta", _floats("beta", "a", a), _floats("beta", "b", b))


@_of_real_numbers
def betaln(a: Any, b: Any, /) -> Array:
    """Return the logarithm of the absolute value of the beta function."""
    return _computed("betaln", _floats("betaln", "a", a), _floats("betaln", "b", b))


@_of_real_numbers
def i0(x: Any, /) -> Array:
    """Return the modified Bessel function of the first kind of order 0."""
    return _of_one("i0", x)


@_of_real_numbers
def i0e(x: Any, /) -> Array:
    """Return ``exp(-abs(x)) * i0(x)``."""
    return _of_one("i0e", x)


@_of_real_numbers
def i1(x: Any, /) -> Array:
    """Return the modified Bessel function of the first kind of order 1."""
    return _of_one("i1", x)


@_of_real_numbers
def i1e(x: Any, /) -> Array:
    """Return ``exp(-abs(x)) * i1(x)``."""
    return _of_one("i1e", x)


@_of_real_numbers
def j0(x: Any, /) -> Array:
    """Return the Bessel function of the first kind of order 0."""
    return _of_one("j0", x)


@_of_real_numbers
def j1(x: Any, /) -> Array:
    """Return the Bessel function of the first kind of order 1."""
    return _of_one("j1", x)


@_of_real_numbers
def y0(x: Any, /) -> Array:
    """Return the Bessel function of the second kind of order 0."""
    return _of_one("y0", x)


@_of_real_numbers
def y1(x: Any, /) -> Array:
    """Return the Bessel function of the second kind of order 1."""
    return _of_one("y1", x)


@_of_real_numbers
@differentiable(x=_sinc_gradient)
def sinc(x: Any, /) -> Array:
    """Return ``sin(π x) / (π x)``, 1 at 0."""
    return _of_one("sinc", x)


@_of_real_numbers
def expit(x: Any, /) -> Array:
    """Return ``1 / (1 + exp(-x))``."""
    found = _floats("expit", "x", x)
    return each.divide(1.0, each.add(each.exp(each.negative(found)), 1.0))


@_of_real_numbers
def log_expit(x: Any, /) -> Array:
    """Return the logarithm of :func:`expit`."""
    found = _floats("log_expit", "x", x)
    return each.negative(each.logaddexp(0.0, each.negative(found)))


@_of_real_numbers
def logit(x: Any, /) -> Array:
    """Return ``log(x / (1 - x))``, the inverse of :func:`expit`."""
    found = _floats("logit", "x", x)
    return each.subtract(each.log(found), each.log1p(each.negative(found)))


@_of_real_numbers
def exprel(x: Any, /) -> Array:
    """Return ``(exp(x) - 1) / x``, 1 at 0."""
    found = _floats("exprel", "x", x)
    is_zero = each.equal(found, 0.0)
    other = each.where(is_zero, 1.0, found)
    ratio = each.where(each.equal(found, np.inf), np.inf, each.divide(each.expm1(other), other))
    return each.where(is_zero, 1.0, ratio)


def _log_gradient(g: Array, x1: Any, x2: Any, log: Any, least: float) -> Any:
    """Return ``g * log(x2)``: 0 at 0 times a logarithm of ``least`` or less, as in PyTorch."""
    factor, own = _floats("xlogy", "x1", x1), _floats("xlogy", "x2", x2)
    is_zero = each.logical_and(each.equal(factor, 0.0), each.less_equal(own, least))
    return g * each.where(is_zero, 0.0, log(each.where(is_zero, 1.0, own)))


@_of_real_numbers
@differentiable(
    x1=lambda g, x1, x2: _log_gradient(g, x1, x2, each.log, 0.0),
    x2=lambda g, x1, x2: g * x1 / _floats("xlogy", "x2", x2),
)
def xlogy(x1: Any, x2: Any, /) -> Array:
    """Return ``x1 * log(x2)``, 0 where ``x1`` is 0 and ``x2`` is not NaN."""
    op = "xlogy"
    return _times_log(_floats(op, "x1", x1), _floats(op, "x2", x2), each.log)


@_of_real_numbers
@differentiable(
    x1=lambda g, x1, x2: _log_gradient(g, x1, x2, each.log1p, -1.0),
    x2=lambda g, x1, x2: g * x1 / (_floats("xlog1py", "x2", x2) + 1.0),
)
def xlog1py(x1: Any, x2: Any, /) -> Array:
    """Return ``x1 * log(1 + x2)``, 0 where ``x1`` is 0 and ``x2`` is not NaN."""
    op = "xlog1py"
    return _times_log(_floats(op, "x1", x1), _floats(op, "x2", x2), each.log1p)


def _times_log(x: Array, y: Array, log: Any) -> Array:
    x, y = on_one_device("xlogy", x, y)
    is_zero = each.logical_and(each.equal(x, 0.0), each.logical_not(each.isnan(y)))
    return each.where(is_zero, 0.0, each.multiply(x, log(each.where(is_zero, 1.0, y))))


@_of_real_numbers
@differentiable(x=lambda g, x: g * (-each.log(x) - 1.0))
def entr(x: Any, /) -> Array:
    """Return ``-x * log(x)``, 0 at 0 and -inf below 0."""
    found = _floats("entr", "x", x)
    return each.where(each.less(found, 0.0), -np.inf, each.negative(xlogy(found, found)))


def rel_entr(x: Any, y: Any, /) -> Array:
    """Return the relative entropy.

    It is ``x * log(x / y)`` where both are positive, 0 where ``x`` is 0 and ``y`` is at least 0,
    and inf elsewhere.

    Parameters
    ----------
    x, y : array_like
        Real numbers. The shapes broadcast.

    Returns
    -------
    Array
        float16 if both are float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If an operand is complex, or the arrays are on two devices.
    InvalidArgument
        If the shapes do not broadcast.
    """
    op = "rel_entr"
    a, b = on_one_device(op, _floats(op, "x", x), _floats(op, "y", y))
    is_inside = each.logical_and(each.greater(a, 0.0), each.greater(b, 0.0))
    is_zero = each.logical_and(each.equal(a, 0.0), each.greater_equal(b, 0.0))
    up, down = each.where(is_inside, a, 1.0), each.where(is_inside, b, 1.0)
    # Near 1, log1p of the relative difference is more accurate than a difference of logarithms.
    near = each.log1p(each.divide(each.subtract(up, down), down))
    far = each.subtract(each.log(up), each.log(down))
    ratio = each.divide(up, down)
    is_near = each.logical_and(each.greater(ratio, 0.5), each.less(ratio, 2.0))
    found = each.multiply(up, each.where(is_near, near, far))
    outside = each.where(is_zero, 0.0, each.where(_either_nan(a, b), np.nan, np.inf))
    return each.where(is_inside, found, outside)


def kl_div(x: Any, y: Any, /) -> Array:
    """Return ``rel_entr(x, y) - x + y``, a Kullback-Leibler divergence.

    It is inf where :func:`rel_entr` is.

    Parameters
    ----------
    x, y : array_like
        Real numbers. The shapes broadcast.

    Returns
    -------
    Array
        float16 if both are float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If an operand is complex, or the arrays are on two devices.
    InvalidArgument
        If the shapes do not broadcast.
    """
    op = "kl_div"
    a, b = on_one_device(op, _floats(op, "x", x), _floats(op, "y", y))
    return each.add(each.subtract(rel_entr(a, b), a), b)


def _either_nan(a: Array, b: Array) -> Array:
    return each.logical_or(each.isnan(a), each.isnan(b))


def huber(delta: Any, r: Any, /) -> Array:
    """Return the Huber loss.

    It is ``r**2 / 2`` where ``abs(r) <= delta``, and ``delta * (abs(r) - delta / 2)`` elsewhere. It
    is inf for a negative ``delta``.

    Parameters
    ----------
    delta, r : array_like
        Real numbers. The shapes broadcast.

    Returns
    -------
    Array
        float16 if both are float16, and float32 otherwise.

    Raises
    ------
    InvalidType
        If an operand is complex, or the arrays are on two devices.
    InvalidArgument
        If the shapes do not broadcast.
    """
    op = "huber"
    width, rest = on_one_device(op, _floats(op, "delta", delta), _floats(op, "r", r))
    size = each.abs(rest)
    inside = each.multiply(each.square(rest), 0.5)
    outside = each.multiply(width, each.subtract(size, each.multiply(width, 0.5)))
    found = each.where(each.less_equal(size, width), inside, outside)
    return each.where(each.less(width, 0.0), np.inf, found)


@_of_real_numbers
def boxcox(x: Any, lmbda: Any, /) -> Array:
    """Return ``(x**lmbda - 1) / lmbda``, log(x) where ``lmbda`` is 0."""
    op = "boxcox"
    a, power = on_one_device(op, _floats(op, "x", x), _floats(op, "lmbda", lmbda))
    return _box(each.log(a), power)


@_of_real_numbers
def boxcox1p(x: Any, lmbda: Any, /) -> Array:
    """Return :func:`boxcox` of ``1 + x``."""
    op = "boxcox1p"
    a, power = on_one_device(op, _floats(op, "x", x), _floats(op, "lmbda", lmbda))
    return _box(each.log1p(a), power)


def _box(log: Array, power: Array) -> Array:
    is_zero = each.equal(power, 0.0)
    other = each.where(is_zero, 1.0, power)
    return each.where(is_zero, log, each.divide(each.expm1(each.multiply(other, log)), other))


@_of_real_numbers
def inv_boxcox(y: Any, lmbda: Any, /) -> Array:
    """Return the inverse of :func:`boxcox`."""
    op = "inv_boxcox"
    a, power = on_one_device(op, _floats(op, "y", y), _floats(op, "lmbda", lmbda))
    is_zero = each.equal(power, 0.0)
    other = each.where(is_zero, 1.0, power)
    log = each.divide(each.log1p(each.multiply(a, other)), other)
    return each.exp(each.where(is_zero, a, log))


@_of_real_numbers
def expm1(x: Any, /) -> Array:
    """Return ``exp(x) - 1``, accurate near 0."""
    return each.expm1(_floats("expm1", "x", x))


@_of_real_numbers
def log1p(x: Any, /) -> Array:
    """Return ``log(1 + x)``, accurate near 0."""
    return each.log1p(_floats("log1p", "x", x))


@_of_real_numbers
def exp2(x: Any, /) -> Array:
    """Return 2 to the power of ``x``."""
    return each.pow(2.0, _floats("exp2", "x", x))


@_of_real_numbers
def exp10(x: Any, /) -> Array:
    """Return 10 to the power of ``x``."""
    return each.pow(10.0, _floats("exp10", "x", x))


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Return the logarithm of the sum of exponentials over axes, without overflow.

    Parameters
    ----------
    a : array_like
        The exponents. Real numbers.
    axis : int or tuple of int, optional
        The axes. All by default.
    b : array_like, optional
        Factors of the exponentials, which broadcast to the shape of ``a``.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.
    return_sign : bool, optional
        Whether to return the logarithm of the absolute value of the sum, and the sign of the sum.

    Returns
    -------
    Array or tuple of Array
        Floats. Without ``return_sign``, NaN where the sum is negative.

    Raises
    ------
    InvalidArgument
        If there are no elements to add, or an axis is out of range or repeated.
    InvalidType
        If an operand is complex.
    """
    op = "logsumexp"
    checks.flag(op, "return_sign", return_sign)
    x = _floats(op, "a", a)
    factors = None if b is None else _floats(op, "b", b)
    if factors is not None:
        x, factors = on_one_device(op, x, factors)
        x = each.where(each.equal(factors, 0.0), -np.inf, x)
        factors = manipulation.broadcast_to(factors, x.shape)
    axes = shapes.axes(op, "axis", axis, x.ndim)
    if 0 in [x.shape[n] for n in axes]:
        raise InvalidArgument(op, "a", x, "have elements to add up")
    most = statistics.max(x, axis=axes, keepdims=True)
    most = each.where(each.isfinite(most), most, 0.0)
    parts = each.exp(each.subtract(x, most))
    if factors is not None:
        parts = each.multiply(parts, factors)
    total = statistics.sum(parts, axis=axes, keepdims=True)
    sign = each.sign(total)
    log = each.add(each.log(each.abs(total) if return_sign else total), most)
    if not keepdims:
        shape = shapes.without(x.shape, axes, keepdims=False)
        log, sign = manipulation.reshape(log, shape), manipulation.reshape(sign, shape)
    return (log, sign) if return_sign else log


def softmax(x: Any, axis: Any = None) -> Array:
    """Return exponentials divided by their sum over axes.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int or tuple of int, optional
        The axes. All by default.

    Returns
    -------
    Array
        float16 if ``x`` is float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    InvalidType
        If ``x`` is complex.
    """
    op = "softmax"
    found = _floats(op, "x", x)
    axes = shapes.axes(op, "axis", axis, found.ndim)
    parts = each.exp(each.subtract(found, statistics.max(found, axis=axes, keepdims=True)))
    return each.divide(parts, statistics.sum(parts, axis=axes, keepdims=True))


def log_softmax(x: Any, axis: Any = None) -> Array:
    """Return the logarithm of :func:`softmax`.

    Parameters
    ----------
    x : array_like
        Real numbers.
    axis : int or tuple of int, optional
        The axes. All by default.

    Returns
    -------
    Array
        float16 if ``x`` is float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    InvalidType
        If ``x`` is complex.
    """
    op = "log_softmax"
    found = _floats(op, "x", x)
    axes = shapes.axes(op, "axis", axis, found.ndim)
    less = each.subtract(found, statistics.max(found, axis=axes, keepdims=True))
    return each.subtract(less, each.log(statistics.sum(each.exp(less), axis=axes, keepdims=True)))
