"""Pictures of curves for ``browsergpu.plot``: limits, layout, ticks, legend and composition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.gpu import platform
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.images import curves, figures
from browsergpu.functions.images.figures import CHARACTER, GAP, LINE, TEXT, TICK, TITLE, Frame
from browsergpu.functions.images.paper import LIGHT, Paper
from browsergpu.functions.images.series import MARKERS, Series

#: Pixels of the area within the axes.
HEIGHT, WIDTH = 320, 560
#: Free space at each end of an automatic axis, as in Matplotlib.
MARGIN = 0.05
SWATCH = 18
#: The least range of a zoomed axis as a part of the whole one, and of its values.
LEAST_PART = 1e-6
#: The largest range of a zoomed axis as a multiple of the whole one.
MOST_RANGE = 10.0
Limits = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """The range and scale of an axis."""

    low: float
    high: float
    is_log: bool

    def ends(self) -> Limits:
        """Return the ends as the scale has them: the decimal logarithms of a log scale."""
        return (math.log10(self.low), math.log10(self.high)) if self.is_log else (
            self.low, self.high,
        )  # fmt: skip

    def pixels(self, values: Array, extent: int) -> Array:
        """Return positions from 0 to ``extent`` - 1. NaN is where a log scale has no value."""
        low, high = self.ends()
        if self.is_log:
            values = elementwise.where(values > 0, values, np.nan)
            values = elementwise.log10(values)
        found: Array = (values - low) * ((extent - 1) / (high - low))
        return found

    def ticks(self, most: int) -> tuple[list[float], list[str]]:
        """Return places from 0 to 1 and their texts."""
        low, high = self.ends()
        if self.is_log:
            powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
            if len(powers) > 1:
                powers = powers[:: max(1, -(-len(powers) // most))]
                return [(n - low) / (high - low) for n in powers], [f"1e{n}" for n in powers]
        values = figures.ticks(self.low, self.high, most)
        places = [math.log10(v) for v in values] if self.is_log else values
        return [(v - low) / (high - low) for v in places], figures.labels(values)

    def at(self, part: float) -> float:
        """Return the value at a part of the axis, from 0 to 1."""
        low, high = self.ends()
        value = low + part * (high - low)
        return float(10**value) if self.is_log else value

    def zoomed(self, at: float, factor: float) -> Axis:
        """Return the axis with 1 / ``factor`` of the range. The value at the part ``at`` stays."""
        low, high = self.ends()
        middle = low + at * (high - low)
        return self._between(middle - (middle - low) / factor, middle + (high - middle) / factor)

    def moved(self, part: float) -> Axis:
        """Return the axis moved to higher values by a part of its range."""
        low, high = self.ends()
        return self._between(low + part * (high - low), high + part * (high - low))

    def within(self, whole: Axis) -> Axis:
        """Return the axis that a zoom of ``whole`` may show.

        It overlaps ``whole``, and float32 tells its values apart.
        """
        (low, high), (first, last) = self.ends(), whole.ends()
        least = max(abs(low), abs(high), last - first) * LEAST_PART
        middle, half = (low + high) / 2, (high - low) / 2
        half = min(max(half, least / 2), (last - first) / 2 * MOST_RANGE)
        middle = min(max(middle, first), last)
        if (middle - half, middle + half) == (low, high):
            return self
        return self._between(middle - half, middle + half)

    def _between(self, low: float, high: float) -> Axis:
        return Axis(10**low, 10**high, True) if self.is_log else Axis(low, high, False)


@dataclass(frozen=True)
class Plot:
    """Curves, and how they are shown, without the ranges of the axes."""

    series: list[Series]
    texts: dict[str, str | None]
    """The title, xlabel and ylabel."""
    linewidth: int
    alpha: float
    on: Paper

    def picture(self, x: Axis, y: Axis) -> tuple[Array, Frame]:
        """Return the RGB picture of these ranges, and its layout. Nothing is read."""
        shape = HEIGHT, WIDTH
        curves = area(self.series, x, y, shape, self.linewidth, self.alpha, self.on)
        frame, swatches = layout(self.series, x, y, shape, self.texts)
        painted = platform.paint_frame(frame.height, frame.width, frame.lines, frame.texts)
        return composed(frame, painted, swatches, curves, self.on), frame

    def kept(self) -> Plot:
        """Return the plot with the samples of now: later writes do not change them."""
        return replace(self, series=[one.kept() for one in self.series])


def limits(op: str, name: str, given: Any, is_log: bool) -> Limits | None:
    """Return the checked ``xlim`` or ``ylim``."""
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InvalidType(op, name, given, "a pair (low, high), or None")
    low, high = (checks.real(op, name, value) for value in given)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidArgument(op, name, given, "finite with low < high")
    if is_log and low <= 0:
        raise InvalidArgument(op, name, given, "positive on a log scale")
    return low, high


def axes(
    series: list[Series], xlim: Limits | None, ylim: Limits | None, *, x_log: bool, y_log: bool
) -> tuple[Axis, Axis]:
    """Return both axes. The GPU computes the extremes of automatic limits, which are read at once.

    A series without x goes from 0 to n - 1.
    """
    sought = {
        "x": [one.x for one in series if xlim is None and one.x is not None],
        "y": [one.y for one in series if ylim is None],
    }
    numbers = [
        _extremes(values, is_log)
        for key, is_log in (("x", x_log), ("y", y_log))
        for values in sought[key]
    ]
    read = readback.numpy(manipulation.concat(numbers)) if numbers else np.zeros(0)
    found = read.reshape(-1, 2)
    in_x = [*found[: len(sought["x"])].tolist()]
    in_x += [[1.0 if x_log else 0.0, one.y.shape[0] - 1.0] for one in series if one.x is None]
    x = xlim or _automatic(in_x, x_log)
    y = ylim or _automatic(found[len(sought["x"]) :].tolist(), y_log)
    return Axis(*x, x_log), Axis(*y, y_log)


def _extremes(values: Array, is_log: bool) -> Array:
    good = elementwise.isfinite(values)
    if is_log:
        good = elementwise.logical_and(good, values > 0)
    low = statistics.min(elementwise.where(good, values, np.inf))
    high = statistics.max(elementwise.where(good, values, -np.inf))
    return manipulation.stack([low, high])


def _automatic(ranges: list[list[float]], is_log: bool) -> Limits:
    known = [pair for pair in ranges if pair[0] <= pair[1]]
    if not known:
        return (1.0, 10.0) if is_log else (0.0, 1.0)
    low, high = min(pair[0] for pair in known), max(pair[1] for pair in known)
    if is_log:
        low, high = math.log10(low), math.log10(high)
    space = (high - low) * MARGIN or max(abs(low) * MARGIN, 0.5 if is_log else 1e-3)
    low, high = low - space, high + space
    return (10**low, 10**high) if is_log else (low, high)


def area(
    series: list[Series],
    x: Axis,
    y: Axis,
    shape: tuple[int, int],
    linewidth: int,
    alpha: float,
    on: Paper = LIGHT,
) -> Array:
    """Return the RGBA image [height, width, 4] of the curves on paper."""
    height, width = shape
    device = series[0].y.device
    color = creation.asarray(np.asarray(on.paper, np.float32), device=device)
    image: Array = manipulation.broadcast_to(color, (height, width, 3))
    for one in series:
        samples = one.x
        if samples is None:
            samples = creation.arange(one.y.shape[0], dtype=np.float32, device=device)
        columns = x.pixels(samples, width)
        rows = (height - 1) - y.pixels(one.y, height)
        color = creation.asarray(one.color[:3], device=device)
        covered = None
        for is_line in (True, False):
            if not (one.has_line if is_line else one.marker):
                continue
            size = linewidth if is_line else MARKERS[one.marker or ","]
            made = curves.coverage(
                columns, rows, height, width, size=size, is_line=is_line, is_disc=not is_line
            )
            covered = made if covered is None else elementwise.maximum(covered, made)
        assert covered is not None  # a series has a line or a marker
        share = covered[..., None] * (float(one.color[3]) * alpha)
        image = image * (1 - share) + color * share
    return manipulation.concat([image, creation.ones_like(image[..., :1])], axis=2)


def layout(
    series: list[Series], x: Axis, y: Axis, shape: tuple[int, int], texts: dict[str, str | None]
) -> tuple[Frame, list[tuple[int, int, np.ndarray]]]:
    """Return the frame, and the top, left and color of the legend's swatches."""
    height, width = shape
    across, columns = x.ticks(max(2, width // 90))
    up, rows = y.ticks(max(2, height // 50))
    left = GAP + max(map(len, rows), default=0) * CHARACTER + TICK + GAP + LINE
    left += TEXT + GAP if texts["ylabel"] else 0
    top = GAP + LINE + (TITLE + GAP if texts["title"] else 0)
    bottom = LINE + TICK + GAP + TEXT + GAP + (TEXT + GAP if texts["xlabel"] else 0)
    named = [one for one in series if one.label]
    widest = max((len(one.label or "") for one in named), default=0) * CHARACTER
    right = 2 * GAP + (SWATCH + 2 * GAP + widest if named else 0)
    made = Frame(top + height + bottom, left + width + right, top, left)
    made.lines += figures.border(top, left, height, width)
    if texts["title"]:
        made.texts.append((texts["title"], left + width // 2, GAP + TITLE // 2, "center", TITLE))
    if texts["ylabel"]:
        made.texts.append((texts["ylabel"], GAP + TEXT // 2, top + height // 2, "up", TEXT))
    for part, text in zip(across, columns, strict=True):
        at = left + round(part * (width - 1))
        made.lines.append((at, top + height + LINE, LINE, TICK))
        below = top + height + LINE + TICK + GAP // 2 + TEXT // 2
        made.texts.append((text, at, below, "center", TEXT))
    for part, text in zip(up, rows, strict=True):
        at = top + round((1 - part) * (height - 1))
        made.lines.append((left - LINE - TICK, at, TICK, LINE))
        made.texts.append((text, left - LINE - TICK - GAP // 2, at, "right", TEXT))
    if texts["xlabel"]:
        at = made.height - GAP - TEXT // 2
        made.texts.append((texts["xlabel"], left + width // 2, at, "center", TEXT))
    swatches = []
    for i, one in enumerate(named):
        at = top + GAP + i * (TEXT + GAP)
        begin = left + width + 2 * GAP
        swatches.append((at + TEXT // 2 - 1, begin, one.color))
        end = begin + SWATCH + GAP
        made.texts.append((one.label or "", end, at + TEXT // 2, "left", TEXT))
    return made, swatches


def composed(
    made: Frame,
    painted: np.ndarray,
    swatches: list[tuple[int, int, np.ndarray]],
    image: Array,
    on: Paper,
) -> Array:
    """Return the RGB picture of the painted frame with its legend and curves."""
    background = on.printed(painted)
    for top, left, color in swatches:
        share = color[3]
        background[top : top + 3, left : left + SWATCH] = np.round(
            255 * (color[:3] * share + np.asarray(on.paper) * (1 - share))
        )
    return figures.composed(made, background, image, None)
