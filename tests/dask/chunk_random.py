"""Draws by each method of ``dask.array.random`` with ``array.backend`` set to browsergpu.

A program like ``chunk_calls.py``: a line of JSON for each class and method, with its outcome.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

#: What is drawn on the GPU: its arguments, the mean and the standard deviation.
DRAWN: dict[str, tuple[tuple[Any, ...], float, float]] = {
    "choice": ((8,), 3.5, 2.291),
    "exponential": ((2.0,), 2, 2),
    "integers": ((0, 9), 4, 2.582),
    "normal": ((3.0, 2.0), 3, 2),
    "randint": ((0, 9), 4, 2.582),
    "random": ((), 0.5, 0.2887),
    "random_integers": ((1, 9), 5, 2.582),
    "random_sample": ((), 0.5, 0.2887),
    "standard_exponential": ((), 1, 1),
    "standard_normal": ((), 0, 1),
    "uniform": ((-1.0, 3.0), 1, 1.1547),
}
#: The arguments of the others.
REFUSED: dict[str, tuple[Any, ...]] = {
    "beta": (2, 3), "binomial": (10, 0.5), "chisquare": (3,), "f": (3, 4), "gamma": (2,),
    "geometric": (0.5,), "gumbel": (), "hypergeometric": (10, 5, 4), "laplace": (), "logistic": (),
    "lognormal": (), "logseries": (0.5,), "multinomial": (5, [0.2, 0.8]),
    "multivariate_hypergeometric": ([3, 4], 2), "negative_binomial": (5, 0.5),
    "noncentral_chisquare": (3, 1), "noncentral_f": (3, 4, 1), "pareto": (3,), "poisson": (3,),
    "power": (2,), "rayleigh": (), "standard_cauchy": (), "standard_gamma": (2,),
    "standard_t": (4,), "tomaxint": (), "triangular": (0, 1, 2), "vonmises": (0, 1),
    "wald": (1, 1), "weibull": (2,), "zipf": (2,),
}  # fmt: skip
N = 4000


def problem(made: Any, name: str) -> str:
    """What is wrong with what a method draws; "" where nothing is."""
    import browsergpu as bg

    arguments, mean, deviation = DRAWN[name]
    first, again = (
        getattr(made(), name)(*arguments, size=(N,), chunks=N // 4).compute() for _ in range(2)
    )
    if not isinstance(first, bg.Array) or first.dtype not in (np.float32, np.int32):
        return f"a {type(first).__name__} of {first.dtype}"
    drawn = first.numpy()
    if not np.array_equal(drawn, again.numpy()):
        return "other numbers from the same seed"
    if np.array_equal(drawn[: N // 4], drawn[N // 4 : N // 2]):
        return "the same numbers in two chunks"
    # Five standard errors; the seed is fixed, so that this is decided once.
    if abs(drawn.mean() - mean) > 5 * deviation / np.sqrt(N):
        return f"mean {drawn.mean()} instead of {mean}"
    if abs(drawn.std() - deviation) > 0.1 * deviation:
        return f"standard deviation {drawn.std()} instead of {deviation}"
    return ""


def permuted(generator: Any) -> str:
    """What is wrong with a permutation."""
    import dask.array as da

    found = generator.permutation(da.arange(12, chunks=5)).compute()
    return "" if sorted(found.tolist()) == list(range(12)) else f"{found.tolist()}"


def outcome(made: Any, name: str) -> str:
    """What comes of a method."""
    import browsergpu as bg

    try:
        if name == "seed":
            return "right" if made().seed(3) is None else "wrong"
        if name == "permutation":
            wrong = permuted(made())
        elif name in DRAWN:
            wrong = problem(made, name)
        else:
            size = {"size": (8,)} if name == "tomaxint" else {"size": (8,), "chunks": 4}
            getattr(made(), name)(*REFUSED[name], **size).compute()
            wrong = "it is drawn: by what?"
    except bg.errors.BackendError as error:
        return f"refused {type(error).__name__}: {error}"
    except Exception as error:
        return f"raw {type(error).__name__}: {error}"
    return f"wrong {wrong}" if wrong else "right"


def main() -> None:
    """A line for each class and method."""
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
