"""Draw with each method of ``dask.array.random``, with ``array.backend`` set to browsergpu.

A program like ``chunk_calls.py``: it writes a line of JSON for each class and method, with the
outcome.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

#: Methods that draw on the GPU: arguments, mean and standard deviation.
DRAWN: dict[str, tuple[tuple[Any, ...], float, float]] = {
    "beta": ((2, 3), 0.4, 0.2),
    "binomial": ((10, 0.5), 5, 1.5811),
    "chisquare": ((3,), 3, 2.4495),
    "choice": ((8,), 3.5, 2.291),
    "exponential": ((2.0,), 2, 2),
    "f": ((3, 12), 1.2, 1.249),
    "gamma": ((2,), 2, 1.4142),
    "geometric": ((0.5,), 2, 1.4142),
    "gumbel": ((), 0.5772, 1.2825),
    "hypergeometric": ((10, 5, 4), 2.6667, 0.8357),
    "integers": ((0, 9), 4, 2.582),
    "laplace": ((), 0, 1.4142),
    "logistic": ((), 0, 1.8138),
    "lognormal": ((0, 0.5), 1.1331, 0.6039),
    "logseries": ((0.5,), 1.4427, 0.8967),
    "negative_binomial": ((5, 0.5), 5, 3.1623),
    "noncentral_chisquare": ((3, 1), 4, 3.1623),
    "noncentral_f": ((3, 12, 1), 1.6, 1.6248),
    "normal": ((3.0, 2.0), 3, 2),
    "pareto": ((8,), 0.1429, 0.165),
    "poisson": ((3,), 3, 1.7321),
    "power": ((2,), 0.6667, 0.2357),
    "randint": ((0, 9), 4, 2.582),
    "random": ((), 0.5, 0.2887),
    "random_integers": ((1, 9), 5, 2.582),
    "random_sample": ((), 0.5, 0.2887),
    "rayleigh": ((), 1.2533, 0.6551),
    "standard_exponential": ((), 1, 1),
    "standard_gamma": ((2,), 2, 1.4142),
    "standard_normal": ((), 0, 1),
    "standard_t": ((8,), 0, 1.1547),
    "tomaxint": ((), 2**30, 2**31 / 12**0.5),
    "triangular": ((0, 1, 2), 1, 0.4082),
    "uniform": ((-1.0, 3.0), 1, 1.1547),
    "vonmises": ((0, 1), 0, 1.2666),
    "wald": ((1, 4), 1, 0.5),
    "weibull": ((2,), 0.8862, 0.4633),
}
#: Methods without a mean, or that draw vectors: arguments, and a check of the drawn numbers.
CHECKED: dict[str, tuple[tuple[Any, ...], Callable[[np.ndarray], Any]]] = {
    "multinomial": ((5, [0.2, 0.8]), lambda x: x.shape == (N, 2) and (x.sum(1) == 5).all()),
    "multivariate_hypergeometric": (
        ([3, 4], 2), lambda x: x.shape == (N, 2) and (x.sum(1) == 2).all(),
    ),
    "standard_cauchy": ((), lambda x: abs(np.median(np.abs(x)) - 1) < 0.1),
    "zipf": ((2,), lambda x: abs((x == 1).mean() - 0.6079) < 0.04),
}  # fmt: skip
N = 4000


def in_chunks(name: str) -> dict[str, int]:
    """Return the ``chunks`` argument; Dask's tomaxint takes none."""
    return {} if name == "tomaxint" else {"chunks": N // 4}


def problem(made: Any, name: str) -> str:
    """Describe an error in the numbers that a method draws; "" if there is none."""
    import browsergpu as bg

    arguments, mean, deviation = DRAWN[name]
    first, again = (
        getattr(made(), name)(*arguments, size=(N,), **in_chunks(name)).compute() for _ in range(2)
    )
    if not isinstance(first, bg.Array) or first.dtype not in (np.float32, np.int32, np.int64):
        return f"a {type(first).__name__} of {first.dtype}"
    drawn = first.numpy()
    if not np.array_equal(drawn, again.numpy()):
        return "other numbers from the same seed"
    if in_chunks(name) and np.array_equal(drawn[: N // 4], drawn[N // 4 : N // 2]):
        return "the same numbers in two chunks"
    # Five standard errors. The seed is fixed, so the test always gives the same result.
    if abs(drawn.mean() - mean) > 5 * deviation / np.sqrt(N):
        return f"mean {drawn.mean()} instead of {mean}"
    if abs(drawn.std() - deviation) > 0.1 * deviation:
        return f"standard deviation {drawn.std()} instead of {deviation}"
    return ""


def permuted(generator: Any) -> str:
    """Describe an error in a permutation; "" if there is none."""
    import dask.array as da

    found = generator.permutation(da.arange(12, chunks=5)).compute()
    return "" if sorted(found.tolist()) == list(range(12)) else f"{found.tolist()}"


def outcome(made: Any, name: str) -> str:
    """Return the outcome of a method."""
    import browsergpu as bg

    try:
        if name == "seed":
            return "right" if made().seed(3) is None else "wrong"
        if name == "permutation":
            wrong = permuted(made())
        elif name in DRAWN:
            wrong = problem(made, name)
        else:
            arguments, is_right = CHECKED[name]
            drawn = getattr(made(), name)(*arguments, size=(N,), **in_chunks(name)).compute()
            wrong = "" if is_right(drawn.numpy()) else f"{drawn}"
    except bg.errors.BackendError as error:
        return f"refused {type(error).__name__}: {error}"
    except Exception as error:
        return f"raw {type(error).__name__}: {error}"
    return f"wrong {wrong}" if wrong else "right"


def main() -> None:
    """Print a line for each class and method."""
    import dask
    import dask.array as da

    import browsergpu as bg
    import browsergpu.dask

    bg.set_x64("quiet")
    dask.config.set({"scheduler": "synchronous", "array.backend": "browsergpu"})
    for kind, made in (
        ("Generator", lambda: da.random.default_rng(3)),
        ("RandomState", lambda: da.random.RandomState(3)),
    ):
        for name in dir(getattr(da.random, kind)):
            if not name.startswith("_"):
                print(json.dumps([kind, name, outcome(made, name)]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
