"""Which order statistics a quantile lies between: NumPy's methods, computed on the host.

R. J. Hyndman, Y. Fan, 1996, https://doi.org/10.1080/00031305.1996.10473566 has nine of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from browsergpu.core.errors import InvalidArgument

#: alpha and beta of the continuous methods.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


class Between(NamedTuple):
    """Two places among n sorted elements, from 0 on, and the share of the second element. Where
    there is no ``share``, the first element is the quantile."""

    first: np.ndarray
    second: np.ndarray
    share: np.ndarray | None


def between(op: str, method: str, n: Any, q: np.ndarray) -> Between:
    """Find the places of quantiles ``q`` among ``n`` elements, a number or an array of them.

    The arithmetic is NumPy's, step by step: a share that is rounded otherwise has another element.
    Raises InvalidArgument for other methods than NumPy's.
    """
    if method in _DISCRETE:
        place = np.asarray(_DISCRETE[method](n, q))
        return _taken(place, n)
    if method == "linear" and q.dtype.kind in "biu":
        return _taken((n - 1) * q, n)
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method in _PLACES:
        place = _PLACES[method](n, q)
    else:
        known = ", ".join([*_CONTINUOUS, *_PLACES, *_DISCRETE])
        raise InvalidArgument(op, "method", method, f"one of {known}")
    first = np.floor(place)
    share = np.asarray(_SHARES.get(method, _share)(place - first, place))
    return Between(_inside(first, n), _inside(np.where(place < 0, 0, first + 1), n), share)


def _taken(place: np.ndarray, n: Any) -> Between:
    inside = _inside(place, n)
    return Between(inside, inside, None)


def _inside(place: np.ndarray, n: Any) -> np.ndarray:
    last = np.maximum(np.asarray(n) - 1, 0)
    return np.asarray(np.clip(place, 0, last), np.int64)


def _share(rest: np.ndarray, place: np.ndarray) -> np.ndarray:
    return rest


_PLACES: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "linear": lambda n, q: (n - 1) * q,
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
}
_SHARES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "averaged_inverted_cdf": lambda rest, place: np.where(rest == 0, 0.5, 1.0),
    "midpoint": lambda rest, place: np.where(place % 1 == 0, 0.0, 0.5),
}


def _inverted_cdf(n: Any, q: np.ndarray) -> np.ndarray:
    place = n * q - 1
    first = np.floor(place)
    return np.asarray(np.where(place == first, first, first + 1))


def _closest_observation(n: Any, q: np.ndarray) -> np.ndarray:
    place = n * q - 1 - 0.5
    first = np.floor(place)
    return np.asarray(np.where((place == first) & (first % 2 == 1), first, first + 1))


_DISCRETE: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "inverted_cdf": _inverted_cdf,
    "closest_observation": _closest_observation,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
}
