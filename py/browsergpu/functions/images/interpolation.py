"""Indices and weights for resizing along an axis.

Element i of n is from i to i + 1, and its center is at i + 1/2. The center of the new element j of
m is at (j + 1/2) n / m.
"""

from __future__ import annotations

import numpy as np

#: Elements that an interpolation uses on each side.
_REACH = {"bilinear": 1, "bicubic": 2}
METHODS = ("nearest", *_REACH)


def nearest(extent: int, size: int) -> np.ndarray:
    """Return the element that contains the center of each of ``size`` new elements."""
    places: np.ndarray = (2 * np.arange(size, dtype=np.int64) + 1) * extent // (2 * size)
    return places.astype(np.intp)


def taps(
    extent: int, size: int, method: str, antialias: bool, scale: float | None = None,
    align_corners: bool = False,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the indices and weights of an interpolation, both of shape [size, terms].

    Parameters
    ----------
    extent : int
        Number of elements.
    size : int
        Number of new elements.
    method : {"bilinear", "bicubic"}
        The interpolation.
    antialias : bool
        True widens the filter to the distance of the new centers if this distance is more than 1,
        and cuts the filter off at the borders. False repeats elements at the borders.
    scale : float, optional
        Distance of the new centers, ``extent / size`` by default.
    align_corners : bool
        True puts the first new center on the center of the first element.
    """
    scale = extent / size if scale is None else scale
    wide = max(scale, 1.0) if antialias else 1.0
    centres = (np.arange(size) + 0.5) * scale
    if align_corners and not antialias:
        centres = np.arange(size) * scale + 0.5
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
    """Return weights by distance: a triangle, or Keys's cubic (IEEE Trans. ASSP 29, 1981)."""
    if method == "bilinear":
        triangle: np.ndarray = np.maximum(1 - away, 0)
        return triangle
    near = ((a + 2) * away - (a + 3)) * away**2 + 1
    far = ((away - 5) * away + 8) * away * a - 4 * a
    return np.where(away <= 1, near, np.where(away < 2, far, 0))
