"""Gradients of arrays that share memory: a write through one changes the values of the others.

The memory of a cell is treated as one array along one axis. Before the first write, its gradient
goes to the array that views were made of (:class:`Base`). A write is a step from the memory before
it, and the value that was written, to the memory after it; each array whose elements were written
is from then on a region of the new memory, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import AutogradNode, Leaf, Like, Operand, Source
from browsergpu.arrays.autograd.variable import Variable, like_of, node_of, track
from browsergpu.arrays.graphs.originals import overlap
from browsergpu.arrays.views.aliases import Base, MemoryPlace, place_of
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.showing import Description
from browsergpu.functions import regions


class _OfBase:
    """The memory that the base is in: its gradient is that of its region."""

    def __init__(self, place: MemoryPlace) -> None:
        self.place = place

    def gradients(
        self, step: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """The gradient of the base."""
        return [regions.region(_gradient(given), self.place)]


class _OfWrite:
    """The memory after a write."""

    def __init__(self, place: MemoryPlace) -> None:
        self.place = place

    def gradients(
        self, step: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """The gradients of the memory before it and of the value that was written."""
        return [
            regions.without(_gradient(given), self.place)
            if one.name == "memory"
            else regions.region(_gradient(given), self.place)
            for one in operands
        ]


class _OfRegion:
    """An array that is a region of the memory."""

    def __init__(self, place: MemoryPlace, size: int) -> None:
        self.place, self.size = place, size

    def gradients(
        self, step: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """The gradient of the memory."""
        return [regions.put(_gradient(given), self.place, self.size)]


def _gradient(given: Sequence[Array | None]) -> Array:
    assert given[0] is not None  # a step without a gradient is not asked
    return given[0]


def check(x: Array, op: str) -> None:
    """Raises InvalidArgument where a write to an array would change a leaf that requires a
    gradient, of which the array is a view."""
    cell = node_of(x).view_group
    if cell is None:
        return
    own = node_of(x)
    for other in cell.live():
        is_leaf = type(other) is Variable and isinstance(other.source.node, Leaf)
        if other is not x and is_leaf and overlap(node_of(other), own):
            told = "a view of a leaf that requires a gradient"
            expected = "an operation's result, or changed under no_grad()"
            raise InvalidArgument(op, "array", Description(told), expected)


def written(x: Array, found: Array) -> None:
    """Notes that a value was written to an array in place, where views share its memory."""
    own = node_of(x)
    cell = own.view_group
    if cell is None:
        return
    others = [one for one in cell.live() if one is not x and node_of(one).view_group is cell]
    is_noted = any(type(one) is Variable for one in (found, *others)) or cell.history is not None
    if not others or not is_noted:
        cell.history = None if not others else cell.history
        return
    size = own.storage.buffer.nbytes // own.kind.device_bytes(1)
    like = Like((size,), x.dtype, x.device)
    operands = []
    before = _memory(cell.history, like)
    if before is not None:
        operands.append(Operand("memory", None, before, like))
    if type(found) is Variable:
        operands.append(Operand("value", None, found.source, like_of(found)))
    if not operands:
        return
    step = AutogradNode("write", _OfWrite(place_of(x)), tuple(operands), (like,))
    cell.history = after = Source(step, 0)
    for one in others:
        if not overlap(node_of(one), own) or one.dtype != x.dtype:
            continue
        operand = Operand("memory", None, after, like)
        rules = _OfRegion(place_of(one), size)
        track(one, Source(AutogradNode("region", rules, (operand,), (like_of(one),)), 0))


def _memory(history: Any, like: Like) -> Source | None:
    """Where the gradient of the memory goes."""
    if not isinstance(history, Base):
        return history  # type: ignore[no-any-return]
    operand = Operand("base", None, history.source, Like(history.place[0], like.dtype, like.device))
    return Source(AutogradNode("memory", _OfBase(history.place), (operand,), (like,)), 0)
