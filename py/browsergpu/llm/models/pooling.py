"""Vectors of texts from the states of their tokens."""

from __future__ import annotations

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, statistics


def mean_of(states: Array, lengths: np.ndarray) -> Array:
    """Return the mean [N, width] of the states [N, T, width] of the first tokens of each text."""
    if (lengths == states.shape[1]).all():
        return statistics.mean(states, axis=1)
    there = np.arange(states.shape[1]) < lengths[:, None]
    shares = (there / lengths[:, None]).astype(np.float32)[..., None]
    own = creation.asarray(shares, device=states.device)
    return statistics.sum(states * own, axis=1)
