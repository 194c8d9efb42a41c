"""Convolutions and transposed convolutions along one, two and three axes, in float32.

All functions use the two-dimensional kernel. A single axis becomes an image of one row. With three
axes, the depth of the window is joined with the channels. This takes memory for as many copies of
the input as the kernel is deep. A transposed convolution is a convolution of the padded input by
the flipped kernel. With strides, it is several (:mod:`browsergpu.functions.products.phases`). With
strides and dilation, the input has zeros between its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.precision import narrowed
from browsergpu.arrays.views import strided
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT16
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.convolution.conv2d import Conv2dPlan, output_extent, plan_conv2d
from browsergpu.engine.kernels.convolution.conv2d_products import is_by_product
from browsergpu.functions import manipulation
from browsergpu.functions.nn import convolution_gradients as gradients
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn.padding import padded
from browsergpu.functions.products.convolutions import convolved
from browsergpu.functions.products.phases import transposed_by_phases


def _convolution_of_rank(rank: int) -> Any:
    return (conv1d, conv2d, conv3d)[rank - 1]


def _transposed_of_rank(rank: int) -> Any:
    return (conv_transpose1d, conv_transpose2d, conv_transpose3d)[rank - 1]


_convolution = gradients.of_convolution(_transposed_of_rank)
_transposed_convolution = gradients.of_transposed(_convolution_of_rank)


@narrowed("input", "weight", "bias")
@_convolution
def conv1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlate arrays with filters along one axis.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    weight : Array
        Filters of shape [F, C / groups, K], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Distance of windows.
    padding : int, sequence of int, "valid" or "same", optional
        Zeros at both ends. [(before, after)] are their numbers apart. "valid" adds none. "same"
        keeps the extent, and requires a stride of 1.
    dilation : int or sequence of int, optional
        Distance of elements in a window.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.

    Returns
    -------
    Array
        Shape [N, F, P] or [F, P], of the promoted dtype of ``input`` and ``weight``. P = ⌊(L + 2
        padding - dilation (K - 1) - 1) / stride⌋ + 1.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    return _convolved("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@narrowed("input", "weight", "bias")
@_convolution
def conv2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlate images with filters.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    weight : Array
        Filters of shape [F, C / groups, R, S], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Distance of windows. One number, or one for each axis.
    padding : int, sequence of int, "valid" or "same", optional
        Zeros around the image. One number, one for each axis, or a pair (before, after) for each
        axis. "valid" adds none. "same" keeps the extents, and requires a stride of 1.
    dilation : int or sequence of int, optional
        Distance of elements in a window. One number, or one for each axis.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.

    Returns
    -------
    Array
        Shape [N, F, P, Q] or [F, P, Q], of the promoted dtype of ``input`` and ``weight``. P = ⌊(H
        + 2 padding - dilation (R - 1) - 1) / stride⌋ + 1, and Q likewise.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    return _convolved("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@narrowed("input", "weight", "bias")
@_convolution
def conv3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlate volumes with filters.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    weight : Array
        Filters of shape [F, C / groups, T, R, S], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Distance of windows. One number, or one for each axis.
    padding : int, sequence of int, "valid" or "same", optional
        Zeros around the volume. One number, one for each axis, or a pair (before, after) for each
        axis. "valid" adds none. "same" keeps the extents, and requires a stride of 1.
    dilation : int or sequence of int, optional
        Distance of elements in a window. One number, or one for each axis.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.

    Returns
    -------
    Array
        Shape [N, F, O, P, Q] or [F, O, P, Q], of the promoted dtype of ``input`` and ``weight``.
        The extents are those of :func:`conv2d`.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    return _convolved("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@narrowed("input", "weight", "bias")
@_transposed_convolution
def conv_transpose1d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """Return the transposed convolution along one axis, the input gradient of :func:`conv1d`.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    weight : Array
        Filters of shape [C, F / groups, K], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Stride of the convolution.
    padding : int or sequence of int, optional
        Padding of the convolution.
    output_padding : int or sequence of int, optional
        Additional elements at the end. Less than ``stride`` or ``dilation``.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.
    dilation : int or sequence of int, optional
        Dilation of the convolution.

    Returns
    -------
    Array
        Shape [N, F, P] or [F, P], of the promoted dtype of ``input`` and ``weight``. P = (L - 1)
        stride - 2 padding + dilation (K - 1) + output_padding + 1.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    settings = stride, padding, output_padding, dilation, groups
    return _transposed("conv_transpose1d", 1, input, weight, bias, *settings)


