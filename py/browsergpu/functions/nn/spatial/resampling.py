"""Resizing of signals, images and volumes along their axes."""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import composed
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.functions import manipulation
from browsergpu.functions.images.interpolation import taps
from browsergpu.functions.nn import inputs, pooling
from browsergpu.functions.weighted_sums import weighted_sums

#: Modes, and the numbers of axes that they resize.
_MODES = {
    "nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3), "linear": (1,),
    "bilinear": (2,), "bicubic": (2,), "trilinear": (3,),
}  # fmt: skip
_WITHOUT_CORNERS = ("nearest", "nearest-exact", "area")


@composed("input")
def interpolate(
    input: Array, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:  # fmt: skip
    """Resize signals, images or volumes.

    Parameters
    ----------
    input : Array
        Shape [N, C, L], [N, C, H, W] or [N, C, D, H, W], float32 or float16.
    size : int or sequence of int, optional
        New extents, one number or one for each axis.
    scale_factor : float or sequence of float, optional
        Factors of the extents, instead of ``size``. New extents are rounded down.
    mode : str, optional
        "nearest" (PyTorch's, which takes the element at ⌊i n / m⌋), "nearest-exact", "linear" for
        signals, "bilinear" and "bicubic" for images, "trilinear" for volumes, or "area" for
        adaptive means.
    align_corners : bool, optional
        Whether the first and the last elements of both grids coincide. False aligns the outer
        edges. Only for linear and cubic modes.
    recompute_scale_factor : bool, optional
        Whether to use the ratio of the extents instead of ``scale_factor``, which it may differ
        from after rounding.
    antialias : bool, optional
        Whether to widen the filter when shrinking, as Pillow does. For "bilinear" and "bicubic".

    Returns
    -------
    Array
        Shape [N, C, ...] with the new extents, of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "interpolate"
    x = inputs.floats(op, "input", input)
    rank = x.ndim - 2
    if mode not in _MODES:
        raise InvalidArgument(op, "mode", mode, f"one of {', '.join(_MODES)}")
    if rank not in _MODES[mode]:
        expected = f"have {' or '.join(str(n + 2) for n in _MODES[mode])} axes for mode {mode!r}"
        raise InvalidArgument(op, "input", x, expected)
    if 0 in x.shape[2:]:
        raise InvalidArgument(op, "input", x, "have elements")
    corners = align_corners is not None and checks.flag(op, "align_corners", align_corners)
    if align_corners is not None and mode in _WITHOUT_CORNERS:
        raise InvalidArgument(op, "align_corners", align_corners, f"None for mode {mode!r}")
    wide = checks.flag(op, "antialias", antialias)
    if wide and mode not in ("bilinear", "bicubic"):
        raise InvalidArgument(op, "antialias", antialias, f"False for mode {mode!r}")
    sizes, factors = _sizes(op, x.shape[2:], size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return pooling.means(x, sizes)
    found = x
    for axis, (extent, new, factor) in enumerate(zip(x.shape[2:], sizes, factors, strict=True), 2):
        if mode in _WITHOUT_CORNERS:
            found = _nearest(found, axis, new, factor, mode == "nearest-exact")
            continue
        if new == extent and factor in (None, 1.0):
            continue
        scale = extent / new if factor is None else 1 / factor
        if corners:
            scale = (extent - 1) / (new - 1) if new > 1 else 0.0
        method = "bicubic" if mode == "bicubic" else "bilinear"
        found = weighted_sums(found, axis, *taps(extent, new, method, wide, scale, corners))
    return found if found is not x else x.__copy__()


def _sizes(
    op: str, extents: Shape, size: Any, scale_factor: Any, recompute: Any
) -> tuple[Shape, list[float | None]]:
    """Return the new extents, and the factors that positions are computed with."""
    again = recompute is not None and checks.flag(op, "recompute_scale_factor", recompute)
    if (size is None) is (scale_factor is None):
        raise InvalidArgument(op, "size", size, "given, or else scale_factor")
    if size is not None:
        if again:
            raise InvalidArgument(op, "recompute_scale_factor", True, "False if size is given")
        return checks.each_axis(op, "size", size, len(extents), 1), [None] * len(extents)
    given = scale_factor if checks.is_several(scale_factor) else [scale_factor] * len(extents)
    factors = [checks.real(op, "scale_factor", one) for one in given]
    if len(factors) != len(extents) or min(factors) <= 0:
        expected = f"a number above 0, or {len(extents)} of them"
        raise InvalidArgument(op, "scale_factor", scale_factor, expected)
    sizes = tuple(floor(n * factor) for n, factor in zip(extents, factors, strict=True))
    if min(sizes) < 1:
        raise InvalidArgument(op, "scale_factor", scale_factor, "factors that leave elements")
    return sizes, [None] * len(extents) if again else [*factors]


def _nearest(x: Array, axis: int, size: int, factor: float | None, is_exact: bool) -> Array:
    extent = x.shape[axis]
    # Positions are computed in float32, as PyTorch does.
    scale = np.float32(extent / size) if factor is None else np.float32(1 / factor)
    numbers = np.arange(size, dtype=np.float32) + np.float32(0.5 if is_exact else 0)
    places = np.minimum(np.floor(numbers * scale).astype(np.intp), extent - 1)
    if size == extent and (places == np.arange(size)).all():
        return x
    times, rest = divmod(size, extent)
    if not rest and (places == np.arange(size) // times).all():
        return manipulation.repeat(x, times, axis=axis)
    return weighted_sums(x, axis, places[:, None], np.ones((size, 1), np.float32))
