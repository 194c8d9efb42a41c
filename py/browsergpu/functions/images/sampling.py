"""Which elements along an axis a resized array is made of, and their weights. Element i of n is
from i to i + 1, its centre at i + 1/2; new element j of m has its centre at (j + 1/2) n / m."""

from __future__ import annotations

import numpy as np

#: How far an interpolation reaches to each side, in elements.
_REACH = {"bilinear": 1, "bicubic": 2}
METHODS = ("nearest", *_REACH)


def nearest(extent: int, size: int) -> np.ndarray:
    """The element in which each of ``size`` new centres is."""
    places: np.ndarray = (2 * np.arange(size, dtype=np.int64) + 1) * extent // (2 * size)
    return places.astype(np.intp)


def taps(extent: int, size: int, method: str, antialias: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights, both [size, terms]: of "bilinear" or "bicubic" interpolation. With
    ``antialias`` the filter is as wide as the distance of new centres where that is more than 1,
    and cut off at the borders, where else elements are repeated."""
    scale = extent / size
    wide = max(scale, 1.0) if antialias else 1.0
    centres = (np.arange(size) + 0.5) * scale
    reach = _REACH[method] * wide
    if antialias:
        first = np.floor(np.maximum(centres - reach + 0.5, 0)).astype(int)
        end = np.floor(np.minimum(centres + reach + 0.5, extent)).astype(int)
    else:
        first = np.floor(centres - 0.5).astype(int) - _REACH[method] + 1
        end = first + 2 * _REACH[method]
    places = first[:, None] + np.arange((end - first).max())
    away = np.abs(places + 0.5 - centres[:, None]) / wide
    weights = np.where(
        places < end[:, None], _filter(method, away, -0.5 if antialias else -0.75), 0
    )
    if antialias:
        weights /= weights.sum(1, keepdims=True)
    return np.clip(places, 0, extent - 1), weights.astype(np.float32)


def _filter(method: str, away: np.ndarray, a: float) -> np.ndarray:
    """The weight at a distance: a triangle, or Keys's cubic (IEEE Trans. ASSP 29, 1981)."""
    if method == "bilinear":
        triangle: np.ndarray = np.maximum(1 - away, 0)
        return triangle
    near = ((a + 2) * away - (a + 3)) * away**2 + 1
    far = ((away - 5) * away + 8) * away * a - 4 * a
    return np.where(away <= 1, near, np.where(away < 2, far, 0))
