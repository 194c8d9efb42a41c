"""Original buffers: the memory of arrays that a captured block changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from browsergpu.arrays.apply import copied
from browsergpu.arrays.lazy import fusion, region_write
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.trace import Trace, Tracer
from browsergpu.arrays.lazy.values import of_node
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import fills_memory, take_node
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import contiguous_strides
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.gpu import platform
from browsergpu.engine.kernels.fused.source import is_loaded, needed
from browsergpu.engine.tensors.device_array import Storage

#: The requirement on changed arrays, for error messages.
_APART = "have memory of their own"


class Original(Shown):
    """An array, and its value from before the block."""

    __slots__ = ("array", "node")

    def __init__(self, array: Value) -> None:
        self.array = array
        self.node: Node = NODE.__get__(array)

    @property
    def current(self) -> Node:
        """The current value of the array."""
        found: Node = NODE.__get__(self.array)
        return found

    def take(self, value: Node) -> None:
        """Set the array to a value in its original buffer."""
        take_node(self.array, value)


def others(storage: Storage, own: Iterable[Node]) -> list[Node]:
    """Return the held values in ``storage`` except ``own``."""
    known = {id(node) for node in own}
    return [user for user in storage.users if user.is_held and id(user) not in known]


def copy_of(tracer: Tracer, node: Node) -> Node:
    """Copy a value to unshared memory."""
    return copied(Value(node, tracer)).node


def same_place(node: Node) -> Node:
    """Return a new node for the same memory."""
    return stored(node.kind, node.shape, node.storage, node.strides, node.offset)


def write(tracer: Tracer, value: Node, target: Node) -> None:
    """Record a copy of a value to the memory of ``target``, which has its shape and type."""
    value.in_memory()
    if product(value.shape):
        command: tuple[Any, ...] = region_write.command(tracer.kernels, of_node(value), target)
        tracer.device.recorder.dispatch(*command)


def original_of(known: Mapping[int, Original], node: Node) -> Original | None:
    """Return the first original whose array holds a value. ``known`` has them by their arrays."""
    for one in node.refs:
        x = one()
        original = known.get(id(x))
        if original is not None and original.array is x:
            return original
    return None


def overwritten(
    known: Mapping[int, Original], trace: Trace, wanted: Sequence[Node]
) -> dict[Node, Storage]:
    """Return the original buffers that values of a trace can be written to, by the values.

    No array, and no kernel after the one that writes a value, may need the elements that the value
    replaces.

    Parameters
    ----------
    known : mapping
        The originals, by the ids of their arrays.
    trace : Trace
        The trace, which is about to compute the wanted values.
    wanted : sequence of Node
        The values.
    """
    found: dict[Node, Storage] = {}
    for node in wanted:
        original = original_of(known, node)
        if original is not None and _is_free(original, node, trace):
            found[node] = original.node.storage
    if not found or platform.are_waiting():  # an operation that knows a buffer may be waiting
        return {}
    places = sorted(node.place for node in wanted)
    groups = fusion.shares(trace.tracer.kernels, trace.code, len(trace.leaves), places)
    last: dict[Storage, int] = {}  # the last kernel that reads a memory
    kernel_of = {}
    for number, group in enumerate(groups):
        kernel_of.update(dict.fromkeys(group, number))
        for at in needed(trace.code, group):
            if at in trace.leaves:
                last[trace.leaves[at].storage] = number
    return {
        node: storage
        for node, storage in found.items()
        if last.get(storage, -1) <= kernel_of[node.place]
    }


def _is_free(original: Original, node: Node, trace: Trace) -> bool:
    """Return whether a value fits its original buffer, and only its own trace needs the
    elements.
    """
    before = original.node
    if before.trace is not None or before.strides is not None or before.offset:
        return False
    if node.kind is not before.kind or node.shape != before.shape:
        return False
    if product(node.shape) % 4 and not fills_memory(before):  # kernels write four elements at once
        return False
    storage = before.storage
    if any(user.is_held for user in storage.users):
        return False
    if any(other is not trace and other.reads(storage) for other in trace.tracer.all_traces()):
        return False
    # Each thread must read the elements that it writes.
    return all(
        one.kind is node.kind
        and (one.shape, one.strides, one.offset) == (node.shape, None, 0)
        and not is_loaded(trace.code[at])
        for at, one in trace.leaves.items()
        if one.storage is storage
    )


def check(original: Original) -> None:
    """Raise InvalidArgument if an array's dtype or shape has changed in the block."""
    current, node = original.current, original.node
    if current.kind is not node.kind or current.shape != node.shape:
        told = f"an array that has become {current.kind.name} of shape {current.shape}"
        expected = f"{node.kind.name} of shape {node.shape}, as before the block"
        raise InvalidArgument("capture", "array", Description(told), expected)


def span(node: Node) -> tuple[int, int]:
    """Return the range of bits in memory that a value's elements span."""
    shape = node.shape
    steps = contiguous_strides(shape) if node.strides is None else node.strides
    reach = [(extent - 1) * step for extent, step in zip(shape, steps, strict=True)]
    first = node.offset + sum(min(far, 0) for far in reach)
    last = node.offset + sum(max(far, 0) for far in reach)
    return first * node.kind.bits, (last + 1) * node.kind.bits


def overlap(a: Node, b: Node) -> bool:
    """Return whether the memory ranges of two values overlap."""
    if a.storage is not b.storage or 0 in a.shape or 0 in b.shape:
        return False
    (first, end), (other, behind) = span(a), span(b)
    return first < behind and other < end


def check_apart(originals: Sequence[Original]) -> None:
    """Raise InvalidArgument if two changed arrays share memory.

    Each has its own value at the end of the block, and a replay could only keep one of them.
    """
    for number, original in enumerate(originals):
        for other in originals[:number]:
            if overlap(original.node, other.node):
                shapes = f"{other.node.shape} and {original.node.shape}"
                told = Description(f"arrays of shapes {shapes} that share memory")
                advice = "Call copy() on one of them before the block."
                raise InvalidArgument("capture", "changed arrays", told, _APART, advice)


def check_unread(nodes: Iterable[Node]) -> None:
    """Raise InvalidArgument if the block has read values that share memory with a changed array.

    A replay would read the changed values.
    """
    for node in nodes:
        told = f"an array of shape {node.shape} that shares memory with an array the block changes"
        advice = "Call copy() on it before the block."
        raise InvalidArgument("capture", "changed arrays", Description(told), _APART, advice)
