"""Title, axes and colorbar around an image: their layout, and their composition on the GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.functions import creation, manipulation

# All lengths are pixels.
TEXT = 12  # height of labels
TITLE = 14
CHARACTER = 7  # width of a label's character
TICK = 4
GAP = 6
BAR = 14  # width of the colorbar
LINE = 1
MOST_TICKS = 6
_TICK_SPACE = 48


@dataclass
class Frame:
    """The title, axes and colorbar of an image, which ``platform.paint_frame`` draws."""

    height: int
    width: int
    top: int
    """Row of the image's first pixel."""
    left: int
    bar: tuple[int, int, int, int] | None = None
    """Top, left, height and width of the colorbar."""
    lines: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Left, top, width and height of black rectangles."""
    texts: list[tuple[str, int, int, str, int]] = field(default_factory=list)
    """Text, x, y of its middle, alignment, and height.

    The alignment is "left", "center", "right", or "up" for centered text that reads upwards.
    """


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten, from ``low`` to ``high``."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(n * power for n in (1, 2, 5, 10, 20) if n * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


def labels(values: list[float]) -> list[str]:
    """Return texts with as many digits as distinguish the values."""
    step = abs(values[1] - values[0]) if len(values) > 1 else 0.0
    largest = max(map(abs, values), default=0.0)
    if len(values) > 1 and largest < 1e7 and step >= 1e-4:
        decimals = max(0, -math.floor(math.log10(step * (1 + 1e-9))))
        return [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = 3 if step == 0 else min(9, 2 + math.ceil(math.log10(max(largest / step, 1))))
    return [f"{value + 0.0:.{digits}g}" for value in values]


def frame(
    shape: tuple[int, int],
    factor: int,
    *,
    axes: bool,
    title: str | None,
    bar_range: tuple[float, float] | None,
) -> Frame:
    """Lay out the title, axes and colorbar of an image.

    Parameters
    ----------
    shape : tuple of int
        Height and width in pixels of the data. The image has ``factor`` times as many.
    factor : int
        The enlargement.
    axes : bool
        Whether rows and columns are labeled.
    title : str or None
        The text above the image.
    bar_range : tuple of float or None
        The values at the ends of the colorbar.
    """
    height, width = (extent * factor for extent in shape)
    marks = [
        [int(at) for at in ticks(0, extent - 1, _fitting(extent * factor)) if at == int(at)]
        for extent in shape
    ]
    widest = max(len(str(mark)) for mark in marks[0]) * CHARACTER if axes else 0
    left = LINE + GAP + (widest + TICK + GAP if axes else 0)
    top = LINE + GAP + (TITLE + GAP if title else 0)
    bottom = LINE + GAP + (TICK + GAP + TEXT if axes else 0)
    made = Frame(height + top + bottom, width + left + GAP + LINE, top, left)
    made.lines += border(top, left, height, width)
    if title:
        made.texts.append((title, left + width // 2, GAP + TITLE // 2, "center", TITLE))
    if axes:
        for mark in marks[0]:
            y = top + mark * factor + factor // 2
            made.lines.append((left - LINE - TICK, y, TICK, LINE))
            made.texts.append((str(mark), left - LINE - TICK - GAP // 2, y, "right", TEXT))
        for mark in marks[1]:
            x = left + mark * factor + factor // 2
            made.lines.append((x, top + height + LINE, LINE, TICK))
            y = top + height + LINE + TICK + GAP // 2 + TEXT // 2
            made.texts.append((str(mark), x, y, "center", TEXT))
    if bar_range is not None:
        _add_bar(made, height, bar_range)
    return made


def _add_bar(made: Frame, height: int, bar_range: tuple[float, float]) -> None:
    low, high = bar_range
    values = ticks(low, high, _fitting(height))
    texts = labels(values)
    left = made.width + 2 * GAP
    made.bar = (made.top, left, height, BAR)
    made.lines += border(made.top, left, height, BAR)
    for value, text in zip(values, texts, strict=True):
        part = (value - low) / (high - low) if high > low else 0.0
        y = made.top + round((height - 1) * (1 - part))
        made.lines.append((left + BAR + LINE, y, TICK, LINE))
        made.texts.append((text, left + BAR + LINE + TICK + GAP // 2, y, "left", TEXT))
    widest = max(map(len, texts), default=0) * CHARACTER
    made.width = left + BAR + LINE + TICK + GAP + widest + GAP


def _fitting(pixels: int) -> int:
    return max(2, min(MOST_TICKS, pixels // _TICK_SPACE + 1))


def border(top: int, left: int, height: int, width: int) -> list[tuple[int, int, int, int]]:
    """Return the lines around a box, as left, top, width and height."""
    return [
        (left - LINE, top - LINE, width + 2 * LINE, LINE),
        (left - LINE, top + height, width + 2 * LINE, LINE),
        (left - LINE, top - LINE, LINE, height + 2 * LINE),
        (left + width, top - LINE, LINE, height + 2 * LINE),
    ]


def bar_values(height: int, low: Any, high: Any, device: Any) -> Array:
    """Return the values of a colorbar [height, BAR], the highest in the first row."""
    part = creation.asarray(np.linspace(1, 0, height, dtype=np.float32), device=device)
    column = (part * (high - low) + low)[:, None]
    return manipulation.broadcast_to(column, (height, BAR))


def composed(made: Frame, background: np.ndarray, image: Array, bar: Array | None) -> Array:
    """Return the RGB picture of a painted frame [height, width, 4] in uint8, and RGBA images."""
    picture: Array = creation.asarray(background[..., :3], device=image.device) / 255
    for part, at in ((image, (made.top, made.left)), (bar, made.bar)):
        if part is not None and at is not None:
            rows, columns = (
                slice(start, start + extent)
                for start, extent in zip(at[:2], part.shape[:2], strict=True)
            )
            alpha = part[..., 3:]
            picture[rows, columns] = part[..., :3] * alpha + (1 - alpha)
    return picture
