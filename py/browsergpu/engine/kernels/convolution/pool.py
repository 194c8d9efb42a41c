"""Maximum and average pooling of [N, C, H, W]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.core.showing import Description
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Codes,
    Cost,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
    by_code,
)

#: Codes of :func:`pool`'s functions.
CODES: Codes = {"max": 0, "mean_padded": 1, "mean": 2}


@dataclass(frozen=True, slots=True, eq=False)
class PoolPlan:
    """The output's shape and elements, and the kernel's parameters."""

    output_shape: tuple[int, int, int, int]
    outputs: int
    fields: tuple[int, ...]


@remembered
def plan_pool(
    op: str,
    input_shape: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: Any,
    after: Any = None,
) -> PoolPlan:
    """Validate the arguments of a pooling. The stride defaults to the kernel size.

    ``after`` is the padding below and to the right of the images, if it differs. Maxima and "mean"
    can have it.
    """
    if len(input_shape) != 4:
        raise InvalidArgument(
            op, "x", Description(f"shape {input_shape}"), "have shape [N, C, H, W]"
        )
    images, channels, *sizes = input_shape
    kernels = checks.pair(op, "kernel", kernel, 1)
    strides = kernels if stride is None else checks.pair(op, "stride", stride, 1)
    paddings = checks.pair(op, "padding", padding)
    behind = paddings if after is None else checks.pair(op, "padding", after)
    dilations = checks.pair(op, "dilation", dilation, 1)
    upwards = checks.flag(op, "ceil_mode", ceil_mode)
    for extent, pads in zip(kernels, zip(paddings, behind, strict=True), strict=True):
        if 2 * max(pads) > extent:
            raise InvalidArgument(op, "padding", padding, f"at most half of the kernel's {kernels}")
    extents = [
        _output_extent(
            size, kernels[at], strides[at], paddings[at], behind[at], dilations[at], upwards
        )
        for at, size in enumerate(sizes)
    ]
    if min(extents) < 1:
        sums = map(sum, zip(sizes, paddings, behind, strict=True))
        padded = " × ".join(map(str, sums))
        raise InvalidArgument(op, "kernel", kernel, f"a window that fits the padded {padded}")
    shape = (images, channels, extents[0], extents[1])
    fields = (*sizes, *extents, *kernels, *strides, *paddings, *dilations)
    return PoolPlan(shape, product(shape), fields)


def _output_extent(
    size: int, kernel: int, stride: int, padding: int, after: int, dilation: int, upwards: bool
) -> int:
    """Return the number of windows along an axis.

    Rounded upwards, the last window may extend past the end, but must start within the input or its
    left padding.
    """
    room = size + padding + after - dilation * (kernel - 1) - 1
    extent = (-(-room // stride) if upwards else room // stride) + 1
    if upwards and (extent - 1) * stride >= size + padding:
        extent -= 1
    return extent


def pool(
    build: Build,
    x: Slot,
    y: Slot,
    op: str,
    plan: PoolPlan,
    indices: Slot | None = None,
    *,
    halves: bool = False,
) -> None:
    """Add y = x pooled by max, mean_padded or mean.

    ``indices`` receives the position of each maximum. All buffers must be different. x and y are
    float16 if ``halves``, without ``indices``.
    """
    if plan.outputs == 0:
        return
    each = build.facts.workgroup_sizes.elementwise * (1 + halves)
    grid = fold(blocks(plan.outputs, each))
    if halves:
        build.dispatch("pool_halves", op, grid, (x, y), plan.outputs, *plan.fields)
    elif indices is None:
        build.dispatch("pool", op, grid, (x, y), plan.outputs, *plan.fields)
    else:
        build.dispatch("pool_indices", "", grid, (x, y, indices), plan.outputs, *plan.fields)


def max_gradient(build: Build, g: Slot, indices: Slot, y: Slot, plan: PoolPlan) -> None:
    """Add y = the sum of g over the windows whose maximum is at each position.

    ``indices`` has the position of each maximum. y has the shape of the pooled input, and must be a
    different buffer.
    """
    planes = product(plan.output_shape[:2])
    inputs = planes * product(plan.fields[:2])
    if inputs:
        grid = fold(blocks(inputs, build.facts.workgroup_sizes.elementwise))
        build.dispatch("pool_gradient", "", grid, (g, indices, y), inputs, *plan.fields)


def _gradient_work(f: Fields) -> Work:
    windows = f["n"] / (f["height"] * f["width"]) * f["out_h"] * f["out_w"]
    return f["n"], 4 * (f["n"] + 2 * windows)


def _work(outputs: int) -> Cost:
    """Return the cost of a kernel that writes this many words per window."""

    def work(f: Fields) -> Work:
        planes = f["n"] / (f["out_h"] * f["out_w"])
        inputs = planes * f["height"] * f["width"]
        return f["n"] * f["kernel_h"] * f["kernel_w"], 4 * (inputs + outputs * f["n"])

    return work


def _halved(work: Work) -> Work:
    """Return the cost with elements of half the size."""
    operations, nbytes = work
    return operations, nbytes / 2


_PARAMS = params(
    "n: u32", "height: u32", "width: u32", "out_h: u32", "out_w: u32", "kernel_h: u32",
    "kernel_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32", "pad_w: u32",
    "dilation_h: u32", "dilation_w: u32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "pool",
            "pool.wgsl",
            bindings("x", "y"),
            _PARAMS,
            configurations=by_code(CODES),
            family="elementwise",
            cost=_work(1),
        ),
        Kernel(
            "pool_halves",
            "pool_halves.wgsl",
            bindings("x", "y"),
            _PARAMS,
            configurations=by_code(CODES),
            family="elementwise",
            cost=lambda f: _halved(_work(1)(f)),
        ),
        Kernel(
            "pool_indices",
            "pool.wgsl",
            bindings("x", "y", "indices", written=2),
            _PARAMS,
            "main_indices",
            {"": {"OP": CODES["max"]}},
            "elementwise",
            _work(2),
        ),
        Kernel(
            "pool_gradient",
            "pool_gradient.wgsl",
            bindings("g", "indices", "y"),
            _PARAMS,
            family="elementwise",
            cost=_gradient_work,
        ),
    )
)
