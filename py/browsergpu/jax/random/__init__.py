"""``jax.random``: keys, and numbers with JAX's bits.

A key is an array of two uint32, as ``jax.random.PRNGKey`` returns. The same key gives the same
numbers in each call. The bits are those of JAX with ``jax_threefry_partitionable``, its default.
"""

from __future__ import annotations

import difflib
from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.arrays import methods as _methods  # noqa: F401
from browsergpu.jax.random.distributions import (
    categorical,
    cauchy,
    choice,
    double_sided_maxwell,
    exponential,
    geometric,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    multivariate_normal,
    orthogonal,
    pareto,
    permutation,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from browsergpu.jax.random.gammas import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from browsergpu.jax.random.keys import (
    PRNGKey,
    bits,
    clone,
    fold_in,
    key,
    key_data,
    key_impl,
    split,
    wrap_key_data,
)
from browsergpu.jax.random.samplers import (
    bernoulli,
    normal,
    rademacher,
    randint,
    truncated_normal,
    uniform,
)

__all__ = [
    "PRNGKey", "ball", "bernoulli", "beta", "bits", "categorical", "cauchy", "chisquare", "choice",
    "clone", "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma",
    "generalized_normal", "geometric", "gumbel", "key", "key_data", "key_impl", "laplace",
    "loggamma", "logistic", "lognormal", "maxwell", "multivariate_normal", "normal", "orthogonal",
    "pareto", "permutation", "rademacher", "randint", "rayleigh", "split", "t", "triangular",
    "truncated_normal", "uniform", "wald", "weibull_min", "wrap_key_data",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.random' has no attribute {name!r}")
    close = difflib.get_close_matches(name, __all__, 1)
    advice = f"Did you mean {close[0]}?" if close else "Use bg.random.default_rng(seed)."
    raise UnknownName(f"browsergpu.jax.random.{name}", f"it is not available. {advice}")
