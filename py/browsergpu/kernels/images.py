"""Filters of float32 images [height, width, channels] in 0..1. No output is the input."""

from __future__ import annotations

from math import ceil, exp

from browsergpu.device.device import Device
from browsergpu.core.grids import blocks, fold
from browsergpu.gpu.memory import Allocation

_THREADS = 256
_SMALLEST_SIGMA = 1e-15  # even far above, neighbours weigh nothing; its exponent fits float32


def point(
    device: Device, op: str, x: Allocation, y: Allocation, pixels: int, channels: int, amount: float
) -> None:
    """grayscale, threshold, brightness, contrast or invert."""
    device.recorder.dispatch(
        device.pipeline("pixel", op), *fold(blocks(pixels, _THREADS)),
        x.id, y.id, pixels, channels, amount,
    )  # fmt: skip


def stencil(
    device: Device,
    op: str,
    x: Allocation,
    y: Allocation,
    height: int,
    width: int,
    channels: int,
    amount: float,
) -> None:
    """sharpen or sobel."""
    device.recorder.dispatch(
        device.pipeline("stencil", op), *fold(blocks(height * width, _THREADS)),
        x.id, y.id, height, width, channels, amount,
    )  # fmt: skip


def gaussian_blur(
    device: Device,
    x: Allocation,
    y: Allocation,
    height: int,
    width: int,
    channels: int,
    sigma: float,
) -> None:
    """A Gaussian of standard deviation sigma pixels, cut at radius ceil(3 sigma)."""
    radius = ceil(3 * sigma)
    exponent = -1.0 / (2.0 * max(sigma, _SMALLEST_SIGMA) ** 2)
    norm = 1.0 / sum(exp(t * t * exponent) for t in range(-radius, radius + 1))
    between = device.memory.get_buffer("gaussian_blur", 4 * height * width * channels)
    row = width * channels
    passes = (
        ("rows", x, between, height, width, row, channels),
        ("columns", between, y, width, height, channels, row),
    )
    try:
        for direction, source, target, lines, length, line_step, step in passes:
            segments = blocks(length, _THREADS)
            device.recorder.dispatch(
                device.pipeline("blur", direction), *fold(lines * channels * segments),
                source.id, target.id,
                lines, length, line_step, step, channels, segments, radius, exponent, norm,
            )  # fmt: skip
    finally:
        device.memory.return_buffer(between)
