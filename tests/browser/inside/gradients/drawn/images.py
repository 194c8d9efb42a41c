"""Calls of image functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from inside.gradients.drawn.directions import Call
from inside.gradients.drawn.operands import REAL, Draw, Operand, Shape, away, between, chance, seen
from inside.gradients.drawn.table import Table, entry
from inside.tensors import reference

IMAGES: Table = {}


def _shape(draw: Draw, extents: tuple[int, ...] = (3, 2, 4, 1, 5, 0)) -> Shape:
    sides = tuple(draw(st.sampled_from(extents)) for _ in range(2))
    channels = draw(st.sampled_from((None, 3, 1, 2, 4)))
    return sides if channels is None else (*sides, channels)


def _picture(
    draw: Draw, shape: Shape, points: tuple[float, ...] = (), margin: float = 0.02
) -> Operand:
    """Draw numbers within 0 and 1, away from points where a result is clipped."""
    kind = draw(st.sampled_from(REAL))
    return seen(draw, away(draw, shape, 0.05, 0.95, points, margin, kind))


@entry(IMAGES, "image.grayscale", "image.invert", "image.brightness", "image.contrast")
def _(draw: Draw, name: str) -> Call:
    function, settings, points = name.partition(".")[2], (), ()
    theirs: Any = {"grayscale": reference.luminance, "invert": lambda x: 1 - x}.get(function)
    if function == "brightness":
        factor = draw(st.sampled_from((1.6, 0.5, 3.0)))
        settings, points, theirs = (factor,), (1 / factor,), lambda x: x * factor
    if function == "contrast":
        factor = draw(st.sampled_from((2.5, 0.5, 4.0)))
        settings, points = (factor,), (0.5 - 0.5 / factor, 0.5 + 0.5 / factor)
        theirs = lambda x: (x - 0.5) * factor + 0.5  # noqa: E731
    return Call(
        [_picture(draw, _shape(draw), points)],
        lambda bg, x: getattr(bg.image, function)(x, *settings),
        lambda x: reference.with_alpha_of(x, theirs(x)),
    )  # fmt: skip


@entry(IMAGES, "image.sharpen")
def _(draw: Draw, name: str) -> Call:
    """Elements near 0.1 and 0.9, so that results are near 0.1 or 0.9, or 0.7 at the border."""
    shape, rng = _shape(draw), chance(draw)
    target = rng.choice([0.1, 0.9], shape) + rng.uniform(-0.005, 0.005, shape)
    x = seen(draw, target.astype(draw(st.sampled_from(REAL))))

    def theirs(v: np.ndarray) -> np.ndarray:  # NumPy cannot repeat an empty border
        return reference.with_alpha_of(v, reference.sharpened(v)) if v.size else v

    return Call([x], lambda bg, v: bg.image.sharpen(v), theirs)


@entry(IMAGES, "image.gaussian_blur")
def _(draw: Draw, name: str) -> Call:
    sigma = draw(st.sampled_from((0.6, 1.0, 2.0)))
    return Call(
        [_picture(draw, _shape(draw))], lambda bg, x: bg.image.gaussian_blur(x, sigma),
        lambda x: reference.blurred(x, sigma),
    )  # fmt: skip


def _resized(x: np.ndarray, size: tuple[int, int], method: str, antialias: bool) -> np.ndarray:
    """Resize with the indices and weights that the package computes for each axis.

    Tests against Pillow and PyTorch check the indices and weights; this one checks their use.
    """
    from browsergpu.functions.images.interpolation import nearest, taps

    for axis, count in enumerate(size):
        extent = x.shape[axis]
        if count == extent:
            continue
        if method == "nearest":
            x = np.take(x, nearest(extent, count), axis)
            continue
        places, weights = taps(extent, count, method, antialias)
        matrix = np.zeros((count, extent))
        np.add.at(matrix, (np.arange(count)[:, None], places), weights)
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


@entry(IMAGES, "image.resize")
def _(draw: Draw, name: str) -> Call:
    shape = _shape(draw, (3, 2, 4, 1, 5))
    size = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    method = draw(st.sampled_from(("bilinear", "bicubic", "nearest")))
    antialias = method != "nearest" and draw(st.booleans())
    x = seen(draw, between(draw, shape, 0, 1, draw(st.sampled_from(REAL))))
    return Call(
        [x], lambda bg, v: bg.image.resize(v, size, method, antialias=antialias),
        lambda v: _resized(v, size, method, antialias),
    )  # fmt: skip
