"""Views: arrays that share memory, so that a write through one is seen through all.

A view and the array that it is of have nodes of one :class:`ViewGroup`. Nodes of other cells, or of
none, may lie in the same memory, too (a value that a backward pass has saved, for example): they
keep their value, and get memory of their own before a write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import ref

from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.value import NODE, Value
from browsergpu.core.shapes import Shape, contiguous_strides
from browsergpu.core.showing import Shown

V = TypeVar("V", bound=Value)


class ViewGroup(Shown):
    """The identity of the memory that an array shares with its views.

    Its members are the arrays whose gradients follow writes through the others: all but those of
    ``detach()``. ``history`` is where the gradients of the memory go: a Base before the first write
    that was noted, then a Source (``gradients/through_views.py``).
    """

    __slots__ = ("_members", "_most", "history")

    def __init__(self) -> None:
        self._members: dict[int, ref[Value]] = {}
        self._most = 16  # then, and whenever they are twice as many, the gone are forgotten
        self.history: Any = None

    def add(self, x: Value) -> None:
        """Makes an array a member."""
        if len(self._members) >= self._most:
            self._members = {id(x): ref(x) for x in self.live()}
            self._most = max(16, 2 * len(self._members))
        self._members[id(x)] = ref(x)
        NODE.__get__(x).follows = True

    def live(self) -> list[Value]:
        """The members that are still there."""
        return [x for one in self._members.values() if (x := one()) is not None]


#: The shape of an array, the elements from one index of it to the next, and its first one, all
#: counted in its memory.
MemoryPlace = tuple[Shape, Shape, int]


@dataclass(frozen=True, slots=True)
class Base:
    """An array that requires a gradient, of which views were made: its place, and its source."""

    place: MemoryPlace
    source: Any


def place_of(x: Value) -> MemoryPlace:
    """Where an array lies in its memory."""
    node: Node = NODE.__get__(x)
    steps = contiguous_strides(node.shape) if node.strides is None else node.strides
    return node.shape, steps, node.offset


def alias(x: Value, found: V, *, follows: bool = True, read_only: bool = False) -> V:
    """``found``, an array that was just made of ``x``, as a view of it where it lies in the same
    memory; else it stays a copy. ``follows``: its gradients follow writes through x.
    ``read_only``: nothing can be assigned to it."""
    node: Node = NODE.__get__(x)
    own: Node = NODE.__get__(found)
    if own is node and node.trace is not None and x.tracer.device.has_values:
        node.in_memory()
    if found is x or node.trace is not None or own.trace is not None:
        return found
    if own.storage is not node.storage:
        return found
    graphs = x.tracer.device.graphs
    if graphs is not None and graphs.open is not None:
        graphs.open.copy_back(x, found)
        node, own = NODE.__get__(x), NODE.__get__(found)
    if own is node:
        own = node.twin()
        take_node(found, own)
    if node.view_group is None:
        if node.holders > 1:  # others have the value, and keep it
            node = node.twin()
            take_node(x, node)
        node.view_group = ViewGroup()
        node.view_group.add(x)
    own.view_group = node.view_group
    own.is_read_only = read_only or bool(node.is_read_only)
    if follows and node.follows:
        node.view_group.add(found)
    if graphs is not None and node in graphs.known:
        graphs.known.add(own)
    return found


def take_node(x: Value, node: Node) -> None:
    """Gives an array another node."""
    before: Node = NODE.__get__(x)
    node.hold(x)
    NODE.__set__(x, node)
    if before is not node:
        before.drop(x)


def siblings(node: Node) -> list[Node]:
    """The nodes of the other arrays that share a node's memory as views."""
    if node.view_group is None or node.trace is not None:
        return []
    return [
        user
        for user in node.storage.users
        if user is not node and user.view_group is node.view_group and user.is_held
    ]


def values_apart(node: Node) -> list[Node]:
    """The nodes that lie in a node's memory without being views of it, held by arrays or not."""
    return [
        user
        for user in node.storage.users
        if user is not node and (node.view_group is None or user.view_group is not node.view_group)
    ]


def at_place_of(node: Node, own: Node, target: Node) -> Node:
    """What lies in ``node`` at the place that ``own`` has there, in ``target``; both of these are
    packed and of one shape."""
    offset = target.offset + own.offset - node.offset
    return stored(own.kind, own.shape, target.storage, own.strides, offset)
