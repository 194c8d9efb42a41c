"""What is under an Array: a value and the tape of its device."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import ref

from browsergpu.array.lazy.node import Node
from browsergpu.array.lazy.tape import Tape

Made = dict[int, "ref[Value]"]
_noting: list[Made] = []


def note_made(made: Made | None) -> None:
    """Notes from now on which arrays are made, by their ids; None: none."""
    _noting[:] = [] if made is None else [made]


class Value:
    """Holds a Node: while somebody does, it is computed with the others of its Window."""

    #: ``source`` is there only where gradients are wanted (tracking/variable.py).
    __slots__ = ("__weakref__", "node", "source", "tape")

    source: Any
    #: Whether what is done with it is noted.
    is_noted: ClassVar[bool] = False

    def __init__(self, node: Node, tape: Tape) -> None:
        self.node = node
        self.tape = tape
        node.holders += 1
        if _noting:
            _noting[0][id(self)] = ref(self)

    def __del__(self) -> None:
        self.node.holders -= 1

    def like(self, node: Node) -> Self:
        """Another value on the same device."""
        graphs = self.tape.device.graphs
        if graphs is not None:
            node = graphs.unshared(node, self.tape)
        return type(self)(node, self.tape)

    def become(self, other: Value) -> None:
        """Takes another's value."""
        graphs = self.tape.device.graphs
        if graphs is not None:
            other = graphs.given(self, other)
            if other is self:
                return
        node = NODE.__get__(other)
        node.holders += 1
        NODE.__get__(self).holders -= 1
        NODE.__set__(self, node)


#: The node itself, also of an array that hides it as its operations are noted.
NODE: Any = Value.__dict__["node"]
