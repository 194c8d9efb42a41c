"""Filters of float32 images [height, width, channels] with values in 0..1.

The output must be a different buffer from the input.
"""

from __future__ import annotations

from math import ceil, exp

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Codes, Kernel, KernelFamily, bindings, by_code

#: Codes of the filters of :func:`point` and :func:`stencil`.
POINT_CODES: Codes = {
    "grayscale": 0,
    "threshold": 1,
    "brightness": 2,
    "contrast": 3,
    "invert": 4,
}
STENCIL_CODES: Codes = {"sharpen": 0, "sobel": 1}

_THREADS = 256
_SMALLEST_SIGMA = (
    1e-15  # far above it, neighbours already have no weight; its exponent fits float32
)


def point(build: Build, x: Slot, y: Slot, op: str, pixels: int, channels: int) -> None:
    """Add grayscale, threshold, brightness, contrast or invert.

    The amount is passed when the program runs.
    """
    grid = fold(blocks(pixels, _THREADS))
    build.dispatch("pixel", op, grid, (x, y), pixels, channels, open=True)


def stencil(
    build: Build,
    x: Slot,
    y: Slot,
    op: str,
    height: int,
    width: int,
    channels: int,
) -> None:
    """Add sharpen or sobel. The amount is passed when the program runs."""
    grid = fold(blocks(height * width, _THREADS))
    build.dispatch("stencil", op, grid, (x, y), height, width, channels, open=True)


def gaussian_blur(
    build: Build,
    x: Slot,
    y: Slot,
    height: int,
    width: int,
    channels: int,
    sigma: float,
) -> None:
    """Add a Gaussian blur with standard deviation ``sigma`` in pixels and radius ceil(3 sigma)."""
    radius = ceil(3 * sigma)
    exponent = -1.0 / (2.0 * max(sigma, _SMALLEST_SIGMA) ** 2)
    norm = 1.0 / sum(exp(t * t * exponent) for t in range(-radius, radius + 1))
    between = build.temporary(4 * height * width * channels)
    row = width * channels
    passes = (
        ("rows", x, between, height, width, row, channels),
        ("columns", between, y, width, height, channels, row),
    )
    for direction, source, target, lines, length, line_step, step in passes:
        segments = blocks(length, _THREADS)
        build.dispatch(
            "blur", direction, fold(lines * channels * segments), (source, target),
            lines, length, line_step, step, channels, segments, radius, exponent, norm,
        )  # fmt: skip
    build.release(between)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "pixel",
            "pixel.wgsl",
            bindings("x", "y"),
            params("pixels: u32", "channels: u32", "amount: f32"),
            configurations=by_code(POINT_CODES),
        ),
        Kernel(
            "stencil",
            "stencil.wgsl",
            bindings("x", "y"),
            params("height: u32", "width: u32", "channels: u32", "amount: f32"),
            configurations=by_code(STENCIL_CODES),
        ),
        Kernel(
            "blur",
            "blur.wgsl",
            bindings("x", "y"),
            params(
                "lines: u32", "length: u32", "line_step: u32", "step: u32", "channels: u32",
                "segments: u32", "radius: u32", "exponent: f32", "norm: f32",
            ),
            configurations={"rows": {"CLAMP": 0}, "columns": {"CLAMP": 1}},
        ),
    )
)  # fmt: skip
