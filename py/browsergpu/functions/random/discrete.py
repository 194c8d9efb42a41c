"""Discrete distributions, in the default integer type. Parameters may be arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.errors import InvalidArgument
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
    """Distributions by NumPy's names."""

    def binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """Successes of ``n`` trials, each with the probability ``p``."""
        return self._sample(
            "binomial", size, "binomial", [("n", n, COUNT), ("p", p, SHARE)], whole_kind()
        )

    def geometric(self, p: Any, size: Any = None) -> Array:
        """Trials up to the first success, each with the probability ``p``."""
        return self._sample("geometric", size, "geometric", [("p", p, SHARE_ABOVE_0)], whole_kind())

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Array:
        """Good things among ``nsample`` that are taken of ``ngood`` and ``nbad``."""
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
        """Whole numbers of the logarithmic series distribution of shape ``p``."""
        return self._sample("logseries", size, "logseries", [("p", p, SHARE_BELOW_1)], whole_kind())

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Array:
        """Failures up to the ``n``-th success, each success with the probability ``p``."""
        count, share = parameter("negative_binomial", "n", n, ABOVE_0), p
        if not isinstance(n, Array) and not isinstance(p, Array):
            share = np.asarray(parameter("negative_binomial", "p", p, SHARE_ABOVE_0), np.float64)
            means = (1 - share) * np.asarray(count, np.float64) / share
            if np.any(means + 10 * np.sqrt(means) > 2.147e9):
                expected = "large enough for a mean that int32 holds"
                raise InvalidArgument("negative_binomial", "p", p, expected)
        return self._sample(
            "negative_binomial",
            size,
            "negative_binomial",
            [("n", n, ABOVE_0), ("p", p, SHARE_ABOVE_0)],
            whole_kind(),
        )

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Array:
        """Whole numbers of the Poisson distribution of that mean."""
        return self._sample("poisson", size, "poisson", [("lam", lam, MEAN)], whole_kind())

    def zipf(self, a: Any, size: Any = None) -> Array:
        """Whole numbers of the Zipf distribution of exponent ``a``, below 2**31."""
        return self._sample("zipf", size, "zipf", [("a", a, ABOVE_1)], whole_kind())
