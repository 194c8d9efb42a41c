"""Colormaps: tables of Matplotlib's colors, and their use on the GPU.

``colormaps.bin`` has 256 colors of three bytes for each name, from Matplotlib 3.11.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import INT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, statistics

NAMES = (
    "viridis", "plasma", "inferno", "magma", "cividis", "gray", "turbo", "coolwarm", "RdBu",
)  # fmt: skip
_COLORS = 256
_HEX = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


@cache
def _tables() -> np.ndarray:
    content = files(__package__).joinpath("colormaps.bin").read_bytes()
    return np.frombuffer(content, np.uint8).reshape(len(NAMES), _COLORS, 3)


def colormap(op: str, cmap: Any) -> np.ndarray:
    """Return the float32 colors [n, 4] of a name, or of an array [n, 3] or [n, 4]."""
    if isinstance(cmap, str):
        name = cmap.removesuffix("_r")
        if name not in NAMES:
            expected = f"one of {', '.join(NAMES)}, also with _r at the end, or an array of colors"
            raise InvalidArgument(op, "cmap", cmap, expected)
        colors = _tables()[NAMES.index(name)] / np.float32(255)
        if name != cmap:
            colors = colors[::-1]
    else:
        expected = "a name, or colors [n, 3] or [n, 4] from 0 to 1 on the host, n ≥ 2"
        if isinstance(cmap, Array):
            raise InvalidType(op, "cmap", cmap, expected)
        try:
            colors = np.asarray(cmap, np.float32)
        except (TypeError, ValueError):
            raise InvalidType(op, "cmap", cmap, expected) from None
        is_table = colors.ndim == 2 and len(colors) >= 2 and colors.shape[1] in (3, 4)
        if not is_table or not ((colors >= 0) & (colors <= 1)).all():
            raise InvalidArgument(op, "cmap", cmap, expected)
    opaque = np.ones((len(colors), 4), np.float32)
    opaque[:, : colors.shape[1]] = colors
    return opaque


def color(op: str, name: str, value: Any) -> np.ndarray:
    """Return the float32 RGBA of "#rrggbb", "#rrggbbaa" or 3 or 4 numbers from 0 to 1."""
    expected = 'a color: "#rrggbb", "#rrggbbaa", or 3 or 4 numbers from 0 to 1'
    if isinstance(value, str):
        if not _HEX.fullmatch(value):
            raise InvalidArgument(op, name, value, expected)
        numbers = np.frombuffer(bytes.fromhex(value[1:]), np.uint8) / np.float32(255)
    elif isinstance(value, tuple | list) and len(value) in (3, 4):
        numbers = np.array([checks.real(op, name, one) for one in value], np.float32)
        if not ((numbers >= 0) & (numbers <= 1)).all():
            raise InvalidArgument(op, name, value, expected)
    else:
        raise InvalidType(op, name, value, expected)
    return np.append(numbers, np.ones(4 - len(numbers), np.float32))


def value_range(x: Array, low: float | None, high: float | None) -> tuple[Any, Any]:
    """Return the range of colors. None becomes the extreme of the finite values, an array."""
    finite = elementwise.isfinite(x)
    least = statistics.min(elementwise.where(finite, x, np.inf)) if low is None else low
    most = statistics.max(elementwise.where(finite, x, -np.inf)) if high is None else high
    return least, most


def colored(x: Array, colors: np.ndarray, low: Any, high: Any, nan: np.ndarray) -> Array:
    """Return the RGBA image of float32 values, as Matplotlib's Normalize and Colormap.

    Values outside of the range get the first or the last color. Values that are not finite get the
    color ``nan``. The result has the shape [H, W, 4].
    """
    n = len(colors)
    table = creation.asarray(np.vstack([colors, nan]).astype(np.float32), device=x.device)
    span = creation.asarray(high, dtype=np.float32, device=x.device) - low
    place = elementwise.where(span > 0, (x - low) / elementwise.where(span > 0, span, 1), 0)
    place = elementwise.clip(place * n, 0, n - 1)
    place = elementwise.where(elementwise.isfinite(x), place, n)
    return manipulation.take(table, apply.cast_to("draw", place, INT32), axis=0)
