"""HTML of large arrays in notebooks: facts, a picture or a histogram, and values."""

from __future__ import annotations

import base64
from html import escape

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.host_number import HostNumber
from browsergpu.engine.core.above import ABOVE
from browsergpu.functions.images import png

#: A smaller array is shown as text alone.
LEAST_SIDE = 8
LEAST_SIZE = 1000
#: A larger picture is reduced by means of blocks.
MOST_PIXELS = 192
SHOWN_PIXELS = 192  # small pictures are enlarged to at most this
_LINE = '<p style="margin: 0.3em 0">{}</p>'
BINS = 48
#: The statistics before a picture's or a histogram's numbers: minimum, maximum, mean, finite ones.
STATISTICS = 4


def html(x: Array) -> str | None:
    """Return HTML for a notebook, or None for a small array, whose text shows all elements.

    The GPU computes statistics and a picture or histogram, which are read at once.
    """
    channels = _channels(x.shape)
    size = int(np.prod(x.shape))
    if x.dtype.kind == "c" or (channels is None and size < LEAST_SIZE):
        return None
    is_computed = type(x.node.trace) is HostNumber or x.node.trace is None
    facts = (
        f"{' × '.join(map(str, x.shape))} · {x.dtype.name} · {_bytes(x.nbytes)} · "
        f"{x.device.name} · {'computed' if is_computed else 'not computed yet'}"
    )
    if not readback.can_read(x):
        return _LINE.format(escape(facts))
    readback.computed(x)  # before a kernel computes statistics of an array too large to store
    numbers = _numbers(x, channels)
    drawn = _histogram(numbers) if channels is None else _picture(numbers, x, channels)
    return (
        f"{_LINE.format(escape(facts))}{drawn}{_LINE.format(_range(numbers, size))}"
        f"<details{' open' if x.ndim < 3 else ''}><summary>Values</summary>"
        f'<pre style="margin: 0.3em 0">{escape(readback.printed(x))}</pre></details>'
    )


def _channels(shape: tuple[int, ...]) -> int | None:
    """Return the channels of an array that is shown as a picture, 0 for a matrix, else None."""
    if len(shape) == 2 and min(shape) >= LEAST_SIDE:
        return 0
    if len(shape) == 3 and shape[2] in (1, 3, 4) and min(shape[:2]) >= LEAST_SIDE:
        return shape[2]
    return None


def _numbers(x: Array, channels: int | None) -> np.ndarray:
    """Read the statistics and the numbers to draw."""
    bg = ABOVE.namespace
    values = x.astype(bg.float32)
    finite = bg.isfinite(values)
    least = bg.min(bg.where(finite, values, np.inf))
    most = bg.max(bg.where(finite, values, -np.inf))
    others = bg.sum(~finite, dtype=bg.float32)
    mean = bg.sum(bg.where(finite, values, 0)) / (x.size - others)
    if channels is None:
        span = bg.where(most > least, most - least, 1)
        places = bg.where(finite, (values - least) / span, -1)
        drawn = bg.histogram(places, bins=BINS, range=(0, 1))[0].astype(bg.float32)
    else:
        drawn = _reduced(values)
    parts = [bg.stack([least, most, mean, others]), bg.reshape(drawn, (-1,))]
    return bg.concat(parts).numpy()  # type: ignore[no-any-return]


def _sides(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return the picture's height and width, and those of the blocks that become one pixel."""
    height, width = shape[:2]
    block = -(-max(height, width) // MOST_PIXELS)
    down, across = min(block, height), min(block, width)
    return height // down, width // across, down, across


def _reduced(values: Array) -> Array:
    height, width, down, across = _sides(values.shape)
    if down == across == 1:
        return values
    bg = ABOVE.namespace
    rest = values.shape[2:]
    blocks = bg.reshape(
        values[: height * down, : width * across], (height, down, width, across, *rest)
    )
    return bg.mean(blocks, axis=(1, 3))  # type: ignore[no-any-return]


def _picture(numbers: np.ndarray, x: Array, channels: int) -> str:
    least, most = numbers[:2]
    height, width = _sides(x.shape)[:2]
    pixels = numbers[STATISTICS:].reshape(height, width, max(channels, 1))
    if channels in (3, 4) and (x.dtype == np.uint8 or x.dtype.kind == "f"):
        levels = pixels / (255 if x.dtype == np.uint8 else 1)
    else:
        levels = (pixels - least) / (most - least if most > least else 1)
    opaque = np.isfinite(levels).all(axis=2)
    levels = np.clip(np.nan_to_num(levels), 0, 1)
    colours = np.empty((height, width, 4), np.uint8)
    colours[..., :3] = np.round(levels[..., :3] * 255)
    colours[..., 3] = np.round(levels[..., 3] * 255) if channels == 4 else 255
    colours[~opaque] = 0
    data = base64.b64encode(png.encode(colours)).decode("ascii")
    shown = max(1, SHOWN_PIXELS // max(height, width)) * width
    return (
        f'<img src="data:image/png;base64,{data}" width="{shown}" '
        f'style="image-rendering: pixelated" alt="Picture of the array">'
    )


def _histogram(numbers: np.ndarray) -> str:
    counts = numbers[STATISTICS:]
    highest = float(counts.max()) or 1.0
    bars = "".join(
        f'<rect x="{5 * place}" y="{48 - tall:.1f}" width="4" height="{tall:.1f}"/>'
        for place, tall in enumerate(48 * counts / highest)
        if tall > 0
    )
    return (
        f'<svg role="img" aria-label="Histogram of the values" width="{5 * BINS}" height="48" '
        f'fill="currentColor">{bars}</svg>'
    )


def _range(numbers: np.ndarray, size: int) -> str:
    least, most, mean, others = (float(number) for number in numbers[:STATISTICS])
    if least > most:
        return "no finite values"
    text = f"min {least:.6g} · mean {mean:.6g} · max {most:.6g}"
    if not others:
        return text
    # float32 counts exactly up to 2**24.
    count = f"{others:,.0f}" if others < 2**24 else f"about {others:,.0f}"
    return f"{text} · {count} not finite"


def _bytes(count: int) -> str:
    value, units = float(count), iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while value >= 1000:
        value, unit = value / 1000, next(units)
    return f"{value:.3g} {unit}"
