"""Pixels of curves and points, computed by ``shaders/plot.wgsl``."""

from __future__ import annotations

from functools import cache

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.kernels.text import shaders
from browsergpu.functions import creation, statistics
from browsergpu.functions.custom.raw_kernel import RawKernel

_THREADS = 64
#: Lines that a thread of the kernel follows.
_STEPS = 32
_MOST_GROUPS = 65535
#: Rows and columns of the mask for each pixel of a smooth picture.
_FINE = 3


@cache
def _kernel(name: str) -> RawKernel:
    return RawKernel(shaders.load("plot.wgsl"), name)


def mask(
    x: Array, y: Array, height: int, width: int, *, size: int, is_line: bool, is_disc: bool
) -> Array:
    """Return the uint32 mask [height, width] of the pixels that a curve or points cover.

    Parameters
    ----------
    x, y : Array
        float32 positions [n] in pixels; (0, 0) is the middle of the first pixel.
    height, width : int
        The picture.
    size : int
        Pixels of the line's width or the points' diameter.
    is_line : bool
        Whether lines connect the positions.
    is_disc : bool
        Whether points are round.
    """
    found: Array = creation.zeros((height, width), dtype=np.uint32, device=x.device)
    n = x.shape[0]
    items = -(-n // _STEPS) if is_line else n
    groups = max(1, -(-items // _THREADS))
    rows = -(-groups // _MOST_GROUPS)
    _kernel("line" if is_line else "points")(
        (-(-groups // rows), rows), x, y, found,
        np.uint32(n), np.int32(width), np.int32(height), np.int32(size), np.uint32(is_disc),
    )  # fmt: skip
    return found


def coverage(
    x: Array, y: Array, height: int, width: int, *, size: int, is_line: bool, is_disc: bool
) -> Array:
    """Return the float32 share [height, width] of each pixel that a curve or points cover.

    The arguments are those of :func:`mask`.
    """
    middle = (_FINE - 1) / 2
    fine = mask(
        x * _FINE + middle, y * _FINE + middle, height * _FINE, width * _FINE,
        size=size * _FINE, is_line=is_line, is_disc=is_disc,
    )  # fmt: skip
    blocks = fine.reshape(height, _FINE, width, _FINE).astype(np.float32)
    found: Array = statistics.mean(blocks, axis=(1, 3))
    return found
