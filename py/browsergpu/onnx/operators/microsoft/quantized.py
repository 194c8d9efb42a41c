"""Quantised weights of transformers, and arithmetic of quantised arrays."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from browsergpu.functions.language.quantized import QuantizedArray
from browsergpu.onnx.graph.narrow import Narrow, widened
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.elements.quantization import (
    dequantize_linear,
    dynamic_quantize_linear,
    matmul_integer,
    quantize_linear,
    requantized,
)
from browsergpu.onnx.operators.microsoft import DOMAIN
from browsergpu.onnx.operators.networks.pooling import average_pool
from browsergpu.onnx.registry import operator

for _name, _function in (
    ("QuantizeLinear", quantize_linear), ("DequantizeLinear", dequantize_linear),
):  # fmt: skip
    operator(_name, domain=DOMAIN, raw=True)(_function)


def unpacked(x: Any, bits: int) -> Any:
    """Return numbers of less than 8 bits, which share the bytes of the last axis."""
    if bits == 8:
        return x
    if bits not in (2, 4):
        raise ValueError(f"bits must be 2, 4 or 8, got {bits}")
    each = 8 // bits
    shifts = bg.asarray(np.arange(each, dtype=np.uint8) * bits)
    parts = (x[..., None] >> shifts) & ((1 << bits) - 1)
    return parts.reshape((*x.shape[:-1], x.shape[-1] * each))


@operator("MatMulNBits", domain=DOMAIN)
def matmul_n_bits(
    a: Any, b: Any, scales: Any = None, zero_points: Any = None, g_idx: Any = None,
    bias: Any = None, *, K: int, N: int, bits: int = 4, block_size: int, accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Any:  # fmt: skip
    """Return the product with a matrix of few bits, whose blocks of rows have scales."""
    if weight_prepacked:
        raise ValueError("weight_prepacked must be 0: packed weights belong to one processor")
    if isinstance(b, QuantizedArray):  # kernels dequantize it as they read it
        return bg.nn.linear(a, b, bias).astype(a.dtype, copy=False)
    blocks = -(-K // block_size)
    numbers = unpacked(b.reshape((N, blocks, -1)), bits).astype("float32", copy=False)
    factors = scales.reshape((N, blocks, 1)).astype("float32", copy=False)
    zero: Any = float(1 << (bits - 1))
    if zero_points is not None:
        if zero_points.dtype.kind == "f":
            zero = zero_points.reshape((N, blocks, 1)).astype("float32", copy=False)
        else:
            zero = unpacked(zero_points.reshape((N, -1)), bits)[:, :blocks]
            zero = zero.reshape((N, blocks, 1)).astype("float32", copy=False)
    if g_idx is None:
        weights = ((numbers - zero) * factors).reshape((N, -1))[:, :K]
    else:  # each column names its block
        columns = numbers.reshape((N, -1))[:, :K]
        group = g_idx.astype("int64", copy=False)[:K]
        own = bg.broadcast_to(zero, (N, blocks, 1)) if zero_points is not None else None
        zeros = zero if own is None else bg.take(own[:, :, 0], group, axis=1)
        weights = (columns - zeros) * bg.take(factors[:, :, 0], group, axis=1)
    return bg.nn.linear(a, weights.astype(a.dtype, copy=False), bias)


@operator("GatherBlockQuantized", domain=DOMAIN, raw=True)
def gather_block_quantized(
    data: Any, indices: Any, scales: Any, zero_points: Any = None, *, bits: int = 4,
    block_size: int = 128, gather_axis: int = 0, quantize_axis: int = 1, node: Node,
) -> Any:  # fmt: skip
    """Take rows of a quantised matrix, and return them as floats."""
    up = node.context.to_gpu
    is_packed = not isinstance(data, Narrow)
    values = up(data) if is_packed else up(widened(data))
    zeros = None if zero_points is None else up(widened(zero_points))
    index = up(indices).astype("int64", copy=False)
    at = axis_of(gather_axis, values.ndim)
    along = axis_of(quantize_axis, values.ndim)
    index = bg.where(index < 0, index + values.shape[at], index)

    def taken(x: Any) -> Any:
        return bg.take(x, index, axis=at)

    rows, factors = taken(values), taken(up(scales))
    moved = along + index.ndim - 1 if along > at else along
    if is_packed and bits < 8:
        if moved != rows.ndim - 1:
            raise ValueError(f"quantize_axis must be the last axis, got {quantize_axis}")
        rows = unpacked(rows, bits)
    shape = rows.shape

    def spread(x: Any) -> Any:
        return bg.repeat(x, block_size, axis=moved)[tuple(slice(0, n) for n in shape)]

    wide = rows.astype("float32", copy=False)
    if zeros is not None:
        own = taken(zeros)
        own = unpacked(own, bits)[..., : factors.shape[-1]] if is_packed and bits < 8 else own
        wide = wide - spread(own.astype("float32", copy=False))
    elif is_packed:
        wide = wide - float(1 << (bits - 1))
    return (wide * spread(factors.astype("float32", copy=False))).astype(scales.dtype, copy=False)


def _floats(x: Any, scale: Any, zero: Any) -> Any:
    wide = x.astype("float32", copy=False)
    if zero is not None:
        wide = wide - zero.astype("float32", copy=False).reshape(())
    return wide * scale.reshape(())


def _quantized(x: Any, scale: Any, zero: Any, kind: Any) -> Any:
    return requantized(x, 1 / scale.reshape(()), zero, kind)


@operator("QLinearAdd", domain=DOMAIN)
def qlinear_add(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, c_scale: Any,
    c_zero_point: Any = None,
) -> Any:  # fmt: skip
    """Return the sum of quantised arrays, quantised."""
    total = _floats(a, a_scale, a_zero_point) + _floats(b, b_scale, b_zero_point)
    return _quantized(total, c_scale, c_zero_point, a.dtype)


@operator("QLinearMul", domain=DOMAIN)
def qlinear_mul(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, c_scale: Any,
    c_zero_point: Any = None,
) -> Any:  # fmt: skip
    """Return the product of quantised arrays, quantised."""
    total = _floats(a, a_scale, a_zero_point) * _floats(b, b_scale, b_zero_point)
    return _quantized(total, c_scale, c_zero_point, a.dtype)


@operator("QLinearSigmoid", domain=DOMAIN)
def qlinear_sigmoid(
    x: Any, x_scale: Any, x_zero_point: Any, y_scale: Any, y_zero_point: Any = None
) -> Any:
    """Return the sigmoid of a quantised array, quantised."""
    found = bg.nn.sigmoid(_floats(x, x_scale, x_zero_point))
    return _quantized(found, y_scale, y_zero_point, x.dtype)


@operator("QLinearLeakyRelu", domain=DOMAIN)
def qlinear_leaky_relu(
    x: Any, x_scale: Any, x_zero_point: Any, y_scale: Any, y_zero_point: Any = None, *,
    alpha: float = 0.01,
) -> Any:  # fmt: skip
    """Return the leaky relu of a quantised array, quantised."""
    found = bg.nn.leaky_relu(_floats(x, x_scale, x_zero_point), alpha)
    return _quantized(found, y_scale, y_zero_point, x.dtype)


@operator("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(
    x: Any, x_scale: Any, x_zero_point: Any, y_scale: Any, y_zero_point: Any, *, axis: int = -1,
    opset: int,
) -> Any:  # fmt: skip
    """Return the softmax of a quantised array, quantised."""
    wide = _floats(x, x_scale, x_zero_point)
    if opset < 13:
        at = axis_of(axis, x.ndim)
        flat = wide.reshape((prod(x.shape[:at]), prod(x.shape[at:])))
        found = bg.nn.softmax(flat, 1).reshape(x.shape)
    else:
        found = bg.nn.softmax(wide, axis)
    return _quantized(found, y_scale, y_zero_point, x.dtype)


@operator("QLinearConcat", domain=DOMAIN)
def qlinear_concat(y_scale: Any, y_zero_point: Any, *inputs: Any, axis: int) -> Any:
    """Join quantised arrays of different scales."""
    parts = [_floats(*inputs[at : at + 3]) for at in range(0, len(inputs), 3)]
    return _quantized(bg.concatenate(parts, axis), y_scale, y_zero_point, inputs[0].dtype)


@operator("QLinearAveragePool", domain=DOMAIN)
def qlinear_average_pool(
    x: Any, x_scale: Any, x_zero_point: Any, y_scale: Any, y_zero_point: Any = None, *,
    auto_pad: str = "NOTSET", ceil_mode: int = 0, channels_last: int = 0,
    count_include_pad: int = 0, kernel_shape: list[int], pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of a quantised array, quantised."""
    wide = _floats(x, x_scale, x_zero_point)
    wide = bg.moveaxis(wide, -1, 1) if channels_last else wide
    found = average_pool(
        wide, kernel_shape=kernel_shape, auto_pad=auto_pad, ceil_mode=ceil_mode,
        count_include_pad=count_include_pad, pads=pads, strides=strides,
    )  # fmt: skip
    found = bg.moveaxis(found, 1, -1) if channels_last else found
    return _quantized(found, y_scale, y_zero_point, x.dtype)


