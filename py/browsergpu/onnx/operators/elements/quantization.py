"""Quantised arrays: 8 bits and less, with scales and zero points."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.onnx.graph.narrow import Narrow, narrowed, widened
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.types import NarrowType
from browsergpu.onnx.graph.values import axis_of, to_gpu
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.elements.casting import converted
from browsergpu.onnx.operators.networks.convolution import centered, integer_convolution
from browsergpu.onnx.registry import operator


def _limits(kind: Any) -> tuple[int, int]:
    """Return the least and the largest integer of a dtype or narrow type."""
    if isinstance(kind, NarrowType):
        if kind.wide.kind == "u":
            return 0, (1 << kind.bits) - 1
        return -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1
    found = np.iinfo(kind)
    return int(found.min), int(found.max)


def spread(scale: Any, shape: tuple[int, ...], axis: int, block: int) -> Any:
    """Return scales or zero points in a shape that broadcasts: of all, an axis, or blocks."""
    if scale.ndim == 0 or (scale.size == 1 and scale.ndim <= 1):
        return scale.reshape(())
    at = axis_of(axis, len(shape))
    if block:
        return bg.repeat(scale, block, axis=at)[tuple(slice(0, n) for n in shape)]
    if scale.ndim > 1:
        return scale
    return scale.reshape((-1, *(1,) * (len(shape) - 1 - at)))


@operator("QuantizeLinear", since=10, raw=True)
def quantize_linear(
    x: Any, y_scale: Any, y_zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
    output_dtype: int = 0, precision: int = 0, saturate: int = 1, node: Node,
) -> Any:  # fmt: skip
    """Divide by scales and round to a quantised type."""
    kind: Any = node.dtype(output_dtype) if output_dtype else np.dtype(np.uint8)
    if y_zero_point is not None:
        is_narrow = isinstance(y_zero_point, Narrow)
        kind = y_zero_point.type if is_narrow else y_zero_point.dtype
    wide = to_gpu(widened(x)).astype("float32", copy=False)
    scale = spread(
        to_gpu(widened(y_scale)).astype("float32", copy=False), x.shape, axis, block_size
    )
    quotient = wide / scale
    if isinstance(kind, NarrowType) and kind.wide.kind == "f":
        return narrowed(quotient, kind, saturate=bool(saturate))
    low, high = _limits(kind)
    found = bg.rint(quotient)
    if y_zero_point is not None:
        zero = to_gpu(widened(y_zero_point)).astype("float32", copy=False)
        found = found + spread(zero, x.shape, axis, block_size)
    return converted(bg.clip(found, low, high), kind)


@operator("DequantizeLinear", since=10, raw=True)
def dequantize_linear(
    x: Any, x_scale: Any, x_zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
    output_dtype: int = 0, node: Node,
) -> Any:  # fmt: skip
    """Multiply a quantised array by its scales."""
    kind: Any = x_scale.type if isinstance(x_scale, Narrow) else node.context.dtype(x_scale.dtype)
    if output_dtype:
        kind = node.dtype(output_dtype)
    wide = node.context.to_gpu(widened(x)).astype("float32", copy=False)
    if x_zero_point is not None and wide.size:
        zero = node.context.to_gpu(widened(x_zero_point)).astype("float32", copy=False)
        wide = wide - spread(zero, x.shape, axis, block_size)
    scale = node.context.to_gpu(widened(x_scale)).astype("float32", copy=False)
    return converted(wide * spread(scale, x.shape, axis, block_size), kind)


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(x: Any) -> Any:
    """Quantise to uint8 by the range of the values."""
    high = bg.maximum(bg.max(x), 0)
    low = bg.minimum(bg.min(x), 0)
    scale = bg.where(high == low, 1.0, high - low) / 255
    zero = bg.rint(bg.clip(-low / scale, 0, 255))
    found = bg.clip(bg.rint(x / scale) + zero, 0, 255)
    return (
        found.astype("uint8", copy=False),
        scale.astype("float32", copy=False),
        zero.astype("uint8", copy=False),
    )


def _zero_of_rows(a: Any, zero: Any) -> Any:
    """Return a matrix of integers minus a zero point of all or of each row."""
    wide = a.astype("int32", copy=False)
    if zero is None:
        return wide
    own = zero.astype("int32", copy=False)
    if own.ndim == 1 and own.size > 1:
        own = own.reshape((-1, 1))
    return wide - (own if own.size > 1 else own.reshape(()))


def _zero_of_columns(b: Any, zero: Any) -> Any:
    wide = b.astype("int32", copy=False)
    if zero is None:
        return wide
    own = zero.astype("int32", copy=False)
    return wide - (own if own.size > 1 else own.reshape(()))


@operator("MatMulInteger", since=10)
def matmul_integer(a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None) -> Any:
    """Return the exact product of matrices of 8 bits, as int32."""
    return bg.matmul(_zero_of_rows(a, a_zero_point), _zero_of_columns(b, b_zero_point))


def requantized(sums: Any, scale: Any, zero: Any, kind: Any) -> Any:
    """Return numbers times a scale, plus a zero point, rounded to a dtype of integers."""
    low, high = _limits(kind)
    found = sums.astype("float32", copy=False) * scale
    if zero is not None:
        found = found + zero.astype("float32", copy=False).reshape(())
    return bg.clip(bg.rint(found), low, high).astype(kind, copy=False)


@operator("QLinearMatMul", since=10)
def qlinear_matmul(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any,
    y_zero_point: Any,
) -> Any:  # fmt: skip
    """Return the product of quantised matrices, quantised."""
    sums = bg.matmul(_zero_of_rows(a, a_zero_point), _zero_of_columns(b, b_zero_point))
    first = a_scale.astype("float32", copy=False)
    if first.ndim == 1 and first.size > 1:
        first = first.reshape((-1, 1))
    scale = first * b_scale.astype("float32", copy=False) / y_scale.astype("float32", copy=False)
    kind = a.dtype if y_zero_point is None else y_zero_point.dtype
    return requantized(sums, scale, y_zero_point, kind)


@operator("QLinearConv", since=10)
def qlinear_conv(
    x: Any, x_scale: Any, x_zero_point: Any, w: Any, w_scale: Any, w_zero_point: Any, y_scale: Any,
    y_zero_point: Any, b: Any = None, *, auto_pad: str = "NOTSET",
    dilations: list[int] | None = None, group: int = 1, kernel_shape: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return a convolution of quantised arrays, quantised."""
    attributes = auto_pad, dilations, group, kernel_shape, pads, strides
    own = centered(x, x_zero_point), centered(w, w_zero_point, 0)
    sums = integer_convolution(*own, *attributes)
    if b is not None:
        sums = sums + b.reshape((-1, *(1,) * (x.ndim - 2)))
    scale = x_scale * w_scale / y_scale
    if scale.ndim == 1 and scale.size > 1:
        scale = scale.reshape((-1, *(1,) * (x.ndim - 2)))
    elif scale.ndim:
        scale = scale.reshape(())
    return requantized(sums, scale, y_zero_point, y_zero_point.dtype)
