"""Checks of network functions' arguments, and memory for their kernels."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED
from browsergpu.arrays.autograd.families import UNTRACKED
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.node import room as memory_for
from browsergpu.arrays.reduce import kernel_dtype, memory_view, narrowed_to_int32
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType, promoted
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.tensors.view import View
from browsergpu.functions import data_types, elementwise
from browsergpu.functions.operands import array

#: Names of the axes after N and C, by their number.
_LAYOUTS = {1: "L", 2: "H, W", 3: "D, H, W"}


def floats(op: str, name: str, x: Any) -> Array:
    """Return an array of float16 or float32. Raises InvalidType for anything else."""
    if type(x) in UNTRACKED and x.node.kind.kind == "f":
        return x  # type: ignore[no-any-return]
    found = array(op, name, x)
    if found.dtype.kind != "f":
        raise InvalidType(op, name, found, "float32 or float16")
    return found


def whole(op: str, name: str, x: Any) -> Array:
    """Return an array of integers as int32. Raises InvalidType for anything else."""
    found = array(op, name, x)
    if found.dtype.kind not in "iu":
        raise InvalidType(op, name, found, "integers")
    if type(found) in BATCHED:
        if found.dtype.itemsize == 8:
            found = elementwise.clip(found, -(2**31), 2**31 - 1)
        return data_types.astype(found, "int32")
    return narrowed_to_int32(op, found)


def vector(op: str, name: str, x: Any, length: int) -> Array | None:
    """Return a float vector of this length, or None. Raises InvalidArgument for another shape."""
    return None if x is None else shaped(op, name, floats(op, name, x), (length,))


def shaped(op: str, name: str, x: Array, shape: Shape) -> Array:
    """Return the array if it has this shape. Raises InvalidArgument otherwise."""
    # The shapes of tensors take longer.
    if (x.node.shape if type(x) in UNTRACKED else x.shape) != shape:
        raise InvalidArgument(op, name, x, f"have shape {shape}")
    return x


def common(*arrays: Array | None) -> ElementType:
    """Return the promoted type of arrays. None is skipped."""
    found: ElementType | None = None
    for x in arrays:
        if x is not None:
            kind = x.node.kind
            if found is None:
                found = kind
            elif kind is not found:
                found = promoted(found, kind)
    assert found is not None
    return found


def memory(x: Array) -> View:
    """Return an array's memory.

    Keep the array until the kernels that use the memory are recorded. After that, other arrays may
    reuse it.
    """
    node = x.node
    return memory_view(node if node.trace is None else node.in_memory())


def memory_in(x: Array | None, shape: Shape) -> View | None:
    """Return :func:`memory` in another shape, of an array packed from the start of its memory.

    This saves the time of reshaping an array. None stays None.
    """
    if x is None:
        return None
    node = x.node
    if node.trace is not None:
        node.in_memory()
    if node.shape == shape:
        return memory_view(node)
    return View(node.storage.buffer, shape, kernel_dtype(node.kind))


def memory_of(x: Array | None) -> View | None:
    """Return :func:`memory` of an array, or None."""
    return None if x is None else memory(x)


def row_of(node: Node, batch: int) -> int | None:
    """Return the elements between positions of [..., heads, positions, width], or None.

    Each position must hold its heads side by side, and batches must follow each other.
    """
    if node.strides is None:
        return None
    heads, rows, width = node.shape[-3:]
    *outer, head, row, one = node.strides
    is_row = (one == 1 or width == 1) and (head == width or heads == 1) and row >= heads * width
    return row if is_row and (batch == 1 or outer[0] == rows * row) else None


def whole_memory(node: Node) -> View:
    """Return a view of memory from its start to a value's last element."""
    assert node.kind.dtype is not None
    if node.strides is None:
        return View(node.storage.buffer, (node.offset + product(node.shape),), node.kind.dtype)
    reach = sum((n - 1) * step for n, step in zip(node.shape, node.strides, strict=True))
    return View(node.storage.buffer, (node.offset + reach + 1,), node.kind.dtype)


def room(op: str, like: Array, kind: ElementType, shape: Shape) -> Array:
    """Return a new, uninitialized array for a kernel's result."""
    tracer = like.tracer
    node = memory_for(tracer.device, op, kind, shape)
    return type(like)(node, tracer) if type(like) in UNTRACKED else like.like(node)


def in_shape(x: Array, shape: Shape) -> Array:
    """Return the array itself if it has this shape, else a view."""
    found: Array = x if x.node.shape == shape else x.reshape(shape)
    return found


def channels_in(op: str, name: str, x: Array) -> tuple[int, int, int]:
    """Return N, C and the number of other elements of an array [N, C, ...].

    Raises InvalidArgument for fewer than 2 axes.
    """
    if x.ndim < 2:
        raise InvalidArgument(op, name, x, "have shape [N, C, ...]")
    return x.shape[0], x.shape[1], product(x.shape[2:])


def of_channels(x: Array, rank: int) -> Array:
    """Reshape a vector of channels so that it broadcasts to [N, C, ...] with ``rank`` axes."""
    return x.reshape((x.size, *(1,) * (rank - 2)))


def images(op: str, name: str, x: Any, rank: int) -> tuple[Array, bool]:
    """Return floats as [N, C, ...] with ``rank`` more axes, and whether they were a single image.

    Raises InvalidArgument unless the shape is [N, C, ...] or [C, ...].
    """
    found, layout = floats(op, name, x), _LAYOUTS[rank]
    axes = len(found.node.shape) if type(found) in UNTRACKED else found.ndim
    if axes == rank + 2:
        return found, False
    if axes != rank + 1:
        expected = f"have shape [N, C, {layout}] or [C, {layout}]"
        raise InvalidArgument(op, name, found, expected)
    return found.reshape((1, *found.shape)), True
