"""Convolutions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from browsergpu.onnx.graph.values import integers
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.arrays.shapes import padded
from browsergpu.onnx.operators.networks.windows import windows
from browsergpu.onnx.registry import operator

#: Products of 4 and 8 bits whose float32 sum is exact.
_EXACT_TERMS = (1 << 24) // (16 * 256)


def convolved(
    x: Any, w: Any, b: Any, auto_pad: str, dilations: Any, group: int, kernel_shape: Any,
    pads: Any, strides: Any,
) -> Any:  # fmt: skip
    """Return a convolution along one, two or three axes, with ONNX's attributes."""
    rank = x.ndim - 2
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise ValueError(f"kernel_shape must be {w.shape[2:]}, as W has, got {kernel_shape}")
    own = windows(x.shape[2:], w.shape[2:], strides, dilations, pads, auto_pad)
    padding: Any = tuple(own.before)
    if own.before != own.after:
        padding = tuple(zip(own.before, own.after, strict=True))
    if min(own.pads) < 0:
        x = padded(x, own.pads, "constant", 0, range(2, x.ndim))
        padding = 0
    function = getattr(bg.nn, f"conv{rank}d", None)
    if function is None:
        raise ValueError(f"X must have 1 to 3 axes after the channels, got shape {x.shape}")
    return function(x, w, b, tuple(own.strides), padding, tuple(own.dilations), group)


