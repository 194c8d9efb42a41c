"""Reductions of arrays along axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.apply import binary, cast_to, full_node, resolve
from browsergpu.arrays.lazy.node import Node, room, stored
from browsergpu.arrays.lazy.partial_reduction import folded
from browsergpu.arrays.lazy.values import Values, of_node
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.value import Value
from browsergpu.arrays.views import strided
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.element_types import FLOAT32, INT32, ElementType, wide_sum_of
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.fused.reduction import WIDE
from browsergpu.engine.kernels.fused.reduction_plan import Reducer
from browsergpu.engine.tensors import reductions
from browsergpu.engine.tensors.view import View

V = TypeVar("V", bound=Value)

#: Identity elements of the operations that have one.
_OF_NOTHING: dict[str, Any] = {"multiply": 1, "add": 0, "logical_and": True, "logical_or": False}


def memory_view(node: Node) -> View:
    """Return a View of a computed value.

    Raises InvalidType for a type that the functions of Views do not support.
    """
    found: View | None = node.view
    if found is None:
        dtype = node.kind.dtype
        if dtype is None:
            dtype = kernel_dtype(node.kind)
        found = View(node.storage.buffer, node.shape, dtype, node.strides, node.offset)
        node.view = found
    return found


def kernel_dtype(kind: ElementType) -> DType:
    """Return a type as one of a View. Raises InvalidType if there is none."""
    if kind.dtype is None:
        expected = "a dtype that the kernel supports"
        advice = "Cast it with .astype('int32') or another 32-bit dtype."
        raise InvalidType("kernel", "dtype", kind.numpy, expected, advice)
    return kind.dtype


def pairs_view(node: Node) -> View:
    """Return a View of packed 64-bit numbers as pairs.

    Complex numbers become pairs of float32, and integers pairs of words, low word first.
    """
    assert node.strides is None
    assert node.offset == 0
    dtype = DType.F32 if node.kind.kind == "c" else DType.U32
    return View(node.storage.buffer, (*node.shape, 2), dtype)


def reduced(
    op: str,
    function: str,
    x: V,
    axes: tuple[int, ...],
    *,
    keepdims: bool,
    scale: float | None = None,
) -> V:
    """Reduce an array along axes by an elementwise operation.

    An uncomputed array is computed by the kernel that reduces it.

    Parameters
    ----------
    op
        The name of the function, for error messages.
    function
        add, multiply, maximum, minimum, logical_and or logical_or.
    x
        The array.
    axes
        The axes, which are not negative.
    keepdims
        Keep the axes with length 1.
    scale
        A factor for sums of floats.

    Raises
    ------
    InvalidArgument
        For the maximum or minimum of no elements.
    """
    node = x.node
    shape = shapes.without(node.shape, axes, keepdims=keepdims)
    if 0 in node.shape and 0 in [node.shape[n] for n in axes]:
        if function not in _OF_NOTHING:
            raise InvalidArgument(op, "x", node.shape, "have elements to reduce")
        return x.like(full_node(x.tracer, shape, node.kind, _OF_NOTHING[function]))
    found = reduced_by(x, _reducer(op, function, node.kind, scale), axes, shape)
    return cast_to(op, found, node.kind, copy=False)


@lru_cache(maxsize=1024)
def _reducer(op: str, function: str, kind: ElementType, scale: float | None) -> Reducer:
    wide = WIDE[kind.computed]
    made = resolve(function, (wide, wide))
    nothing = words_of(_nothing(function, made.result), made.result)
    return Reducer(op, made, nothing, () if scale is None else words_of(scale, FLOAT32))


def reduced_by(x: V, how: Reducer, axes: tuple[int, ...], shape: Shape) -> V:
    """Reduce an array along nonempty axes, and return the result in ``shape``.

    The result has the type of the reducer's operation.
    """
    if product(shape) == 0 or product([x.node.shape[axis] for axis in axes]) == 1:
        return cast_to(how.op, strided.reshaped(how.op, x, shape), how.overload.result, copy=False)
    x.tracer.device.throttle(how.op)
    storage = folded(x.tracer.kernels, how, _values(x.tracer.device, x.node), axes)
    return x.like(stored(how.overload.result, shape, storage))


def _nothing(function: str, kind: ElementType) -> Any:
    """Return the identity element of an operation."""
    if function in _OF_NOTHING:
        return _OF_NOTHING[function]
    sign = -1 if function == "maximum" else 1
    if kind.computed == "f":
        return sign * inf
    if kind.computed == "b":
        return sign > 0
    bounds = np.iinfo(kind.numpy)
    return int(bounds.min if sign < 0 else bounds.max)


def _values(device: Device, node: Node) -> Values:
    """Return the values to reduce.

    A value that was already reduced once is computed first, if a buffer can hold it.
    """
    trace = node.trace
    if trace is not None and not trace.reduces(node.place) and fits(device, node):
        node.in_memory()
    return of_node(node)


def fits(device: Device, node: Node) -> bool:
    """Return whether a buffer of the device can hold all elements of a value."""
    return node.kind.device_bytes(product(node.shape)) <= device.largest_buffer


def variance(op: str, x: V, axes: tuple[int, ...], correction: float, *, keepdims: bool) -> V:
    """Compute the variance of floats along axes."""
    if 4 * product(x.node.shape) > x.tracer.device.largest_buffer:
        return _variance_by_sums(op, x, axes, correction, keepdims=keepdims)
    node = x.node.in_memory()
    shape = shapes.without(node.shape, axes, keepdims=keepdims)
    result = room(x.tracer.device, op, node.kind, shape)
    steps = tuple(shapes.reduction_steps(node.shape, axes)) or ((product(shape), 1, 1),)
    if product(shape):
        reductions.variance(
            x.tracer.device, op, memory_view(node), memory_view(result), steps, correction
        )
    return x.like(result)


def _variance_by_sums(
    op: str, x: V, axes: tuple[int, ...], correction: float, *, keepdims: bool
) -> V:
    """Compute the variance of more elements than a buffer holds, without storing them."""
    count = product([x.node.shape[n] for n in axes])
    own = cast_to(op, x, FLOAT32, copy=False)
    mean = reduced(op, "add", own, axes, keepdims=True, scale=1.0 / count)
    deviation = binary("subtract", own, mean)
    left = count - correction
    scale = 1.0 / left if left > 0 else inf
    squares = binary("multiply", deviation, deviation)
    found: V = reduced(op, "add", squares, axes, keepdims=keepdims, scale=scale)
    return cast_to(op, found, x.node.kind, copy=False)


def by_halves(combine: Callable[[V, V], V], x: V, axes: tuple[int, ...], shape: Shape) -> V:
    """Reduce nonempty axes by combining their halves, until one index remains.

    No identity element is needed.
    """
    for axis in axes:
        extent = x.node.shape[axis]
        left = None
        while extent > 1:
            if extent % 2:
                last = _part(x, axis, extent - 1, extent)
                left = last if left is None else combine(left, last)
            half = extent // 2
            x = combine(_part(x, axis, 0, half), _part(x, axis, half, 2 * half))
            extent = half
        x = x if left is None else combine(x, left)
    return strided.reshaped("reduce", x, shape)


def _part(x: V, axis: int, begin: int, end: int) -> V:
    x.node.in_memory()
    strides = strided.strides_of(x)
    shape = list(x.node.shape)
    shape[axis] = end - begin
    return strided.view(x, tuple(shape), strides, begin * strides[axis])


def narrowed_to_int32(op: str, x: V) -> V:
    """Convert integers to int32, and clamp 64-bit integers to its range.

    This serves indices and classes, which are out of bounds either way.
    """
    if x.node.kind.computed in "IU":
        if x.node.kind.computed == "I":
            x = binary("maximum", x, -(2**31))
        x = binary("minimum", x, 2**31 - 1)
    return cast_to(op, x, INT32, copy=False)


def widened(x: V) -> V:
    """Convert integers and bools to the type of their sum. Other types stay."""
    return cast_to("sum", x, wide_sum_of(x.node.kind), copy=False)
