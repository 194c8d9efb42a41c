"""Two-dimensional convolution."""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.device import Device
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Buffer

_TILE = 64


@dataclass(frozen=True, slots=True)
class Conv2d:
    """The sizes of a convolution, NCHW; pairs are (vertical, horizontal)."""

    images: int
    channels: int
    size: tuple[int, int]
    filters: int
    kernel: tuple[int, int]
    out: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1


def output_extent(size: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Output height or width: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1,
    or less than 1 where the kernel does not fit."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def conv2d(device: Device, sizes: Conv2d, x: Buffer, w: Buffer, y: Buffer) -> None:
    """y = convolution of x with w; no size is 0."""
    filters = sizes.filters // sizes.groups
    channels = sizes.channels // sizes.groups
    pixels = sizes.out[0] * sizes.out[1]
    grid_x, grid_y, _ = fold(blocks(filters, _TILE) * blocks(pixels, _TILE))
    pipeline = device.pipeline("conv2d")
    for first, count in layers(sizes.images * sizes.groups):
        device.recorder.dispatch(
            pipeline, grid_x, grid_y, count, x.id, w.id, y.id,
            channels, *sizes.size, filters, *sizes.kernel, *sizes.out, *sizes.stride,
            *sizes.padding, *sizes.dilation, sizes.groups, first,
        )  # fmt: skip
