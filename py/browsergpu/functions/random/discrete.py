"""Discrete distributions. They return the default integer type, and accept arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions.random.continuous import Continuous
from browsergpu.functions.random.parameters import (
    ABOVE_0,
    ABOVE_1,
    COUNT,
    MEAN,
    SHARE,
    SHARE_ABOVE_0,
    SHARE_BELOW_1,
    THINGS,
    parameter,
)
from browsergpu.functions.random.stream import whole_kind


class Discrete(Continuous):
    """Discrete distributions, with NumPy's names."""

    def binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """Draw the number of successes in ``n`` trials.

        Parameters
        ----------
        n : array_like
            Number of trials, from 0 to 2**31 - 1.
        p : array_like
            The probability of a success, from 0 to 1.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample(
            "binomial", size, "binomial", [("n", n, COUNT), ("p", p, SHARE)], whole_kind()
        )

    def geometric(self, p: Any, size: Any = None) -> Array:
        """Draw the number of trials up to the first success.

        Parameters
        ----------
        p : array_like
            The probability of a success, greater than 0 and at most 1.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("geometric", size, "geometric", [("p", p, SHARE_ABOVE_0)], whole_kind())

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Array:
        """Draw the number of good items in a sample without replacement.

        Parameters
        ----------
        ngood, nbad : array_like
            Number of good and bad items, from 0 to 10**9.
        nsample : array_like
            Size of the sample, at most ``ngood + nbad``.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        given = [parameter("hypergeometric", "n", n, THINGS) for n in (ngood, nbad, nsample)]
        if not any(isinstance(one, Array) for one in given):
            good, bad, sample = (np.asarray(one, np.int64) for one in given)
            if np.any(sample > good + bad):
                raise InvalidArgument("hypergeometric", "nsample", nsample, "at most ngood + nbad")
        return self._sample(
            "hypergeometric",
            size,
            "hypergeometric",
            [("ngood", ngood, THINGS), ("nbad", nbad, THINGS), ("nsample", nsample, THINGS)],
            whole_kind(),
        )

    def logseries(self, p: Any, size: Any = None) -> Array:
        """Draw from a logarithmic series distribution.

        Parameters
        ----------
        p : array_like
            The shape, from 0 to less than 1.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("logseries", size, "logseries", [("p", p, SHARE_BELOW_1)], whole_kind())

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """Draw the number of failures up to the ``n``-th success.

        Parameters
        ----------
        n : array_like
            Number of successes, greater than 0.
        p : array_like
            The probability of a success, greater than 0 and at most 1.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        count, share = parameter("negative_binomial", "n", n, ABOVE_0), p
        if not isinstance(n, Array) and not isinstance(p, Array):
            share = np.asarray(parameter("negative_binomial", "p", p, SHARE_ABOVE_0), np.float64)
            means = (1 - share) * np.asarray(count, np.float64) / share
            if np.any(means + 10 * np.sqrt(means) > 2.147e9):
                expected = "large enough that the mean fits int32"
                raise InvalidArgument("negative_binomial", "p", p, expected)
        return self._sample(
            "negative_binomial",
            size,
            "negative_binomial",
            [("n", n, ABOVE_0), ("p", p, SHARE_ABOVE_0)],
            whole_kind(),
        )

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Array:
        """Draw from a Poisson distribution.

        Parameters
        ----------
        lam : array_like, optional
            The mean, from 0 to 2.147e9.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("poisson", size, "poisson", [("lam", lam, MEAN)], whole_kind())

    def zipf(self, a: Any, size: Any = None) -> Array:
        """Draw from a Zipf distribution. Results are less than 2**31.

        Parameters
        ----------
        a : array_like
            The exponent, greater than 1.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            Integers of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        return self._sample("zipf", size, "zipf", [("a", a, ABOVE_1)], whole_kind())
