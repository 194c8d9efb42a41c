"""The gradient of a two-dimensional convolution for its filters."""

from __future__ import annotations

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings
from browsergpu.engine.kernels.convolution.conv2d import SUM_THREADS, Conv2dPlan, packed

_KERNEL = "conv2d_filters"
_TILE, _DEPTH = 64, 16  # filters and elements of a tile, and steps at a time
#: Workgroups from which sums are not divided, and the least steps of a part.
_WORKGROUPS, _LEAST = 512, 256
#: Least elements of the filters of a group. Smaller gradients would leave most of a tile empty.
_LEAST_ELEMENTS = 256


def has_filter_gradient(plan: Conv2dPlan) -> bool:
    """Return whether :func:`filter_gradient` suits a convolution."""
    p = plan.problem
    return p.filters * p.channels * product(p.kernel) >= _LEAST_ELEMENTS


def filter_gradient(build: Build, x: Slot, g: Slot, y: Slot, plan: Conv2dPlan) -> None:
    """Add y = the gradient for the filters of the convolution of x that ``plan`` describes.

    g is the gradient for the result. All are contiguous float32, and y is a different buffer.
    """
    p = plan.problem
    elements = p.channels * product(p.kernel)
    steps = p.images * product(p.out)
    tiles = blocks(p.filters, _TILE) * blocks(elements, _TILE)
    parts = min(blocks(_WORKGROUPS, tiles * p.groups), steps // _LEAST)
    chunk = blocks(blocks(steps, max(parts, 1)), _DEPTH) * _DEPTH
    parts = blocks(steps, chunk)
    total = p.groups * p.filters * elements
    made = y if parts == 1 else build.temporary(4 * parts * total)
    fields = (
        p.images, p.channels, *p.image, p.filters, *p.kernel, *p.out, packed(p.stride),
        *p.padding, packed(p.dilation), p.groups, chunk,
    )  # fmt: skip
    for first, count in layers(p.groups * parts):
        build.dispatch(_KERNEL, "", (*fold(tiles)[:2], count), (x, g, made), *fields, first)
    if parts > 1:
        grid = fold(blocks(total, SUM_THREADS))
        summed = (total, p.filters * elements, parts, elements, p.groups * p.filters, 0)
        build.dispatch("conv2d_sum", "", grid, (made, g, g, g, y), *summed)
        build.release(made)


def _work(f: Fields) -> Work:
    elements = f["channels"] * f["kernel_h"] * f["kernel_w"]
    pixels = f["out_h"] * f["out_w"]
    steps = min(f["chunk"], f["images"] * pixels)
    inputs = steps * f["channels"] * f["height"] * f["width"] / pixels
    moved = inputs + f["filters"] * (steps + elements)
    return 2 * f["filters"] * elements * steps, 4 * moved


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            _KERNEL,
            "conv2d_filters.wgsl",
            bindings("x", "g", "y"),
            params(
                "images: u32", "channels: u32", "height: u32", "width: u32", "filters: u32",
                "kernel_h: u32", "kernel_w: u32", "out_h: u32", "out_w: u32", "stride: u32",
                "pad_h: u32", "pad_w: u32", "dilation: u32", "groups: u32", "chunk: u32",
                "first_z: u32",
            ),
            cost=_work,
        ),
    )
)  # fmt: skip
