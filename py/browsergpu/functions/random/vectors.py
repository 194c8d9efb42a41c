"""Distributions of vectors, which are along the last axis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.places import frames_of_the_package
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.linalg.decompositions import cholesky, eigh, svd
from browsergpu.functions.linalg.linear import matmul
from browsergpu.functions.ordering.sorting import cumulative_sum
from browsergpu.functions.random.discrete import Discrete
from browsergpu.functions.random.parameters import (
    ABOVE_0,
    COUNT,
    FINITE,
    SHARE,
    THINGS,
    drawn_shape,
    parameter,
    shape_of,
    shape_of_parameter,
)

_METHODS = ("svd", "eigh", "cholesky")
_CHECKS = ("warn", "raise", "ignore")


class Vectors(Discrete):
    """Distributions of vectors, with NumPy's names."""

    def dirichlet(self, alpha: Any, size: Any = None) -> Array:
        """Draw from a Dirichlet distribution.

        Parameters
        ----------
        alpha : array_like
            Shape [k]. Numbers greater than 0.
        size : int or tuple of int, optional
            The shape of the result without its last axis.

        Returns
        -------
        Array
            float32 of shape [*size, k]. The last axis sums to 1.

        Raises
        ------
        InvalidArgument
            If ``alpha`` has another shape, or is out of range on the host.
        """
        op = "dirichlet"
        shares = parameter(op, "alpha", alpha, ABOVE_0)
        if len(shape := shape_of_parameter(shares)) != 1 or shape[0] == 0:
            raise InvalidArgument(op, "alpha", alpha, "have one axis, and elements")
        parameters = [("alpha", shares, ABOVE_0)]
        logs = self._sample(op, (*shape_of(op, size), *shape), "log_gamma", parameters)
        # With small shapes, the numbers underflow in float32, but their quotients do not.
        most = statistics.max(logs, axis=-1, keepdims=True)
        parts = elementwise.exp(elementwise.subtract(logs, most))
        return elementwise.divide(parts, statistics.sum(parts, axis=-1, keepdims=True))

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Array:
        """Draw the number of trials with each outcome.

        Outcomes are drawn one after the other, each from a binomial distribution of the remaining
        trials.

        Parameters
        ----------
        n : int or array_like
            Number of trials.
        pvals : array_like
            Probabilities of the outcomes, of shape [..., k]. The last one is the remainder to 1.
        size : int or tuple of int, optional
            The shape of the result without its last axis.

        Returns
        -------
        Array
            Integers of shape [*size, k].

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "multinomial"
        trials: Any = parameter(op, "n", n, COUNT)
        shares = parameter(op, "pvals", pvals, SHARE)
        shape = shape_of_parameter(shares)
        if not shape or shape[-1] == 0:
            raise InvalidArgument(op, "pvals", pvals, "have an axis of outcomes")
        if isinstance(shares, np.ndarray):
            exact = np.asarray(pvals, np.float64)
            if np.any(exact[..., :-1].sum(-1) > 1 + 1e-6):
                raise InvalidArgument(op, "pvals", pvals, "numbers that add up to at most 1")
            left: Any = np.maximum(1 - np.cumsum(exact[..., :-1], -1) + exact[..., :-1], 1e-300)
            chances: Any = np.clip(exact[..., :-1] / left, 0, 1)
        else:
            firsts = shares[..., :-1]
            before = elementwise.subtract(cumulative_sum(firsts, axis=-1), firsts)
            left = elementwise.maximum(elementwise.subtract(1.0, before), 1e-30)
            chances = elementwise.clip(elementwise.divide(firsts, left), 0.0, 1.0)
        common = drawn_shape(op, size, (shape_of_parameter(trials), shape[:-1]))
        drawn = []
        for k in range(shape[-1] - 1):
            drawn.append(self.binomial(trials, chances[..., k], common))
            trials = elementwise.subtract(_whole(trials, drawn[-1], common), drawn[-1])
        if not drawn:
            drawn.append(self.binomial(trials, 1.0, common))
        else:
            drawn.append(trials)
        return manipulation.stack(drawn, axis=-1)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals"
    ) -> Array:
        """Draw the number of items of each color in a sample without replacement.

        Colors are drawn one after the other.

        Parameters
        ----------
        colors : sequence of int
            Number of items of each color, of shape [k], on the host. At most 10**9 in all.
        nsample : int
            Size of the sample.
        size : int or tuple of int, optional
            The shape of the result without its last axis.
        method : {"marginals"}, optional
            NumPy's "count", another algorithm for the same distribution, is refused.

        Returns
        -------
        Array
            Integers of shape [*size, k].

        Raises
        ------
        InvalidArgument
            If a parameter is out of range, or ``method`` has another value.
        """
        op = "multivariate_hypergeometric"
        if method != "marginals":
            raise InvalidArgument(op, "method", method, "'marginals'")
        there = parameter(op, "colors", colors, THINGS)
        if isinstance(there, Array) or np.ndim(there) != 1 or not len(there):
            raise InvalidArgument(op, "colors", colors, "a list or NumPy array with one axis")
        there = there.astype(np.int64)
        total = int(there.sum())
        left: Any = checks.integer(op, "nsample", nsample, maximum=total)
        if total > 10**9:
            raise InvalidArgument(op, "colors", colors, "at most 10**9 in all")
        shape, drawn = shape_of(op, size), []
        for count in there[:-1].tolist():
            total -= count
            drawn.append(self.hypergeometric(count, total, left, shape))
            left = elementwise.subtract(_whole(left, drawn[-1], shape), drawn[-1])
        if not drawn:
            return creation.full((*shape, 1), left, device=self._where(shape).device)
        return manipulation.stack([*drawn, left], axis=-1)

    def _multivariate_normal(
        self, mean: Any, cov: Any, size: Any, check_valid: str, tol: float, method: str
    ) -> Array:
        op = "multivariate_normal"
        for name, value, known in (
            ("method", method, _METHODS),
            ("check_valid", check_valid, _CHECKS),
        ):
            if value not in known:
                raise InvalidArgument(op, name, value, f"one of {', '.join(map(repr, known))}")
        tolerance = checks.real(op, "tol", tol)
        at, spread = parameter(op, "mean", mean, FINITE), parameter(op, "cov", cov, FINITE)
        if len(shape_of_parameter(at)) != 1:
            raise InvalidArgument(op, "mean", mean, "have one axis")
        (k,) = shape_of_parameter(at)
        if shape_of_parameter(spread) != (k, k):
            raise InvalidArgument(op, "cov", cov, f"have the shape {(k, k)}")
        if isinstance(spread, np.ndarray) and check_valid != "ignore":
            _check_covariance(op, np.asarray(cov, np.float64), check_valid, tolerance)
        z = self.normal(size=(*shape_of(op, size), k))
        at, spread = (_beside(z, one) for one in (at, spread))
        return elementwise.add(matmul(z, _factor(spread, method)), at)


def _factor(spread: Array, method: str) -> Array:
    """Return A with ``A.T @ A`` equal to the covariance."""
    if method == "cholesky":
        return manipulation.matrix_transpose(cholesky(spread))
    if method == "eigh":
        values, vectors = eigh(spread)
        width = elementwise.sqrt(elementwise.maximum(values, 0.0))
        return manipulation.matrix_transpose(elementwise.multiply(vectors, width))
    _, values, rows = svd(spread, full_matrices=False)
    width = elementwise.sqrt(values)
    return elementwise.multiply(manipulation.expand_dims(width, axis=-1), rows)


def _check_covariance(op: str, spread: np.ndarray, check_valid: str, tol: float) -> None:
    least = np.linalg.eigvalsh((spread + spread.T) / 2).min(initial=0.0)
    is_symmetric = np.allclose(spread, spread.T, rtol=tol, atol=tol)
    if is_symmetric and least >= -tol * max(1.0, float(np.abs(spread).max(initial=0.0))):
        return
    if check_valid == "raise":
        expected = "symmetric and positive semidefinite"
        raise InvalidArgument(op, "cov", spread, expected)
    warnings.warn(
        "multivariate_normal: cov is not symmetric and positive semidefinite",
        RuntimeWarning,
        stacklevel=frames_of_the_package(),
    )


def _beside(drawn: Array, value: Any) -> Array:
    if isinstance(value, Array):
        return value
    return creation.asarray(np.asarray(value), device=drawn.device)


def _whole(value: Any, like: Array, shape: Shape) -> Array:
    """Return numbers of trials as an array of the type of drawn numbers."""
    made = value if isinstance(value, Array) else _beside(like, np.asarray(value, like.dtype))
    return manipulation.broadcast_to(made.astype(like.dtype, copy=False), shape)
