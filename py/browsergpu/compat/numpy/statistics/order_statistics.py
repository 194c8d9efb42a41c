"""NumPy's quantile methods, which select and weight order statistics. Computed on the host.

Source of nine methods: R. J. Hyndman, Y. Fan, 1996, https://doi.org/10.1080/00031305.1996.10473566
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from browsergpu.engine.core.errors import InvalidArgument

#: The parameters alpha and beta of continuous methods.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


class Between(NamedTuple):
    """Two indices of sorted elements, and the weight ``share`` of the second element.

    If ``share`` is None, the first element is the quantile.
    """

    first: np.ndarray
    second: np.ndarray
    share: np.ndarray | None


def between(op: str, method: str, n: Any, q: np.ndarray) -> Between:
    """Return the positions of quantiles ``q`` among ``n`` elements. ``n`` may be an array.

    It repeats NumPy's arithmetic exactly, because other rounding would select other elements.
    Raises InvalidArgument for an unknown method.
    """
    if method in _DISCRETE:
        place = np.asarray(_DISCRETE[method](n, q))
        return _single(place, n)
    if method == "linear" and q.dtype.kind in "biu":
        return _single((n - 1) * q, n)
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


def _single(place: np.ndarray, n: Any) -> Between:
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
