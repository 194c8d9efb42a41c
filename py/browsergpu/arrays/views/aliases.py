"""Memory that an array shares with its views.

An array and its views have different nodes with the same ViewGroup. A write through one is visible
in all. Nodes in other groups, or in none, may share the memory too, such as values saved for a
backward pass. These keep their elements, and move before a write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import ref

from browsergpu.arrays.lazy.node import Node, stored
from browsergpu.arrays.value import NODE, Value
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.shapes import Shape, contiguous_strides
from browsergpu.engine.core.showing import Shown

V = TypeVar("V", bound=Value)


class ViewGroup(Shown):
    """An array and its views, which share memory.

    The members are the arrays whose gradients follow writes through the others, so results of
    ``detach()`` are not members. ``history`` is the source of the memory's gradients: a Base before
    the first recorded write, then a Source (``autograd/views.py``).
    """

    __slots__ = ("_members", "_most", "history")

    def __init__(self) -> None:
        self._members: dict[int, ref[Value]] = {}
        # Garbage-collected members are dropped at this size, then at twice the live size.
        self._most = 16
        self.history: Any = None

    def add(self, x: Value) -> None:
        """Add an array."""
        members = self._members
        if len(members) >= self._most:
            members = self._members = {id(x): ref(x) for x in self.live()}
            self._most = max(16, 2 * len(members))
        members[id(x)] = ref(x)
        NODE.__get__(x).follows = True

    def live(self) -> list[Value]:
        """Return the members that still exist."""
        return [x for one in self._members.values() if (x := one()) is not None]


#: The shape, strides and offset of an array, in elements of its memory.
MemoryPlace = tuple[Shape, Shape, int]


@dataclass(frozen=True, slots=True)
class Base:
    """A base array of views that requires a gradient: its memory place and its source."""

    place: MemoryPlace
    source: Any


def place_of(x: Value) -> MemoryPlace:
    """Return the place of an array in its memory."""
    node: Node = NODE.__get__(x)
    steps = contiguous_strides(node.shape) if node.strides is None else node.strides
    return node.shape, steps, node.offset


def alias(x: Value, found: V, *, follows: bool = True, read_only: bool = False) -> V:
    """Make ``found`` a view of ``x`` if they share memory, else leave it a copy.

    Parameters
    ----------
    x
        The array.
    found
        An array that was just made from ``x``.
    follows
        Whether gradients of ``found`` follow writes through ``x``.
    read_only
        Whether assignment to ``found`` is refused.
    """
    node: Node = NODE.__get__(x)
    own: Node = NODE.__get__(found)
    if node.trace is not None and own is node and x.tracer.device.has_values:
        node.in_memory()
    if (
        found is x
        or node.trace is not None
        or own.trace is not None
        or own.storage is not node.storage
    ):
        return found
    graphs = x.tracer.device.graphs
    if graphs is not None and graphs.open is not None:
        graphs.open.copy_back(x, found)
        node, own = NODE.__get__(x), NODE.__get__(found)
    if own is node:
        own = node.twin()
        take_node(found, own)
    group = node.view_group
    if group is None:
        if node.holders > 1:  # others hold the value, and keep it
            node = node.twin()
            take_node(x, node)
        group = node.view_group = ViewGroup()
        group.add(x)
    own.view_group = group
    if read_only or node.is_read_only:
        own.is_read_only = True
    if follows and node.follows:
        group.add(found)
    if graphs is not None and node in graphs.known:
        graphs.known.add(own)
    return found


def fills_memory(node: Node) -> bool:
    """Return whether a packed value is all of its memory."""
    return node.storage.buffer.nbytes == node.kind.device_bytes(product(node.shape))


def take_node(x: Value, node: Node) -> None:
    """Replace the node of an array."""
    before: Node = NODE.__get__(x)
    if before is node:  # held twice, it would look shared
        return
    node.hold(x)
    NODE.__set__(x, node)
    before.drop(x)


def siblings(node: Node) -> list[Node]:
    """Return the nodes of other arrays in the same view group and memory."""
    if node.view_group is None or node.trace is not None:
        return []
    return [
        user
        for user in node.storage.users
        if user is not node and user.view_group is node.view_group and user.is_held
    ]


def other_values(node: Node) -> list[Node]:
    """Return the nodes in the same memory that are not in the node's view group.

    Arrays may hold them or not.
    """
    return [
        user
        for user in node.storage.users
        if user is not node and (node.view_group is None or user.view_group is not node.view_group)
    ]


def at_place_of(node: Node, own: Node, target: Node) -> Node:
    """Return a node in ``target`` at the place that ``own`` has in ``node``.

    ``node`` and ``target`` are packed and have one shape.
    """
    offset = target.offset + own.offset - node.offset
    return stored(own.kind, own.shape, target.storage, own.strides, offset)
