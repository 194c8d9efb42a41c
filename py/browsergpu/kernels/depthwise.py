"""Convolutions where each filter sees one channel only."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold

KERNEL = "conv2d_depthwise"
_THREADS = 64
_ROWS = 4  # pixels below each other that a thread makes

Pair = tuple[int, int]
Dispatch = tuple[tuple[int, int, int], tuple[int, ...]]


def dispatch(
    image: Pair,
    planes: int,
    filters: int,
    groups: int,
    kernel: Pair,
    out: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
) -> Dispatch:
    """Grid and parameters of the kernel that makes all ``planes`` of an output (images ×
    filters). ``filters`` are those of one of the ``groups``; pairs are (vertical, horizontal)."""
    threads = planes * blocks(out[0], _ROWS) * out[1]
    fields = (threads, *image, filters, filters * groups, *kernel, *out)
    return fold(blocks(threads, _THREADS)), (*fields, *stride, *padding, *dilation)