@narrowed("input", "weight", "bias")
@_transposed_convolution
def conv_transpose2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """Return the transposed convolution of images, the input gradient of :func:`conv2d`.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    weight : Array
        Filters of shape [C, F / groups, R, S], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Stride of the convolution. Each option is one number, or one for each axis.
    padding : int or sequence of int, optional
        Padding of the convolution.
    output_padding : int or sequence of int, optional
        Additional elements at the end of each axis. Less than ``stride`` or ``dilation``.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.
    dilation : int or sequence of int, optional
        Dilation of the convolution.

    Returns
    -------
    Array
        Shape [N, F, P, Q] or [F, P, Q], of the promoted dtype of ``input`` and ``weight``. P = (H -
        1) stride - 2 padding + dilation (R - 1) + output_padding + 1, and Q likewise.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    settings = stride, padding, output_padding, dilation, groups
    return _transposed("conv_transpose2d", 2, input, weight, bias, *settings)


@narrowed("input", "weight", "bias")
@_transposed_convolution
def conv_transpose3d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """Return the transposed convolution of volumes, the input gradient of :func:`conv3d`.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    weight : Array
        Filters of shape [C, F / groups, T, R, S], float32 or float16.
    bias : Array, optional
        Shape [F]. Added to the result of each filter.
    stride : int or sequence of int, optional
        Stride of the convolution. Each option is one number, or one for each axis.
    padding : int or sequence of int, optional
        Padding of the convolution.
    output_padding : int or sequence of int, optional
        Additional elements at the end of each axis. Less than ``stride`` or ``dilation``.
    groups : int, optional
        Number of groups of channels. A divisor of C and F.
    dilation : int or sequence of int, optional
        Dilation of the convolution.

    Returns
    -------
    Array
        Shape [N, F, O, P, Q] or [F, O, P, Q], of the promoted dtype of ``input`` and ``weight``.
        The extents are those of :func:`conv_transpose2d`.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If an operand does not consist of floats.
    """
    settings = stride, padding, output_padding, dilation, groups
    return _transposed("conv_transpose3d", 3, input, weight, bias, *settings)


def _operands(op: str, rank: int, input: Any, weight: Any) -> tuple[Array, Array, bool]:
    x, alone = inputs.images(op, "input", input, rank)
    return x, inputs.floats(op, "weight", weight), alone


def _check_groups(op: str, rank: int, w: Any, filters: Shape, channels: int, groups: Any) -> int:
    """Return the number of groups. ``w`` is shown in errors about its shape, ``filters``."""
    if len(filters) != rank + 2 or 0 in filters[2:]:
        expected = f"have {rank + 2} axes, the last {rank} not empty"
        raise InvalidArgument(op, "weight", w, expected)
    count = checks.integer(op, "groups", groups, 1)
    if channels % count or filters[0] % count:
        expected = f"a divisor of {channels} channels and of weight's {filters[0]}"
        raise InvalidArgument(op, "groups", groups, expected)
    return count


class _Settings(NamedTuple):
    """Checked settings of a convolution, with its plan if the kernel computes all of it."""

    stride: Shape
    padding: Shape
    after: Shape
    dilation: Shape
    groups: int
    plan: Conv2dPlan | None


@remembered
def _settings(
    op: str, rank: int, shape: Shape, filters: Shape, stride: Any, padding: Any, dilation: Any,
    groups: Any,
) -> _Settings:  # fmt: skip
    """Check the settings of a convolution. Errors about the weight do not show it."""
    w, channels = None, shape[1]
    count = _check_groups(op, rank, w, filters, channels, groups)
    if filters[1] * count != channels:
        expected = f"have {channels // count} channels, as input has in each group"
        raise InvalidArgument(op, "weight", w, expected)
    steps = checks.each_axis(op, "stride", stride, rank, 1)
    apart = checks.each_axis(op, "dilation", dilation, rank, 1)
    if isinstance(padding, str):
        before, after = _margins_by_name(op, padding, filters, steps, apart)
    else:
        before, after = checks.margins(op, "padding", padding, rank)
    for extent, kernel, first, last, gap in zip(
        shape[2:], filters[2:], before, after, apart, strict=True
    ):
        if extent + first + last <= gap * (kernel - 1):
            expected = f"a kernel that fits the padded input of shape {shape}"
            raise InvalidArgument(op, "weight", w, expected)
    plan = None
    if rank == 2:
        plan = plan_conv2d(op, shape, filters, None, steps, before, apart, count, after)
    return _Settings(steps, before, after, apart, count, plan)


def _margins_by_name(
    op: str, padding: str, filters: Shape, stride: Shape, dilation: Shape
) -> tuple[Shape, Shape]:
    """Return the zeros before and after each axis for "valid" or "same".

    Of an odd number, the extra zero is after the elements.
    """
    if padding == "valid":
        return (0,) * len(stride), (0,) * len(stride)
    if padding != "same":
        raise InvalidArgument(op, "padding", padding, "integers, 'valid' or 'same'")
    if any(step != 1 for step in stride):
        raise InvalidArgument(op, "padding", padding, "integers, because stride is not 1")
    sums = [gap * (extent - 1) for gap, extent in zip(dilation, filters[2:], strict=True)]
    return tuple([n // 2 for n in sums]), tuple([n - n // 2 for n in sums])


def _convolved(
    op: str, rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> Array:  # fmt: skip
    x, w, alone = _operands(op, rank, input, weight)
    try:
        found = _settings(op, rank, x.node.shape, w.node.shape, stride, padding, dilation, groups)
    except InvalidArgument as error:
        if error.argument == "weight":
            raise InvalidArgument(op, "weight", w, error.expected) from None
        raise
    steps, before, after, apart, count, plan = found
    added = inputs.vector(op, "bias", bias, w.node.shape[0])
    if plan is not None:
        made = _planned(op, x, w, added, plan, plan.output_shape)
    else:
        made = _convolve(op, x, w, added, steps, before, apart, count, after)
    return made.reshape(made.shape[1:]) if alone else made


def _convolve(
    op: str, x: Array, w: Array, bias: Array | None, stride: Shape, padding: Shape, dilation: Shape,
    groups: int, after: Shape | None = None,
) -> Array:  # fmt: skip
    """Compute the convolution along as many axes as there are strides."""
    behind = padding if after is None else after
    if len(stride) == 2:
        return _convolve_2d(op, x, w, bias, stride, padding, dilation, groups, behind)
    if len(stride) == 1:
        x, w = (v.reshape((*v.shape[:2], 1, v.shape[2])) for v in (x, w))
        settings = (1, *stride), (0, *padding), (1, *dilation), groups, (0, *behind)
        return _convolve_2d(op, x, w, bias, *settings, is_row=True)
    return _convolve_3d(op, x, w, bias, stride, padding, dilation, groups, behind)


def _convolve_2d(
    op: str, x: Array, w: Array, bias: Array | None, stride: Shape, padding: Shape, dilation: Shape,
    groups: int, after: Shape, is_row: bool = False,
) -> Array:  # fmt: skip
    """Compute the convolution along two axes. The result has no first one if ``is_row``."""
    plan = plan_conv2d(op, x.shape, w.shape, None, stride, padding, dilation, groups, after)
    shape: Shape = plan.output_shape
    return _planned(op, x, w, bias, plan, (*shape[:2], shape[3]) if is_row else shape)


def _planned(
    op: str, x: Array, w: Array, bias: Array | None, plan: Conv2dPlan, shape: Shape
) -> Array:
    """Compute a planned convolution as an array of this shape."""
    made = inputs.room(op, x, inputs.common(x, w), shape)
    if 0 not in shape:
        own, filters = apply.packed(x), apply.packed(w)
        late = None
        if made.node.kind is FLOAT16 and is_by_product(x.device.facts, plan):
            late, bias = bias, None  # fused with the operations that follow
        added = None if bias is None else apply.packed(bias).node
        found = convolved(x.tracer, op, plan, own.node, filters.node, made.node, added)
        if found is not made.node:
            made = x.like(found)
        if late is not None:
            summed = made + inputs.of_channels(late, made.ndim)
            made = apply.cast_to(op, summed, FLOAT16, copy=False)
    return made


def _convolve_3d(
    op: str, x: Array, w: Array, bias: Array | None, stride: Shape, padding: Shape, dilation: Shape,
    groups: int, after: Shape,
) -> Array:  # fmt: skip
    around = padding[0], after[0]
    if any(around):
        x = padded(x, [(0, 0), (0, 0), around, (0, 0), (0, 0)], 0)
    filters, depth, deep, *kernel = w.shape
    images, channels, extent, *plane = x.shape
    layers = output_extent(extent, deep, stride[0], 0, dilation[0])
    x.node.in_memory()
    steps = strided.strides_of(x)
    # [images, layers, channels, depth of the window, rows, columns]
    windows = strided.view(
        x,
        (images, layers, channels, deep, *plane),
        (steps[0], steps[2] * stride[0], steps[1], steps[2] * dilation[0], *steps[3:]),
        0,
    )
    flat_images = windows.reshape((images * layers, channels * deep, *plane))
    flat = w.reshape((filters, depth * deep, *kernel))
    found = _convolve_2d(
        op, flat_images, flat, bias, stride[1:], padding[1:], dilation[1:], groups, after[1:]
    )
    apart = found.reshape((images, layers, *found.shape[1:]))
    return manipulation.permute_dims(apart, (0, 2, 1, 3, 4))


def _transposed(
    op: str, rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    output_padding: Any, dilation: Any, groups: Any,
) -> Array:  # fmt: skip
    x, w, alone = _operands(op, rank, input, weight)
    count = _check_groups(op, rank, w, w.shape, x.shape[1], groups)
    own, each, *kernel = w.shape
    if own != x.shape[1]:
        expected = f"have {x.shape[1]} channels first, as input has"
        raise InvalidArgument(op, "weight", w, expected)
    added = inputs.vector(op, "bias", bias, each * count)
    steps = checks.each_axis(op, "stride", stride, rank, 1)
    around = checks.each_axis(op, "padding", padding, rank, 0)
    apart = checks.each_axis(op, "dilation", dilation, rank, 1)
    behind = checks.each_axis(op, "output_padding", output_padding, rank, 0)
    for more, step, gap in zip(behind, steps, apart, strict=True):
        if more >= max(step, gap):
            expected = f"less than stride, {steps}, or dilation, {apart}"
            raise InvalidArgument(op, "output_padding", output_padding, expected)
    reach = [gap * (extent - 1) for gap, extent in zip(apart, kernel, strict=True)]
    pairs = [(far - cut, far - cut + more)
             for far, cut, more in zip(reach, around, behind, strict=True)]  # fmt: skip
    _check_outputs(op, x.shape[2:], steps, pairs, reach, padding)
    if max(steps) > 1 and max(apart) == 1:
        found = transposed_by_phases(op, _convolve, x, w, added, steps, around, behind, count)
        return found.reshape(found.shape[1:]) if alone else found
    margin = (0,) * rank
    if all(
        step == 1 and 0 <= before == after
        for step, (before, after) in zip(steps, pairs, strict=True)
    ):
        margin = tuple([before for before, _ in pairs])  # the kernel pads
    else:
        x = padded(x, [(0, 0), (0, 0), *pairs], 0, (1, 1, *steps))
    found = _convolve(op, x, _flip_filters(w, count), added, (1,) * rank, margin, apart, count)
    return found.reshape(found.shape[1:]) if alone else found


def _check_outputs(
    op: str, extents: Shape, steps: Shape, pairs: Sequence[tuple[int, int]], reach: Sequence[int],
    padding: Any,
) -> None:  # fmt: skip
    for extent, step, (before, behind), far in zip(extents, steps, pairs, reach, strict=True):
        if before + max((extent - 1) * step + 1, 0) + behind - far < 1:
            raise InvalidArgument(op, "padding", padding, "small enough for at least one output")


def _flip_filters(w: Array, groups: int) -> Array:
    """Return filters [C, F / groups, ...] as [F, C / groups, ...], flipped along all axes."""
    w.node.in_memory()
    channels, each, *kernel = w.node.shape
    along, across, *steps = strided.strides_of(w)
    own = channels // groups
    flipped = strided.view(
        w,
        (groups, each, own, *kernel),
        (own * along, across, along, *[-step for step in steps]),
        sum((extent - 1) * step for extent, step in zip(kernel, steps, strict=True)),
    )
    return flipped.reshape((groups * each, own, *kernel))
