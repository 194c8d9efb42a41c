"""Convolutions in which each filter sees only one channel."""

from __future__ import annotations

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.chains import with_chain
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings

KERNEL = "conv2d_depthwise"
#: The same kernel, which also writes sums of each plane of y.
WITH_TOTALS = "conv2d_depthwise_totals"
_OF_HALVES = "conv2d_depthwise_halves"
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


def totals_of(out: Pair) -> int:
    """Return the number of sums that WITH_TOTALS writes for each plane of y."""
    return blocks(blocks(out[0], _ROWS) * out[1], _THREADS)


def with_totals(made: Dispatch, planes: int, out: Pair) -> Dispatch:
    """Return the grid and parameters of WITH_TOTALS for those of the kernel."""
    groups = planes * totals_of(out)
    return fold(groups), (groups, *made[1][1:])


def add_halves(
    build: Build,
    operands: tuple[Slot, ...],
    planes: int,
    filters: int,
    groups: int,
    image: Pair,
    kernel: Pair,
    out: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    added: int,
    chain: str | None,
) -> None:
    """Add the kernel of float16 ``operands``: x, w, bias, scale, residual and y.

    bias and scale are float32. ``chain`` is an activation. See :func:`dispatch` for the others.
    """
    n = planes * product(out)
    fields = (n, *image, filters, filters * groups, *kernel, *out)
    grid = fold(blocks(blocks(n, 2), _THREADS))
    configuration = with_chain("", chain)
    more = (*stride, *padding, *dilation, added)
    build.dispatch(_OF_HALVES, configuration, grid, operands, *fields, *more)


def _work(f: Fields) -> Work:
    return _work_of_planes(f, f["n"] / (-(-f["out_h"] // _ROWS) * f["out_w"]), 4)


def _work_with_totals(f: Fields) -> Work:
    return _work_of_planes(f, f["n"] / totals_of((int(f["out_h"]), int(f["out_w"]))), 4)


def _work_of_halves(f: Fields) -> Work:
    return _work_of_planes(f, f["n"] / (f["out_h"] * f["out_w"]), 2)


def _work_of_planes(f: Fields, planes: float, nbytes: int) -> Work:
    window = f["kernel_h"] * f["kernel_w"]
    inputs = planes / f["filters"] * f["height"] * f["width"]
    outputs = planes * f["out_h"] * f["out_w"]
    return 2 * outputs * window, nbytes * (inputs + f["all_filters"] * window + outputs)


_READ = ("x", "w", "bias", "scale", "residual")
_BINDINGS = bindings(*_READ, "y")
_PARAMS = params(
    "n: u32", "height: u32", "width: u32", "filters: u32", "all_filters: u32", "kernel_h: u32",
    "kernel_w: u32", "out_h: u32", "out_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32",
    "pad_w: u32", "dilation_h: u32", "dilation_w: u32", "added: u32",
)  # fmt: skip

_CONFIGURATIONS = {
    "": {"BIAS": 0, "AFTER": 0, "WHOLE": 1},
    "bias": {"BIAS": 1, "AFTER": 0, "WHOLE": 1},
    "after": {"BIAS": 0, "AFTER": 1, "WHOLE": 1},
}

#: The kernel is a variant of conv2d.
FAMILY = KernelFamily(
    kernels=(
        Kernel(
            KERNEL,
            "conv2d_depthwise.wgsl",
            _BINDINGS,
            _PARAMS,
            configurations=_CONFIGURATIONS,
            cost=_work,
        ),
        Kernel(
            WITH_TOTALS,
            "conv2d_depthwise_totals.wgsl",
            bindings(*_READ, "y", "totals", written=2),
            _PARAMS,
            configurations=_CONFIGURATIONS,
            cost=_work_with_totals,
        ),
        Kernel(
            _OF_HALVES,
            "conv2d_depthwise_halves.wgsl",
            _BINDINGS,
            _PARAMS,
            configurations={"": {"AFTER": 1, "WHOLE": 0}},
            cost=_work_of_halves,
        ),
    )
)