@operator("Conv")
def conv(
    x: Any, w: Any, b: Any = None, *, auto_pad: str = "NOTSET", dilations: list[int] | None = None,
    group: int = 1, kernel_shape: list[int] | None = None, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return a convolution."""
    return convolved(x, w, b, auto_pad, dilations, group, kernel_shape, pads, strides)


@operator("ConvTranspose")
def conv_transpose(
    x: Any, w: Any, b: Any = None, *, auto_pad: str = "NOTSET", dilations: list[int] | None = None,
    group: int = 1, kernel_shape: list[int] | None = None, output_padding: list[int] | None = None,
    output_shape: list[int] | None = None, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return a transposed convolution."""
    rank = x.ndim - 2
    steps, gaps = list(strides or [1] * rank), list(dilations or [1] * rank)
    extra = list(output_padding or [0] * rank)
    spans = [(n - 1) * gap + 1 for n, gap in zip(w.shape[2:], gaps, strict=True)]
    whole = [(n - 1) * step + span for n, step, span in zip(x.shape[2:], steps, spans, strict=True)]
    same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    wanted = list(output_shape[-rank:]) if output_shape else None
    if same and wanted is None:
        wanted = [n * step for n, step in zip(x.shape[2:], steps, strict=True)]
    before, after = [0] * rank, [0] * rank
    if wanted is not None:
        for at in range(rank):
            total = whole[at] + extra[at] - wanted[at]
            half = total // 2
            first = half if auto_pad == "SAME_UPPER" else total - half
            before[at], after[at] = first, total - first
    elif auto_pad == "NOTSET" and pads:
        before, after = list(pads[:rank]), list(pads[rank:])
    # The full result is cropped or padded, in which output_padding is a smaller pad at the end.
    ends = [n - more for n, more in zip(after, extra, strict=True)]
    function = getattr(bg.nn, f"conv_transpose{rank}d")
    common = [max(min(a, z), 0) for a, z in zip(before, ends, strict=True)]
    inside = [n if n < span else 0 for n, span in zip(common, spans, strict=True)]
    found = function(x, w, None, tuple(steps), tuple(inside), 0, group, tuple(gaps))
    left = [n - m for n, m in zip(before, inside, strict=True)]
    right = [n - m for n, m in zip(ends, inside, strict=True)]
    if any(left) or any(right):
        crop = [-n for n in (*left, *right)]
        found = padded(found, crop, "constant", 0, range(2, found.ndim))
    return found if b is None else found + b.reshape((-1, *(1,) * rank))


def integer_convolution(x: Any, w: Any, *attributes: Any) -> Any:
    """Return the exact convolution of integers of at most 9 bits, as int32.

    Filters are split into high and low bits, and channels into groups, so that float32 sums of the
    products are exact.
    """
    low = w & 15
    parts = ((w - low) >> 4, 16), (low, 1)
    group = attributes[2]
    channels, kernel = w.shape[1], prod(w.shape[2:])
    each = max(_EXACT_TERMS // max(kernel, 1), 1) if group == 1 else channels
    if min(each, channels) * kernel > _EXACT_TERMS:
        raise ValueError(f"W of shape {w.shape} has more terms than an exact sum can have")
    total: Any = 0
    for begin in range(0, channels, each):
        own = x[:, begin : begin + each] if each < channels else x
        for part, factor in parts:
            chosen = part[:, begin : begin + each].astype("float32", copy=False)
            sums = convolved(own.astype("float32", copy=False), chosen, None, *attributes)
            total = total + bg.rint(sums).astype("int32", copy=False) * factor
    return total


def centered(x: Any, zero: Any, axis: int | None = None) -> Any:
    """Return integers minus a zero point, as int32. ``axis`` is that of a list of zero points."""
    wide = x.astype("int32", copy=False)
    if zero is None:
        return wide
    own = zero.astype("int32", copy=False)
    if own.ndim == 1 and axis is not None and own.size > 1:
        own = own.reshape((-1, *(1,) * (x.ndim - 1 - axis)))
    return wide - (own if own.size > 1 else own.reshape(()))


@operator("ConvInteger", since=10)
def conv_integer(
    x: Any, w: Any, x_zero_point: Any = None, w_zero_point: Any = None, *,
    auto_pad: str = "NOTSET", dilations: list[int] | None = None, group: int = 1,
    kernel_shape: list[int] | None = None, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return a convolution of integers, as int32."""
    attributes = auto_pad, dilations, group, kernel_shape, pads, strides
    return integer_convolution(
        centered(x, x_zero_point), centered(w, w_zero_point, 0), *attributes
    )  # fmt: skip


@operator("DeformConv", since=19)
def deform_conv(
    x: Any, w: Any, offset: Any, b: Any = None, mask: Any = None, *,
    dilations: list[int] | None = None, group: int = 1, kernel_shape: list[int] | None = None,
    offset_group: int = 1, pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return a convolution whose windows sample the image at offsets, as in PyTorch's torchvision.

    Source: Zhu et al., "Deformable ConvNets v2", arXiv 1811.11168.
    """
    n, c, height, width = x.shape
    kh, kw = w.shape[2:]
    own = windows((height, width), (kh, kw), strides, dilations, pads, "NOTSET")
    rows, columns = own.counts((height, width))
    places = offset.reshape((n, offset_group, kh * kw, 2, rows, columns))
    grids = []
    for axis, (count, extent) in enumerate(((rows, height), (columns, width))):
        first = np.arange(count) * own.strides[axis] - own.before[axis]
        inner = np.arange((kh, kw)[axis]) * own.dilations[axis]
        shape = (kh, 1, rows, 1) if axis == 0 else (1, kw, 1, columns)
        base = (inner[:, None] + first).reshape(shape)
        base = np.broadcast_to(base, (kh, kw, rows, columns)).reshape((kh * kw, rows, columns))
        place = places[:, :, :, axis] + bg.asarray(base.astype(np.float32, copy=False))
        grids.append(place * (2 / max(extent - 1, 1)) - 1 if extent > 1 else place)
    if height == 1 or width == 1:
        raise ValueError("X must have more than one row and column")
    grid = bg.stack(grids[::-1], -1).reshape((n * offset_group, kh * kw * rows, columns, 2))
    images = x.reshape((n * offset_group, c // offset_group, height, width))
    sampled = bg.nn.grid_sample(images, grid, align_corners=True)
    sampled = sampled.reshape((n, offset_group, c // offset_group, kh * kw, rows, columns))
    if mask is not None:
        sampled = sampled * mask.reshape((n, offset_group, 1, kh * kw, rows, columns))
    terms = sampled.reshape((n, group, c // group * kh * kw, rows * columns))
    filters = w.reshape((group, w.shape[0] // group, -1))
    found = bg.matmul(filters, terms).reshape((n, w.shape[0], rows, columns))
    return found if b is None else found + b.reshape((-1, 1, 1))


@operator("Col2Im", since=18, host=("image_shape", "block_shape"))
def col2im(
    x: Any, image_shape: Any, block_shape: Any, *, dilations: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Add the elements of windows at their places in an image."""
    image, block = integers(image_shape), integers(block_shape)
    rank = len(image)
    own = windows(image, block, strides, dilations, pads, "NOTSET")
    counts = own.counts(image)
    n, c = x.shape[0], x.shape[1] // prod(block)
    apart = x.reshape((n * c, *block, *counts))
    sizes = [extent + a + z for extent, a, z in zip(image, own.before, own.after, strict=True)]
    total = bg.zeros((n * c, *sizes), dtype=x.dtype)
    for place in np.ndindex(*block):
        steps = []
        spread = apart[(slice(None), *place)]
        for at in range(rank):
            first = place[at] * own.dilations[at]
            steps.append((first, sizes[at], own.strides[at], counts[at]))
        total = total + _spread(spread, steps)
    crop = [-a for a in own.before] + [-z for z in own.after]
    return padded(total, crop, "constant", 0, range(1, rank + 1)).reshape((n, c, *image))


def _spread(x: Any, steps: Any) -> Any:
    """Place elements at distances, with zeros between them."""
    for axis, (first, size, step, count) in enumerate(steps, 1):
        places = np.zeros(size, np.int32)
        there = np.zeros(size, bool)
        at = first + np.arange(count) * step
        places[at], there[at] = np.arange(count), True
        shape = (-1, *(1,) * (x.ndim - 1 - axis))
        taken = bg.take(x, bg.asarray(places), axis=axis)
        x = bg.where(bg.asarray(there).reshape(shape), taken, 0)
    return x


@operator("CausalConvWithState", since=27)
def causal_conv(
    x: Any, weight: Any, bias: Any = None, state: Any = None, *, activation: str = "none"
) -> Any:
    """Return a convolution of each channel with its past, and the end of the input as the state."""
    length = weight.shape[-1] - 1
    if state is None:
        state = bg.zeros((x.shape[0], x.shape[1], length), dtype=x.dtype)
    whole = bg.concatenate([state.astype(x.dtype, copy=False), x], -1)
    found = bg.nn.conv1d(whole, weight, bias, groups=x.shape[1])
    if activation in ("silu", "swish"):
        found = bg.nn.silu(found)
    elif activation != "none":
        raise ValueError(f"activation must be none, silu or swish, got {activation!r}")
    return found, whole[..., whole.shape[-1] - length :]
