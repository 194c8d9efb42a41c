"""``jax.scipy.stats``: densities and distribution functions."""

from __future__ import annotations

import math
from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.functions import elementwise, special
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.arrays.operands import arrays
from browsergpu.jax.scipy.absent import unknown

_LOG_2PI = math.log(2 * math.pi)


def _where(mask: Any, x: Any, y: Any) -> Any:
    return as_jax(elementwise.where(mask, x, y))


class _Distribution(Shown):
    """A distribution with a logarithmic density, and functions made of it."""

    def _facts(self) -> str:
        return type(self).__name__.strip("_")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown("stats", f"{type(self).__name__.strip('_').lower()}.{name}")


class _Continuous(_Distribution):
    def logpdf(self, x: Any, *parameters: Any, **options: Any) -> Any:
        """Return the logarithm of the density."""
        raise NotImplementedError

    def pdf(self, x: Any, *parameters: Any, **options: Any) -> Any:
        """Return the density."""
        return as_jax(elementwise.exp(self.logpdf(x, *parameters, **options)))


class _Norm(_Continuous):
    """The normal distribution."""

    def _scaled(self, x: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
        own, middle, width = arrays("norm", x, loc, scale, floats=True)
        return (own - middle) / width, width

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        z, width = self._scaled(x, loc, scale)
        return -0.5 * (z * z + _LOG_2PI) - as_jax(elementwise.log(width))

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        return as_jax(special.ndtr(self._scaled(x, loc, scale)[0]))

    def logcdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of :meth:`cdf`."""
        return as_jax(special.log_ndtr(self._scaled(x, loc, scale)[0]))

    def sf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of larger values."""
        return as_jax(special.ndtr(-self._scaled(x, loc, scale)[0]))

    def logsf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of :meth:`sf`."""
        return as_jax(special.log_ndtr(-self._scaled(x, loc, scale)[0]))

    def ppf(self, q: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the inverse of :meth:`cdf`."""
        own, middle, width = arrays("norm", q, loc, scale, floats=True)
        return as_jax(special.ndtri(own)) * width + middle

    def isf(self, q: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the inverse of :meth:`sf`."""
        own, middle, width = arrays("norm", q, loc, scale, floats=True)
        return as_jax(special.ndtri(1 - own)) * width + middle


class _Uniform(_Continuous):
    """The uniform distribution on [loc, loc + scale]."""

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, low, width = arrays("uniform", x, loc, scale, floats=True)
        inside = (own >= low) & (own <= low + width)
        return _where(inside, -elementwise.log(width), -math.inf)

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        own, low, width = arrays("uniform", x, loc, scale, floats=True)
        return as_jax(elementwise.clip((own - low) / width, 0.0, 1.0))

    def ppf(self, q: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the inverse of :meth:`cdf`."""
        own, low, width = arrays("uniform", q, loc, scale, floats=True)
        return _where((own < 0) | (own > 1), math.nan, own * width + low)


class _Expon(_Continuous):
    """The exponential distribution."""

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, low, width = arrays("expon", x, loc, scale, floats=True)
        found = -(own - low) / width - as_jax(elementwise.log(width))
        return _where(own < low, -math.inf, found)

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        own, low, width = arrays("expon", x, loc, scale, floats=True)
        return _where(own < low, 0.0, -elementwise.expm1(-(own - low) / width))


class _Laplace(_Continuous):
    """The Laplace distribution."""

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, middle, width = arrays("laplace", x, loc, scale, floats=True)
        return -(abs(own - middle) / width + as_jax(elementwise.log(2 * width)))

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        own, middle, width = arrays("laplace", x, loc, scale, floats=True)
        z = (own - middle) / width
        tail = 0.5 * as_jax(elementwise.exp(-abs(z)))
        return _where(z <= 0, tail, 1 - tail)


class _Logistic(_Continuous):
    """The logistic distribution."""

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, middle, width = arrays("logistic", x, loc, scale, floats=True)
        z = (own - middle) / width / 2
        both = as_jax(elementwise.logaddexp(z, -z))
        return -2 * both - as_jax(elementwise.log(width))

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        own, middle, width = arrays("logistic", x, loc, scale, floats=True)
        return as_jax(special.expit((own - middle) / width))

    def ppf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the inverse of :meth:`cdf`."""
        own, middle, width = arrays("logistic", x, loc, scale, floats=True)
        return as_jax(special.logit(own)) * width + middle


class _Cauchy(_Continuous):
    """The Cauchy distribution."""

    def logpdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, middle, width = arrays("cauchy", x, loc, scale, floats=True)
        z = (own - middle) / width
        return -(as_jax(elementwise.log1p(z * z)) + as_jax(elementwise.log(width * math.pi)))

    def cdf(self, x: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the probability of values up to ``x``."""
        own, middle, width = arrays("cauchy", x, loc, scale, floats=True)
        return 0.5 + as_jax(elementwise.atan2(own - middle, width)) / math.pi


class _T(_Continuous):
    """Student's t distribution."""

    def logpdf(self, x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, degrees, middle, width = arrays("t", x, df, loc, scale, floats=True)
        z = (own - middle) / width
        constant = as_jax(special.gammaln((degrees + 1) / 2) - special.gammaln(degrees / 2))
        spread = as_jax(elementwise.log(degrees * math.pi)) / 2 + as_jax(elementwise.log(width))
        return constant - spread - (degrees + 1) / 2 * as_jax(elementwise.log1p(z * z / degrees))


class _Gamma(_Continuous):
    """The gamma distribution."""

    def logpdf(self, x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, shape, low, width = arrays("gamma", x, a, loc, scale, floats=True)
        z = (own - low) / width
        found = as_jax(special.xlogy(shape - 1, z)) - z - as_jax(special.gammaln(shape))
        return _where(own < low, -math.inf, found - as_jax(elementwise.log(width)))


class _Beta(_Continuous):
    """The beta distribution."""

    def logpdf(self, x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
        """Return the logarithm of the density."""
        own, first, second, low, width = arrays("beta", x, a, b, loc, scale, floats=True)
        z = (own - low) / width
        found = as_jax(special.xlogy(first - 1, z)) + as_jax(special.xlog1py(second - 1, -z))
        found = found - as_jax(special.betaln(first, second)) - as_jax(elementwise.log(width))
        return _where((z < 0) | (z > 1), -math.inf, found)


class _Discrete(_Distribution):
    def logpmf(self, k: Any, *parameters: Any, **options: Any) -> Any:
        """Return the logarithm of the probability."""
        raise NotImplementedError

    def pmf(self, k: Any, *parameters: Any, **options: Any) -> Any:
        """Return the probability."""
        return as_jax(elementwise.exp(self.logpmf(k, *parameters, **options)))


class _Bernoulli(_Discrete):
    """The Bernoulli distribution."""

    def logpmf(self, k: Any, p: Any, loc: Any = 0) -> Any:
        """Return the logarithm of the probability."""
        own, chance, low = arrays("bernoulli", k, p, loc, floats=True)
        at = own - low
        found = as_jax(special.xlogy(at, chance)) + as_jax(special.xlog1py(1 - at, -chance))
        return _where((at == 0) | (at == 1), found, -math.inf)


class _Poisson(_Discrete):
    """The Poisson distribution."""

    def logpmf(self, k: Any, mu: Any, loc: Any = 0) -> Any:
        """Return the logarithm of the probability."""
        own, rate, low = arrays("poisson", k, mu, loc, floats=True)
        at = own - low
        found = as_jax(special.xlogy(at, rate)) - as_jax(special.gammaln(at + 1)) - rate
        return _where((at < 0) | (at != as_jax(elementwise.floor(at))), -math.inf, found)


class _Geom(_Discrete):
    """The geometric distribution."""

    def logpmf(self, k: Any, p: Any, loc: Any = 0) -> Any:
        """Return the logarithm of the probability."""
        own, chance, low = arrays("geom", k, p, loc, floats=True)
        at = own - low
        found = as_jax(special.xlog1py(at - 1, -chance)) + as_jax(elementwise.log(chance))
        return _where(at <= 0, -math.inf, found)


norm, uniform, expon, laplace, logistic = _Norm(), _Uniform(), _Expon(), _Laplace(), _Logistic()
cauchy, t, gamma, beta = _Cauchy(), _T(), _Gamma(), _Beta()
bernoulli, poisson, geom = _Bernoulli(), _Poisson(), _Geom()

__all__ = [
    "bernoulli", "beta", "cauchy", "expon", "gamma", "geom", "laplace", "logistic", "norm",
    "poisson", "t", "uniform",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.scipy.stats' has no attribute {name!r}")
    raise unknown("stats", name)
