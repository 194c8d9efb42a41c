"""Reductions of arrays over some of their axes."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.array import reductions, views
from browsergpu.array.apply import binary, cast_to, full_node
from browsergpu.array.device_array import Storage
from browsergpu.array.lazy.node import Node, stored
from browsergpu.array.value import Value
from browsergpu.array.view import View
from browsergpu.core import shapes
from browsergpu.core.checks import product
from browsergpu.core.dtypes import DType
from browsergpu.core.element_types import FLOAT16, FLOAT32, INT32, UINT32, ElementType
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.shapes import Shape
from browsergpu.device.device import Device

V = TypeVar("V", bound=Value)

#: Of each elementwise operation that reduces: what there is of nothing.
_OF_NOTHING: dict[str, Any] = {"multiply": 1, "add": 0, "logical_and": True, "logical_or": False}
_KERNELS = {"add": "sum", "maximum": "max", "minimum": "min"}


def memory_view(node: Node) -> View:
    """A value in memory, of a type that the functions of Views know."""
    assert node.kind.dtype is not None
    return View(node.storage.buffer, node.shape, node.kind.dtype, node.strides, node.offset)


def pairs_view(node: Node) -> View:
    """Complex numbers, packed in memory, as pairs of float32."""
    assert node.strides is None
    assert node.offset == 0
    return View(node.storage.buffer, (*node.shape, 2), DType.F32)


def room(device: Device, op: str, kind: ElementType, shape: Shape) -> Node:
    """Memory for a result, contents undefined."""
    buffer = device.memory.get_buffer(op, kind.device_bytes(product(shape)))
    return stored(kind, shape, Storage(device, buffer))


def reduced(op: str, function: str, x: V, axes: tuple[int, ...], *, keepdims: bool) -> V:
    """The elements along some axes brought together by an elementwise operation: add, multiply,
    maximum, minimum, logical_and or logical_or. Raises InvalidArgument, a ValueError, where there
    is nothing to take the extreme of."""
    node = x.node
    kind = node.kind
    shape = shapes.without(node.shape, axes, keepdims=keepdims)
    if 0 in (node.shape[n] for n in axes):
        if function not in _OF_NOTHING:
            raise InvalidArgument(op, "x", node.shape, "elements to reduce")
        return x.like(full_node(x.tape, shape, kind, _OF_NOTHING[function]))
    is_float = kind in (FLOAT16, FLOAT32)
    if function in _KERNELS and (is_float or (function == "add" and kind in (INT32, UINT32))):
        return by_kernel(op, _KERNELS[function], x, axes, keepdims=keepdims)
    return _folded(function, x, axes, shape)


def by_kernel(op: str, function: str, x: V, axes: tuple[int, ...], *, keepdims: bool) -> V:
    """The sum, mean, max or min of floats, or the sum of int32 or uint32; of elements."""
    node = x.node.in_memory()
    shape = shapes.without(node.shape, axes, keepdims=keepdims)
    steps = tuple(shapes.reduction_steps(node.shape, axes))
    if not steps or product(shape) == 0:
        return views.reshaped(op, x, shape)
    result = room(x.tape.device, op, node.kind, shape)
    reductions.reduce(x.tape.device, op, function, memory_view(node), memory_view(result), steps)
    return x.like(result)


def variance(op: str, x: V, axes: tuple[int, ...], correction: float, *, keepdims: bool) -> V:
    """The variance of floats along some axes."""
    node = x.node.in_memory()
    shape = shapes.without(node.shape, axes, keepdims=keepdims)
    result = room(x.tape.device, op, node.kind, shape)
    steps = tuple(shapes.reduction_steps(node.shape, axes)) or ((product(shape), 1, 1),)
    if product(shape):
        reductions.variance(
            x.tape.device, op, memory_view(node), memory_view(result), steps, correction
        )
    return x.like(result)


def _folded(function: str, x: V, axes: tuple[int, ...], shape: Shape) -> V:
    """By halves, which are brought together until one index is left."""
    for axis in axes:
        extent = x.node.shape[axis]
        left = None
        while extent > 1:
            if extent % 2:
                last = _part(x, axis, extent - 1, extent)
                left = last if left is None else binary(function, left, last)
            half = extent // 2
            x = binary(function, _part(x, axis, 0, half), _part(x, axis, half, 2 * half))
            extent = half
        x = x if left is None else binary(function, x, left)
    return views.reshaped("reduce", x, shape)


def _part(x: V, axis: int, begin: int, end: int) -> V:
    x.node.in_memory()
    strides = views.strides_of(x)
    shape = list(x.node.shape)
    shape[axis] = end - begin
    return views.view(x, tuple(shape), strides, begin * strides[axis])


def widened(x: V) -> V:
    """Whole numbers and bools as int32 or uint32, in which they are added; others as they are."""
    kind = x.node.kind
    if kind.kind in "bi":
        return cast_to("sum", x, INT32, copy=False)
    return cast_to("sum", x, UINT32, copy=False) if kind.kind == "u" else x