@operator("QLinearGlobalAveragePool", domain=DOMAIN)
def qlinear_global_average_pool(
    x: Any, x_scale: Any, x_zero_point: Any, y_scale: Any, y_zero_point: Any, *,
    channels_last: int = 0,
) -> Any:  # fmt: skip
    """Return the mean of each channel of a quantised array, quantised."""
    axes = tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))
    found = bg.mean(_floats(x, x_scale, x_zero_point), axis=axes, keepdims=True)
    return _quantized(found, y_scale, y_zero_point, x.dtype)


@operator("QGemm", domain=DOMAIN)
def qgemm(
    a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any,
    c: Any = None, y_scale: Any = None, y_zero_point: Any = None, *, alpha: float = 1.0,
    transA: int = 0, transB: int = 0,
) -> Any:  # fmt: skip
    """Return the product of quantised matrices and a bias, quantised if there is a scale."""
    left, right = (a.T if transA else a), (b.T if transB else b)
    sums = matmul_integer(left, right, a_zero_point, b_zero_point)
    if c is not None:
        sums = sums + c
    factor = a_scale.reshape(()) * (b_scale if b_scale.size > 1 else b_scale.reshape(()))
    wide = sums.astype("float32", copy=False) * (factor * alpha)
    return wide if y_scale is None else _quantized(wide, y_scale, y_zero_point, a.dtype)


@operator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero_point: Any = None, b_zero_point: Any = None,
    bias: Any = None,
) -> Any:  # fmt: skip
    """Return the product of matrices of 8 bits, as floats."""
    sums = matmul_integer(a, b, a_zero_point, b_zero_point).astype("float32", copy=False)
    found = sums * (a_scale.reshape(()) * (b_scale if b_scale.size > 1 else b_scale.reshape(())))
    return found if bias is None else found + bias


@operator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    a: Any, b: Any, b_scale: Any, b_zero_point: Any = None, bias: Any = None
) -> Any:
    """Quantise an array by its range, and return its product with a quantised matrix."""
    own, scale, zero = dynamic_quantize_linear(a)
    return matmul_integer_to_float(own, b, scale, b_scale, zero, b_zero_point, bias)
