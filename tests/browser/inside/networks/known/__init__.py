"""Calls of network functions and their results in float64 NumPy, by function.

The tests of values, of gradients and of drawn gradients use all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Known(NamedTuple):
    """A call ``ours(bg, *arrays)`` that equals ``theirs(*arrays)``.

    It has a gradient for each array. No element is within 0.05 of a kink.
    """

    arrays: tuple[np.ndarray, ...]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]


Table = dict[str, list[Known]]


def random(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def settings(name: str, x: np.ndarray, *pairs: tuple[dict[str, Any], Any]) -> list[Known]:
    """Return calls of a function of one array, with options."""
    return [
        Known((x,), lambda bg, v, more=more: getattr(bg.nn, name)(v, **more), theirs)
        for more, theirs in pairs
    ]


def gather() -> Table:
    from inside.networks.known import activations, bags, losses, spatial

    found: Table = {}
    for module in (activations, bags, losses, spatial):
        assert not found.keys() & module.CASES.keys()
        found |= module.CASES
    return found
