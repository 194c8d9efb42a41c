"""Continuous distributions other than the basic ones. All return float32, and accept arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.random.basic import Basic
from browsergpu.functions.random.parameters import ABOVE_0, AT_LEAST_0, FINITE, parameter


class Continuous(Basic):
    """Continuous distributions, with NumPy's names."""

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a Gumbel distribution.

        Parameters
        ----------
        loc : array_like, optional
            The mode.
        scale : array_like, optional
            The scale, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "gumbel", size, "gumbel", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a Laplace distribution.

        Parameters
        ----------
        loc : array_like, optional
            The mean.
        scale : array_like, optional
            The scale, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "laplace", size, "laplace", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a logistic distribution.

        Parameters
        ----------
        loc : array_like, optional
            The mean.
        scale : array_like, optional
            The scale, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "logistic", size, "logistic", [("loc", loc, FINITE), ("scale", scale, AT_LEAST_0)]
        )

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Array:
        """Draw from a log-normal distribution.

        Parameters
        ----------
        mean : array_like, optional
            The mean of the logarithms.
        sigma : array_like, optional
            The standard deviation of the logarithms, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "lognormal", size, "lognormal", [("mean", mean, FINITE), ("sigma", sigma, AT_LEAST_0)]
        )

    def pareto(self, a: Any, size: Any = None) -> Array:
        """Draw from a Pareto II distribution, which begins at 0.

        Parameters
        ----------
        a : array_like
            The shape, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("pareto", size, "pareto", [("a", a, ABOVE_0)])

    def power(self, a: Any, size: Any = None) -> Array:
        """Draw from a power distribution on the interval from 0 to 1.

        Parameters
        ----------
        a : array_like
            The exponent plus 1, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("power", size, "power", [("a", a, ABOVE_0)])

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a Rayleigh distribution.

        Parameters
        ----------
        scale : array_like, optional
            The mode, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("rayleigh", size, "rayleigh", [("scale", scale, AT_LEAST_0)])

    def weibull(self, a: Any, size: Any = None) -> Array:
        """Draw from a Weibull distribution of scale 1.

        Parameters
        ----------
        a : array_like
            The shape, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("weibull", size, "weibull", [("a", a, AT_LEAST_0)])

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Array:
        """Draw from a triangular distribution.

        Parameters
        ----------
        left, mode, right : array_like
            The least number, the most probable one and the greatest one.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
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
        """Draw from an inverse Gaussian distribution.

        Parameters
        ----------
        mean : array_like
            The mean, greater than 0.
        scale : array_like
            The scale, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "wald", size, "wald", [("mean", mean, ABOVE_0), ("scale", scale, ABOVE_0)]
        )

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Array:
        """Draw angles from a von Mises distribution.

        Parameters
        ----------
        mu : array_like
            The mode.
        kappa : array_like
            The concentration, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 from -π to π, of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "vonmises", size, "vonmises", [("mu", mu, FINITE), ("kappa", kappa, AT_LEAST_0)]
        )

    def beta(self, a: Any, b: Any, size: Any = None) -> Array:
        """Draw from a beta distribution.

        Parameters
        ----------
        a, b : array_like
            The shapes, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("beta", size, "beta", [("a", a, ABOVE_0), ("b", b, ABOVE_0)])

    def chisquare(self, df: Any, size: Any = None) -> Array:
        """Draw from a chi-squared distribution.

        Parameters
        ----------
        df : array_like
            Degrees of freedom, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("chisquare", size, "chisquare", [("df", df, ABOVE_0)])

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Array:
        """Draw from an F distribution.

        Parameters
        ----------
        dfnum, dfden : array_like
            Degrees of freedom, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("f", size, "f", [("dfnum", dfnum, ABOVE_0), ("dfden", dfden, ABOVE_0)])

    def standard_t(self, df: Any, size: Any = None) -> Array:
        """Draw from Student's t distribution.

        Parameters
        ----------
        df : array_like
            Degrees of freedom, greater than 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("standard_t", size, "standard_t", [("df", df, ABOVE_0)])

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Array:
        """Draw from a noncentral chi-squared distribution.

        Parameters
        ----------
        df : array_like
            Degrees of freedom, greater than 0.
        nonc : array_like
            Noncentrality, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "noncentral_chisquare",
            size,
            "noncentral_chisquare",
            [("df", df, ABOVE_0), ("nonc", nonc, AT_LEAST_0)],
        )

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Array:
        """Draw from a noncentral F distribution.

        Parameters
        ----------
        dfnum, dfden : array_like
            Degrees of freedom, greater than 0.
        nonc : array_like
            Noncentrality, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "noncentral_f",
            size,
            "noncentral_f",
            [("dfnum", dfnum, ABOVE_0), ("dfden", dfden, ABOVE_0), ("nonc", nonc, AT_LEAST_0)],
        )

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a gamma distribution.

        Parameters
        ----------
        shape : array_like
            The shape, at least 0.
        scale : array_like, optional
            The scale, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "gamma"
        parameters = [("shape", shape, AT_LEAST_0), ("scale", scale, AT_LEAST_0)]
        return self._sample(op, size, "scaled_gamma", parameters)

    def standard_cauchy(self, size: Any = None) -> Array:
        """Draw from a Cauchy distribution of mode 0.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result. A single number by default.

        Returns
        -------
        Array
            float32 of shape ``size``.
        """
        return self._sample("standard_cauchy", size, "cauchy", [])
