"""Pictures of arrays for ``browsergpu.draw``: checks, colors, enlargement, title and axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32, UINT8
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.gpu import platform
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.images import colormaps, figures
from browsergpu.functions.images.pointer import Place
from browsergpu.functions.images.sizes import resize

#: Narrower images are enlarged if they have a title, axes, a colorbar or an interpolation.
LEAST_WIDTH = 256
INTERPOLATIONS = ("nearest", "bilinear")
TRANSPARENT = np.zeros(4, np.float32)


@dataclass(frozen=True)
class Colors:
    """Options that give colors to an image without color channels."""

    cmap: Any
    vmin: Any
    vmax: Any
    nan: Any

    @property
    def given(self) -> str | None:
        """The name of an option that is given."""
        names = ("cmap", "vmin", "vmax", "nan")
        return next((name for name in names if getattr(self, name) is not None), None)


@dataclass(frozen=True)
class Parts:
    """Options for the title, axes, colorbar and size of an image."""

    colorbar: bool
    axes: bool
    title: str | None
    interpolation: str | None

    def checked(self, op: str) -> Parts:
        """Raise an error for an invalid option."""
        checks.flag(op, "colorbar", self.colorbar)
        checks.flag(op, "axes", self.axes)
        if self.title is not None and not isinstance(self.title, str):
            raise InvalidType(op, "title", self.title, "a str or None")
        if self.interpolation not in (None, *INTERPOLATIONS):
            expected = f"None or one of {', '.join(INTERPOLATIONS)}"
            raise InvalidArgument(op, "interpolation", self.interpolation, expected)
        return self

    @property
    def are_around(self) -> bool:
        """Whether the image has a title, axes or a colorbar."""
        return bool(self.colorbar or self.axes or self.title)


@exclusive
def picture(
    op: str, x: Array, find_canvas: Callable[[], Any], *, colors: Colors, parts: Parts
) -> tuple[Array, Place]:
    """Return the float32 image to paint, with values from 0 to 1, and the place of ``x`` in it.

    ``find_canvas`` raises an error if there is no canvas.
    """
    parts.checked(op)
    channels = _channels(op, x, colors, parts)
    kind = x.node.kind
    top = 255 if kind is UINT8 else 1
    values = apply.cast_to(op, x, FLOAT32, copy=False)
    if channels > 1 or not (colors.given or parts.colorbar):
        image = _enlarged(values / top if kind is UINT8 else values, parts)
        if not parts.are_around:
            return image, _inside(x, image)
        find_canvas()
        return _around(x, _rgba(image), parts, None)
    if values.ndim == 3:
        values = values[..., 0]
    table = colormaps.colormap(op, "gray" if colors.cmap is None else colors.cmap)
    nan = TRANSPARENT if colors.nan is None else colormaps.color(op, "nan", colors.nan)
    low, high = _range(op, values, colors, top)
    shown = colormaps.colored(_enlarged(values, parts), table, low, high, nan)
    if not parts.are_around:
        return shown, _inside(x, shown)
    find_canvas()
    ends = None
    if parts.colorbar:
        low, high = ends = _numbers(low, high)
    return _around(x, shown, parts, None if ends is None else (table, *ends))


def _channels(op: str, x: Array, colors: Colors, parts: Parts) -> int:
    """Return the channels of a valid image."""
    if not isinstance(x, Array):
        raise InvalidType(op, "x", x, "an array (asarray makes one)")
    kind = x.node.kind
    if kind.kind not in ("fbiu" if colors.given else "fb") and kind is not UINT8:
        expected = "real" if colors.given else "floats from 0 to 1, uint8 or bool"
        advice = "" if kind.kind == "c" else "A cmap shows other integers."
        raise InvalidType(op, "x", kind.numpy, expected, advice)
    height, width, channels = (*x.shape, 1)[:3] if x.ndim in (2, 3) else (0, 0, 0)
    largest = x.device.limits["maxTextureDimension2D"]
    if channels not in (1, 3, 4) or not (1 <= height <= largest and 1 <= width <= largest):
        expected = "have shape (height, width) or (height, width, 1, 3 or 4)"
        raise InvalidArgument(op, "x", x, expected, f"A side has 1 to {largest} pixels.")
    given = colors.given or ("colorbar" if parts.colorbar else None)
    if channels > 1 and given:
        value = parts.colorbar if given == "colorbar" else getattr(colors, given)
        raise InvalidArgument(op, given, value, "left out for an image with colors")
    return channels


def _range(op: str, values: Array, colors: Colors, top: float) -> tuple[Any, Any]:
    low, high = (
        None if value is None else checks.real(op, name, value)
        for name, value in (("vmin", colors.vmin), ("vmax", colors.vmax))
    )
    if colors.cmap is None and low is None and high is None:
        return 0.0, float(top)
    for name, value in (("vmin", low), ("vmax", high)):
        if value is not None and not np.isfinite(value):
            raise InvalidArgument(op, name, value, "finite")
    if low is not None and high is not None and low > high:
        raise InvalidArgument(
            op, "vmin", low, f"at most vmax, {high}", "To reverse the colors, add _r to cmap."
        )
    return colormaps.value_range(values, low, high)


def _numbers(low: Any, high: Any) -> tuple[float, float]:
    """Return the values at the ends of the colorbar. Arrays are read."""
    return float(low), float(high)


def _enlarged(image: Array, parts: Parts) -> Array:
    factor = _factor(image, parts)
    if factor == 1:
        return image
    method = parts.interpolation or "nearest"
    return resize(image, tuple(extent * factor for extent in image.shape[:2]), method)


def _factor(x: Array, parts: Parts) -> int:
    if not (parts.are_around or parts.interpolation):
        return 1
    height, width = x.shape[:2]
    largest = x.device.limits["maxTextureDimension2D"] // 2
    return max(1, min(-(-LEAST_WIDTH // width), largest // max(height, width)))


def _rgba(image: Array) -> Array:
    """Return a clamped image with four channels."""
    image = elementwise.clip(image if image.ndim == 3 else image[..., None], 0, 1)
    if image.shape[2] == 4:
        return image
    rgb = manipulation.broadcast_to(image, (*image.shape[:2], 3))
    return manipulation.concat([rgb, creation.ones_like(rgb[..., :1])], axis=2)


def _inside(x: Array, image: Array) -> Place:
    return Place(x.shape[0], x.shape[1], factor=image.shape[0] // x.shape[0])


def _around(x: Array, shown: Array, parts: Parts, bar: Any) -> tuple[Array, Place]:
    factor = shown.shape[0] // x.shape[0]
    made = figures.frame(
        (x.shape[0], x.shape[1]),
        factor,
        axes=parts.axes,
        title=parts.title,
        bar_range=None if bar is None else bar[1:],
    )
    painted = platform.paint_frame(made.height, made.width, made.lines, made.texts)
    column = None
    if bar is not None:
        table, low, high = bar
        values = figures.bar_values(shown.shape[0], low, high, x.device)
        column = colormaps.colored(values, table, low, high, TRANSPARENT)
    place = Place(x.shape[0], x.shape[1], made.top, made.left, factor)
    return figures.composed(made, painted, shown, column), place
