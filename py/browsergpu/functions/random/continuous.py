"""Continuous distributions beside the basic ones. All give float32; parameters may be arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions.random.basic import Basic
from browsergpu.functions.random.parameters import ABOVE_0, AT_LEAST_0, FINITE, parameter


class Continuous(Basic):
    """Distributions by NumPy's names."""

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """float32 of the Gumbel distribution of that mode and scale."""
        return self._sample(
            "gumbel", size, "gumbel", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """float32 of the Laplace distribution of that mean and scale."""
        return self._sample(
            "laplace", size, "laplace", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """float32 of the logistic distribution of that mean and scale."""
        return self._sample(
            "logistic", size, "logistic", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Array:
        """float32 whose logarithms are normal, of that mean and standard deviation."""
        return self._sample(
            "lognormal", size, "lognormal", [("mean", mean, FINITE), ("sigma", sigma, AT_LEAST_0)]
        )

    def pareto(self, a: Any, size: Any = None) -> Array:
        """float32 of the Pareto II distribution, which begins at 0, of shape ``a``."""
        return self._sample("pareto", size, "pareto", [("a", a, ABOVE_0)])

    def power(self, a: Any, size: Any = None) -> Array:
        """float32 of the power distribution on 0 to 1, of exponent ``a`` - 1."""
        return self._sample("power", size, "power", [("a", a, ABOVE_0)])

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Array:
        """float32 of the Rayleigh distribution of that mode."""
        return self._sample("rayleigh", size, "rayleigh", [("scale", scale, AT_LEAST_0)])

    def weibull(self, a: Any, size: Any = None) -> Array:
        """float32 of the Weibull distribution of shape ``a`` and scale 1."""
        return self._sample("weibull", size, "weibull", [("a", a, AT_LEAST_0)])

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Array:
        """float32 of the triangular distribution from ``left`` to ``right``, most at ``mode``."""
        op = "triangular"
        given = [
            parameter(op, name, value, FINITE)
            for name, value in (("left", left), ("mode", mode), ("right", right))
        ]
        if not any(isinstance(one, Array) for one in given):
            first, most, last = given
            if np.any(first > most) or np.any(most > last) or np.any(first == last):
                raise InvalidArgument(op, "mode", mode, "between left and right, which differ")
        return self._sample(
            "triangular",
            size,
            "triangular",
            [("left", left, FINITE), ("mode", mode, FINITE), ("right", right, FINITE)],
        )

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Array:
        """float32 of the inverse Gaussian distribution of that mean and scale."""
        return self._sample(
            "wald", size, "wald", [("mean", mean, ABOVE_0), ("scale", scale, ABOVE_0)]
        )

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Array:
        """Angles from -π to π, float32, of the von Mises distribution of mode ``mu``."""
        return self._sample(
            "vonmises", size, "vonmises", [("mu", mu, FINITE), ("kappa", kappa, AT_LEAST_0)]
        )

    def beta(self, a: Any, b: Any, size: Any = None) -> Array:
        """float32 of the beta distribution of shapes ``a`` and ``b``."""
        return self._sample("beta", size, "beta", [("a", a, ABOVE_0), ("b", b, ABOVE_0)])

    def chisquare(self, df: Any, size: Any = None) -> Array:
        """float32 of the chi-squared distribution of ``df`` degrees of freedom."""
        return self._sample("chisquare", size, "chisquare", [("df", df, ABOVE_0)])

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Array:
        """float32 of the F distribution of ``dfnum`` and ``dfden`` degrees of freedom."""
        return self._sample("f", size, "f", [("dfnum", dfnum, ABOVE_0), ("dfden", dfden, ABOVE_0)])

    def standard_t(self, df: Any, size: Any = None) -> Array:
        """float32 of Student's t distribution of ``df`` degrees of freedom."""
        return self._sample("standard_t", size, "standard_t", [("df", df, ABOVE_0)])

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Array:
        """float32 of the noncentral chi-squared distribution of ``df`` degrees of freedom."""
        return self._sample(
            "noncentral_chisquare",
            size,
            "noncentral_chisquare",
            [("df", df, ABOVE_0), ("nonc", nonc, AT_LEAST_0)],
        )

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Array:
        """float32 of the noncentral F distribution of so many degrees of freedom."""
        return self._sample(
            "noncentral_f",
            size,
            "noncentral_f",
            [("dfnum", dfnum, ABOVE_0), ("dfden", dfden, ABOVE_0), ("nonc", nonc, AT_LEAST_0)],
        )

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Array:
        """float32 of the gamma distribution of that shape and scale."""
        op = "gamma"
        parameters = [("shape", shape, AT_LEAST_0), ("scale", scale, AT_LEAST_0)]
        return self._sample(op, size, "scaled_gamma", parameters)

    def standard_cauchy(self, size: Any = None) -> Array:
        """float32 of the Cauchy distribution of mode 0."""
        return self._sample("standard_cauchy", size, "cauchy", [])
