"""Arrays that a graph changes: each has one memory that its values are brought to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from browsergpu.arrays.apply import copied
from browsergpu.arrays.lazy import region_write
from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.lazy.values import of_node
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import take_node
from browsergpu.core.checks import product
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.shapes import contiguous_strides
from browsergpu.core.showing import Description, Shown
from browsergpu.tensors.device_array import Storage

#: What changed arrays must have, for a replay to leave each its value.
_APART = "have memory of their own"


class Home(Shown):
    """An array, and where it was before it was changed."""

    __slots__ = ("array", "node")

    def __init__(self, array: Value) -> None:
        self.array = array
        self.node: Node = NODE.__get__(array)

    @property
    def now(self) -> Node:
        """The value that the array has by now."""
        found: Node = NODE.__get__(self.array)
        return found

    def settle(self, value: Node) -> None:
        """The array takes a value that is in its home."""
        take_node(self.array, value)


def others(storage: Storage, own: Iterable[Node]) -> list[Node]:
    """The values in some memory that arrays have, without some."""
    known = {id(node) for node in own}
    return [user for user in storage.users if user.is_held and id(user) not in known]


def copy_of(tracer: Tracer, node: Node) -> Node:
    """A value in memory that nothing else has."""
    return copied(Value(node, tracer)).node


def again(node: Node) -> Node:
    """Another value in the same place, which nobody has yet."""
    return stored(node.kind, node.shape, node.storage, node.strides, node.offset)


def write(tracer: Tracer, value: Node, target: Node) -> None:
    """Records that a value is copied to where another one is, of its shape and type."""
    value.in_memory()
    if product(value.shape):
        command: tuple[Any, ...] = region_write.command(tracer.kernels, of_node(value), target)
        tracer.device.recorder.dispatch(*command)


def check(home: Home) -> None:
    """Raises InvalidArgument where an array has become another one than it can be at home."""
    now, node = home.now, home.node
    if now.kind is not node.kind or now.shape != node.shape:
        told = f"an array that has become {now.kind.name} of shape {now.shape}"
        expected = f"{node.kind.name} of shape {node.shape}, as before the block"
        raise InvalidArgument("capture", "array", Description(told), expected)


def _span(node: Node) -> tuple[int, int]:
    """The bits of its memory from a value's first element to behind its last one."""
    shape = node.shape
    steps = contiguous_strides(shape) if node.strides is None else node.strides
    reach = [(extent - 1) * step for extent, step in zip(shape, steps, strict=True)]
    first = node.offset + sum(min(far, 0) for far in reach)
    last = node.offset + sum(max(far, 0) for far in reach)
    return first * node.kind.bits, (last + 1) * node.kind.bits


def overlap(a: Node, b: Node) -> bool:
    """Whether two values may have elements in the same place."""
    if a.storage is not b.storage or 0 in a.shape or 0 in b.shape:
        return False
    (first, end), (other, behind) = _span(a), _span(b)
    return first < behind and other < end


def check_apart(homes: Sequence[Home]) -> None:
    """Raises InvalidArgument where two of the arrays lie in the same memory: each would have its
    own value, and a replay can leave one there."""
    for number, home in enumerate(homes):
        for other in homes[:number]:
            if overlap(home.node, other.node):
                shapes = f"{other.node.shape} and {home.node.shape}"
                told = Description(f"arrays of shapes {shapes} that share it")
                advice = "copy() one before the block."
                raise InvalidArgument("capture", "changed arrays", told, _APART, advice)


def check_unread(nodes: Iterable[Node]) -> None:
    """Raises InvalidArgument where values were read in a block that lie where another array was
    changed: a replay would read what that has become."""
    for node in nodes:
        told = f"an array of shape {node.shape} that shares it with an array that the block changes"
        advice = "copy() it before the block."
        raise InvalidArgument("capture", "changed arrays", Description(told), _APART, advice)
