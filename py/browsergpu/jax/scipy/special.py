"""``jax.scipy.special``."""

from __future__ import annotations

import math
from typing import Any

from browsergpu.functions import elementwise
from browsergpu.functions import special as own
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.arrays.operands import array, arrays, inexact
from browsergpu.jax.nn import functions as nn
from browsergpu.jax.nn.functions import logsumexp as logsumexp
from browsergpu.jax.scipy.absent import unknown

_OF_ONE = (
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "expit", "gamma", "gammaln", "i0", "i0e",
    "i1", "i1e", "log_ndtr", "logit", "ndtr", "ndtri",
)  # fmt: skip
_OF_TWO = ("beta", "betaln", "boxcox", "boxcox1p", "kl_div", "rel_entr", "xlog1py", "xlogy")
__all__ = [
    *_OF_ONE, *_OF_TWO, "factorial", "gammasgn", "log_softmax", "logsumexp", "loggamma",
    "multigammaln", "poch", "softmax",
]  # fmt: skip


def softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Return the exponentials over their sum, by default over that of all elements."""
    return nn.softmax(x, axis=axis)


def log_softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Return the logarithm of :func:`softmax`."""
    return nn.log_softmax(x, axis=axis)


def _function(name: str, count: int) -> Any:
    function = getattr(own, name)

    def of_one(x: Any) -> Any:
        return as_jax(function(inexact(name, x)))

    def of_two(x: Any, y: Any) -> Any:
        return as_jax(function(*arrays(name, x, y, floats=True)))

    call = of_one if count == 1 else of_two
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jax.scipy.special.{name}`` of each element. Integers become float32."
    return call


for _name in _OF_ONE:
    globals()[_name] = _function(_name, 1)
for _name in _OF_TWO:
    globals()[_name] = _function(_name, 2)


def loggamma(z: Any) -> Any:
    """Return the logarithm of the gamma function of positive numbers, and NaN of others."""
    given = inexact("loggamma", z)
    return as_jax(elementwise.where(given > 0, own.gammaln(given), math.nan))


def gammasgn(x: Any) -> Any:
    """Return the sign of the gamma function."""
    given = inexact("gammasgn", x)
    floor = elementwise.floor(given)
    is_odd = elementwise.not_equal(elementwise.remainder(floor, 2.0), 0)
    sign = elementwise.where(elementwise.logical_and(given < 0, is_odd), -1.0, 1.0)
    is_pole = elementwise.logical_and(given < 0, elementwise.equal(floor, given))
    found = elementwise.where(is_pole, math.nan, sign)
    signed = elementwise.where(elementwise.equal(given, 0), elementwise.copysign(found, given),
                               found)  # fmt: skip
    return as_jax(elementwise.where(elementwise.isnan(given), given, signed))


def factorial(n: Any, exact: bool = False) -> Any:
    """Return factorials as floats."""
    if exact:
        raise NotImplementedError("factorial: exact must be False.")
    given = inexact("factorial", n)
    found = elementwise.exp(own.gammaln(given + 1))
    return as_jax(elementwise.where(given < 0, 0.0, found))


def poch(z: Any, m: Any) -> Any:
    """Return ``gamma(z + m) / gamma(z)``."""
    a, b = arrays("poch", z, m, floats=True)
    found = (
        gammasgn(a) * gammasgn(a + b) * as_jax(elementwise.exp(own.gammaln(a + b) - own.gammaln(a)))
    )
    return as_jax(elementwise.where(elementwise.equal(b, 0), 1.0, found))


def multigammaln(a: Any, d: int) -> Any:
    """Return the logarithm of the multivariate gamma function."""
    given = array("multigammaln", inexact("multigammaln", a))
    total: Any = d * (d - 1) / 4 * math.log(math.pi)
    for n in range(d):
        total = as_jax(own.gammaln(given - n / 2)) + total
    return total


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.scipy.special' has no attribute {name!r}")
    raise unknown("special", name)
