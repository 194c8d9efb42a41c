"""What the functions of networks check, and how their kernels get arrays."""

from __future__ import annotations

from functools import reduce
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.reduce import memory_view, narrowed_to_int32
from browsergpu.arrays.reduce import room as memory_for
from browsergpu.core import checks
from browsergpu.core.checks import product
from browsergpu.core.element_types import ElementType, promoted
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.shapes import Shape
from browsergpu.functions.operands import array
from browsergpu.tensors.view import View

#: What is behind N and C, by the number of axes.
_LAYOUTS = {1: "L", 2: "H, W", 3: "D, H, W"}


def floats(op: str, name: str, x: Any) -> Array:
    """An array of float16 or float32. Raises InvalidType for anything else."""
    found = array(op, name, x)
    if found.dtype.kind != "f":
        raise InvalidType(op, name, found, "float32 or float16")
    return found


def whole(op: str, name: str, x: Any) -> Array:
    """An array of whole numbers, as int32. Raises InvalidType for anything else."""
    found = array(op, name, x)
    if found.node.kind.kind not in "iu":
        raise InvalidType(op, name, found, "whole numbers")
    return narrowed_to_int32(op, found)


def vector(op: str, name: str, x: Any, length: int) -> Array | None:
    """An array of so many floats, or None. Raises InvalidArgument for another shape."""
    return None if x is None else shaped(op, name, floats(op, name, x), (length,))


def shaped(op: str, name: str, x: Array, shape: Shape) -> Array:
    """The array, of that shape. Raises InvalidArgument for one of another."""
    if x.shape != shape:
        raise InvalidArgument(op, name, x, f"have shape {shape}")
    return x


def common(*arrays: Array | None) -> ElementType:
    """The type that arrays, of which some may be left out, have in common."""
    return reduce(promoted, [x.node.kind for x in arrays if x is not None])


def memory(x: Array) -> View:
    """Where an array is in memory. The array must be held until kernels on that are recorded:
    afterwards the memory may be another's."""
    return memory_view(x.node.in_memory())


def memory_of(x: Array | None) -> View | None:
    """:func:`memory` of an array that may be left out."""
    return None if x is None else memory(x)


def room(op: str, like: Array, kind: ElementType, shape: Shape) -> Array:
    """A new array for a kernel's result, contents undefined."""
    return like.like(memory_for(like.device, op, kind, shape))


def channels_in(op: str, name: str, x: Array) -> tuple[int, int, int]:
    """x, [N, C, ...], as N, C and the elements of all the others. Raises InvalidArgument for fewer
    axes."""
    if x.ndim < 2:
        raise InvalidArgument(op, name, x, "have shape [N, C, ...]")
    return x.shape[0], x.shape[1], product(x.shape[2:])


def of_channels(x: Array, rank: int) -> Array:
    """A vector of a number for each channel, as it is broadcast to [N, C, ...] of ``rank`` axes."""
    return x.reshape((x.size, *(1,) * (rank - 2)))


def each_axis(op: str, name: str, value: Any, rank: int, minimum: int) -> Shape:
    """One whole number for each axis, given as one for all of them or so many."""
    if checks.is_several(value):
        return checks.dimensions(op, name, value, rank, minimum)
    return (checks.integer(op, name, value, minimum),) * rank


def images(op: str, name: str, x: Any, rank: int) -> tuple[Array, bool]:
    """An array of floats as [N, C, ...] of so many axes behind these, and whether it was one image
    of that, [C, ...]. Raises InvalidArgument for other numbers of axes."""
    found, layout = floats(op, name, x), _LAYOUTS[rank]
    if found.ndim not in (rank + 1, rank + 2):
        expected = f"have shape [N, C, {layout}] or [C, {layout}]"
        raise InvalidArgument(op, name, found, expected)
    alone = found.ndim == rank + 1
    return found.reshape((1, *found.shape)) if alone else found, alone
