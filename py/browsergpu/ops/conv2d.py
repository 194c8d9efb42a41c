"""Two-dimensional convolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu import checks
from browsergpu.device import Device
from browsergpu.errors import InvalidArgument
from browsergpu.grids import blocks, fold, layers
from browsergpu.memory import Allocation
from browsergpu.ops import depthwise
from browsergpu.ops.remembered import remembered

_TILE = 64
#: As many filters of one group as are made one by one where they see one channel only.
_FEW_FILTERS = 8


@dataclass(frozen=True, slots=True)
class Conv2dPlan:
    """Elements of each operand, the output's shape, and the dispatches of a kernel."""

    input_elements: int
    filter_elements: int
    output_elements: int
    output_shape: tuple[int, int, int, int]
    kernel: str
    dispatches: tuple[tuple[tuple[int, int, int], tuple[int, ...]], ...]


def output_extent(size: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Output height or width: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1,
    or less than 1 where the kernel does not fit."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


@remembered
def plan_conv2d(
    op: str,
    input_shape: Any,
    filter_shape: Any,
    output_shape: Any,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    groups: Any = 1,
) -> Conv2dPlan:
    """Checks the arguments of ``ComputeBackend.conv2d_forward`` that are not buffers. With
    groups, a filter sees the channels of its group only. Without an ``output_shape``, it is the
    one that the others give."""
    images, channels, height, width = checks.dimensions(op, "input_shape", input_shape, 4)
    filters, depth, kernel_h, kernel_w = checks.dimensions(op, "filter_shape", filter_shape, 4)
    given = None if output_shape is None else checks.dimensions(op, "output_shape", output_shape, 4)
    stride_h, stride_w = checks.pair(op, "stride", stride, 1)
    pad_h, pad_w = checks.pair(op, "padding", padding)
    dilation_h, dilation_w = checks.pair(op, "dilation", dilation, 1)
    groups = checks.integer(op, "groups", groups, 1)
    if channels % groups or filters % groups:
        raise InvalidArgument(
            op, "groups", groups, f"a divisor of {channels} channels and of {filters} filters"
        )
    if depth != channels // groups:
        of_group = "as input_shape has" if groups == 1 else f"as one of {groups} groups has"
        raise InvalidArgument(
            op, "filter_shape", filter_shape, f"{channels // groups} channels, {of_group}"
        )
    if kernel_h < 1 or kernel_w < 1:
        raise InvalidArgument(op, "filter_shape", filter_shape, "a kernel of at least 1 × 1")
    out_h = output_extent(height, kernel_h, stride_h, pad_h, dilation_h)
    out_w = output_extent(width, kernel_w, stride_w, pad_w, dilation_w)
    if out_h < 1 or out_w < 1:
        padded = f"{height + 2 * pad_h} × {width + 2 * pad_w}"
        raise InvalidArgument(
            op, "filter_shape", filter_shape, f"a kernel that fits the padded input of {padded}"
        )
    expected = (images, filters, out_h, out_w)
    if given is not None and given != expected:
        raise InvalidArgument(op, "output_shape", output_shape, str(expected))
    kernel = "conv2d"
    dispatches: tuple[tuple[tuple[int, int, int], tuple[int, ...]], ...]
    if depth == 1 and 0 < filters // groups <= _FEW_FILTERS and images:
        kernel = depthwise.KERNEL
        dispatches = (
            depthwise.dispatch(
                (height, width), images * filters, filters // groups, groups, (kernel_h, kernel_w),
                (out_h, out_w), (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w),
            ),
        )  # fmt: skip
    else:
        grid_x, grid_y, _ = fold(blocks(filters // groups, _TILE) * blocks(out_h * out_w, _TILE))
        dispatches = tuple(
            (
                (grid_x, grid_y, count),
                (depth, height, width, filters // groups, kernel_h, kernel_w, out_h, out_w,
                 stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, first),
            )
            for first, count in layers(images * groups if filters else 0)
        )  # fmt: skip
    return Conv2dPlan(
        images * channels * height * width,
        filters * depth * kernel_h * kernel_w,
        images * filters * out_h * out_w,
        expected,
        kernel,
        dispatches,
    )


def conv2d(
    device: Device,
    plan: Conv2dPlan,
    x: Allocation,
    w: Allocation,
    y: Allocation,
    bias: Allocation | None = None,
) -> None:
    """y = cross-correlation of x with w, plus a number for each filter; y is none of the others."""
    pipeline = device.pipeline(plan.kernel, "" if bias is None else "bias")
    bias_id = w.id if bias is None else bias.id  # not read then, but something must be bound
    for grid, fields in plan.dispatches:
        device.recorder.dispatch(pipeline, *grid, x.id, w.id, bias_id, y.id, *fields)
