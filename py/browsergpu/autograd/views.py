"""Gradients of in-place writes to arrays that share memory.

The memory of a view group is treated as an array of one axis. Before the first write, its gradient
goes to the array that the views were made of (:class:`Base`). A write is an autograd node. Its
operands are the memory before the write and the written value; its result is the memory after it.
Each array that overlaps the write then becomes a region of the new memory, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.nodes import AutogradNode, Leaf, Like, Operand, Source
from browsergpu.arrays.autograd.variable import like_of, node_of, track
from browsergpu.arrays.graphs.originals import overlap
from browsergpu.arrays.views.aliases import Base, MemoryPlace, place_of
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.functions import regions


class _BaseRules:
    """Rules of a node from the base to the memory before the first write."""

    def __init__(self, place: MemoryPlace) -> None:
        self.place = place

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradient of the base."""
        return [regions.region(_gradient(given), self.place)]


class _WriteRules:
    """Rules of a node from the memory and a written value to the memory after the write."""

    def __init__(self, place: MemoryPlace) -> None:
        self.place = place

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of the memory before the write and of the written value."""
        return [
            regions.without(_gradient(given), self.place)
            if one.name == "memory"
            else regions.region(_gradient(given), self.place)
            for one in operands
        ]


class _RegionRules:
    """Rules of a node from the memory to an array that is a region of it."""

    def __init__(self, place: MemoryPlace, size: int) -> None:
        self.place, self.size = place, size

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradient of the memory."""
        return [regions.put(_gradient(given), self.place, self.size)]


def _gradient(given: Sequence[Array | None]) -> Array:
    assert given[0] is not None  # rules run only for nodes that have a gradient
    return given[0]


def check_write(x: Array, op: str) -> None:
    """Raise InvalidArgument if a write would change another leaf that requires a gradient."""
    view_group = node_of(x).view_group
    if view_group is None:
        return
    own = node_of(x)
    for other in view_group.live():
        is_leaf = type(other) in TRACKED and isinstance(other.source.node, Leaf)
        if other is not x and is_leaf and overlap(node_of(other), own):
            told = "a view of a leaf that requires a gradient"
            expected = "an operation's result, or changed under no_grad()"
            raise InvalidArgument(op, "array", Description(told), expected)


def record_write(x: Array, found: Array) -> None:
    """Record an in-place write to an array whose memory views share."""
    own = node_of(x)
    view_group = own.view_group
    if view_group is None:
        return
    others = [
        one for one in view_group.live() if one is not x and node_of(one).view_group is view_group
    ]
    is_recorded = (
        any(type(one) in TRACKED for one in (found, *others)) or view_group.history is not None
    )
    if not others or not is_recorded:
        view_group.history = None if not others else view_group.history
        return
    size = own.storage.buffer.nbytes // own.kind.device_bytes(1)
    like = Like((size,), x.dtype, x.device)
    operands = []
    before = _memory_source(view_group.history, like)
    if before is not None:
        operands.append(Operand("memory", None, before, like))
    if type(found) in TRACKED:
        operands.append(Operand("value", None, found.source, like_of(found)))
    if not operands:
        return
    node = AutogradNode("write", _WriteRules(place_of(x)), tuple(operands), (like,))
    view_group.history = after = Source(node, 0)
    for one in others:
        if not overlap(node_of(one), own) or one.dtype != x.dtype:
            continue
        operand = Operand("memory", None, after, like)
        rules = _RegionRules(place_of(one), size)
        track(one, Source(AutogradNode("region", rules, (operand,), (like_of(one),)), 0))


def _memory_source(history: Any, like: Like) -> Source | None:
    """Return the source of a memory's gradient, or None."""
    if not isinstance(history, Base):
        return history  # type: ignore[no-any-return]
    operand = Operand("base", None, history.source, Like(history.place[0], like.dtype, like.device))
    return Source(AutogradNode("memory", _BaseRules(history.place), (operand,), (like,)), 0)
