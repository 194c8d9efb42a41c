"""Reference losses of classes, in float64 NumPy, from the definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

REDUCTIONS: dict[str, Any] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def entropy(
    logs: np.ndarray, target: np.ndarray, weight: Any, reduction: str, smoothing: float = 0.0
) -> Any:
    """Return the loss of log-probabilities. Targets below 0 are ignored."""
    axis = min(logs.ndim - 1, 1)
    classes = logs.shape[axis]
    own = np.ones(classes) if weight is None else weight
    factors = own.reshape(classes, *(1,) * (logs.ndim - axis - 1))
    if target.dtype.kind == "f":
        goals, counted = target, np.array(np.expand_dims(target.sum(axis) > -1, axis))
        hot = None
    else:
        counted = np.expand_dims(target >= 0, axis)
        places = np.arange(classes).reshape(factors.shape)
        goals = hot = (np.expand_dims(target, axis) == places) * 1.0
    goals = (goals * (1 - smoothing) + smoothing / classes) * counted
    losses = -(goals * logs * factors).sum(axis)
    if reduction != "mean":
        return REDUCTIONS[reduction](losses)
    return losses.sum() / (losses.size if hot is None else (hot * factors * counted).sum())
