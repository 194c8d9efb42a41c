"""Reductions of more elements than one kernel counts, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from browsergpu.arrays.lazy import reduction, region_write
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import Node, Pin, stored
from browsergpu.arrays.lazy.values import Values
from browsergpu.engine.core import grids
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.grids import blocks
from browsergpu.engine.core.shapes import Shape, contiguous_strides, without
from browsergpu.engine.kernels.fused.reduction_plan import Reducer
from browsergpu.engine.kernels.fused.source import is_loaded, knows_place, leaf, needed, operation
from browsergpu.engine.tensors.device_array import Storage

Axes = tuple[int, ...]

#: Holds the parts of arrays.
_PARTS = Pin()


def folded(kernels: Kernels, how: Reducer, values: Values, axes: Axes) -> Storage:
    """Reduce values along ``axes``, and return the memory of the result.

    Raises
    ------
    OutOfMemory
        If there is no memory for the result.
    Unsupported
        For more elements than a kernel counts if these depend on their own index.
    """
    if product(values.shape) <= grids.MOST_ELEMENTS:
        return reduction.folded(kernels, how, values, axes)
    _check(how.op, values)
    with _held(values) as own:
        return _by_parts(kernels, how, own, axes)


def _check(op: str, values: Values) -> None:
    if any(knows_place(values.code[at]) for at in needed(values.code, (values.place,))):
        raise Unsupported(
            op,
            f"values that depend on their index must be at most {grids.MOST_ELEMENTS}, "
            f"got {product(values.shape)}. Work in smaller pieces.",
        )


@contextmanager
def _held(values: Values) -> Iterator[Values]:
    """Keep the values as they are until all parts are recorded.

    Between two parts the GPU may have to catch up, and another task may write to the arrays.
    """
    leaves = {at: node.twin() for at, node in values.leaves.items()}
    pin = Pin()
    for node in leaves.values():
        node.hold(pin)
    try:
        yield Values(values.shape, tuple(values.code), leaves, dict(values.words), values.place)
    finally:
        for node in leaves.values():
            node.drop(pin)


def _by_parts(kernels: Kernels, how: Reducer, values: Values, axes: Axes) -> Storage:
    shape = values.shape
    if product(shape) <= grids.MOST_ELEMENTS:
        kernels.device.throttle(how.op)
        return reduction.folded(kernels, how, values, axes)
    axis = next(n for n, extent in enumerate(shape) if extent > 1)
    parts = (_part(values, axis, *ends) for ends in _cut(shape, axis))
    if axis in axes:
        outputs = product(without(shape, axes, keepdims=False))
        total = _by_parts(kernels, how, next(parts), axes)
        for part in parts:
            _add(kernels, how, total, _by_parts(kernels, how, part, axes), outputs)
        return total
    return _joined(kernels, how, shape, axes, parts)


def _cut(shape: Shape, axis: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of equal parts along an axis.

    Each part has one index or at most as many elements as a kernel counts. Earlier axes have one
    index each.
    """
    extent, most = shape[axis], max(1, grids.MOST_ELEMENTS // product(shape[axis + 1 :]))
    each = blocks(extent, blocks(extent, most))
    each = min(blocks(each, 4) * 4, most)  # a thread reads four elements together
    for begin in range(0, extent, each):
        yield begin, min(begin + each, extent)


def _joined(
    kernels: Kernels, how: Reducer, shape: Shape, axes: Axes, parts: Iterator[Values]
) -> Storage:
    """Concatenate the results of the parts in new memory."""
    device, kind = kernels.device, how.overload.result
    outputs = product(without(shape, axes, keepdims=False))
    whole = Storage(device, device.memory.get_buffer(how.op, kind.device_bytes(outputs)))
    begin = 0
    for part in parts:
        found = _by_parts(kernels, how, part, axes)
        nbytes = kind.device_bytes(product(without(part.shape, axes, keepdims=False)))
        device.recorder.copy(found.buffer.id, 0, whole.buffer.id, begin, nbytes)
        begin += nbytes
    return whole


def _add(kernels: Kernels, how: Reducer, total: Storage, found: Storage, n: int) -> None:
    """Combine ``n`` values of two parts in the memory of the first."""
    kind = how.overload.result
    target, other = (stored(kind, (n,), storage) for storage in (total, found))
    code = leaf(kind), leaf(kind), operation(how.overload.number, 0, 1)
    values = Values((n,), code, {0: target, 1: other}, {}, 2)
    kernels.device.recorder.dispatch(*region_write.command(kernels, values, target))


def _part(values: Values, axis: int, begin: int, end: int) -> Values:
    """Slice the values along an axis."""
    shape = (*values.shape[:axis], end - begin, *values.shape[axis + 1 :])
    behind = len(shape) - axis
    leaves = {
        # Loaded arrays are read by index, so they stay whole.
        at: node if is_loaded(values.code[at]) else _part_of(node, behind, begin, end)
        for at, node in values.leaves.items()
    }
    return Values(shape, values.code, leaves, values.words, values.place)


def _part_of(node: Node, behind: int, begin: int, end: int) -> Node:
    """Slice an array along the axis that is ``behind`` axes before its end.

    An array that broadcasts along this axis stays as it is.
    """
    axis = len(node.shape) - behind
    if axis < 0 or node.shape[axis] == 1:
        return node
    steps = contiguous_strides(node.shape) if node.strides is None else node.strides
    shape = (*node.shape[:axis], end - begin, *node.shape[axis + 1 :])
    part = stored(node.kind, shape, node.storage, steps, node.offset + begin * steps[axis])
    part.hold(_PARTS)
    return part
