"""Convolutions in which each filter sees only one channel."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings

KERNEL = "conv2d_depthwise"
_THREADS = 64
_ROWS = 4  # vertically adjacent pixels per thread

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
    added: int,
) -> Dispatch:
    """Return the grid and parameters of the kernel for all ``planes`` (images × filters).

    ``filters`` is the number of filters per group. Pairs are (vertical, horizontal). ``added`` has
    the bits of the kernel's added operands.
    """
    threads = planes * blocks(out[0], _ROWS) * out[1]
    fields = (threads, *image, filters, filters * groups, *kernel, *out)
    return fold(blocks(threads, _THREADS)), (*fields, *stride, *padding, *dilation, added)


def _work(f: Fields) -> Work:
    window = f["kernel_h"] * f["kernel_w"]
    planes = f["n"] / (-(-f["out_h"] // _ROWS) * f["out_w"])
    inputs = planes / f["filters"] * f["height"] * f["width"]
    outputs = planes * f["out_h"] * f["out_w"]
    return 2 * outputs * window, 4 * (inputs + f["all_filters"] * window + outputs)


#: The kernel is a variant of conv2d.
FAMILY = KernelFamily(
    kernels=(
        Kernel(
            KERNEL,
            "conv2d_depthwise.wgsl",
            bindings("x", "w", "bias", "scale", "residual", "y"),
            params(
                "n: u32", "height: u32", "width: u32", "filters: u32", "all_filters: u32",
                "kernel_h: u32", "kernel_w: u32", "out_h: u32", "out_w: u32", "stride_h: u32",
                "stride_w: u32", "pad_h: u32", "pad_w: u32", "dilation_h: u32", "dilation_w: u32",
                "added: u32",
            ),
            configurations={
                "": {"BIAS": 0, "AFTER": 0},
                "bias": {"BIAS": 1, "AFTER": 0},
                "after": {"BIAS": 0, "AFTER": 1},
            },
            cost=_work,
        ),
    )
)  # fmt: skip
