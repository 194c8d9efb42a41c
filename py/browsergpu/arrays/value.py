"""What is under an Array: a value and the tape of its device."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import ref

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.tape import Tape
from browsergpu.core.showing import Shown
from browsergpu.core.turns import exclusive


class Value(Shown):
    """Holds a Node: while somebody does, it is computed with the others of its Window."""

    #: ``source`` is there only where gradients are wanted (tracking/variable.py).
    __slots__ = ("__weakref__", "node", "source", "tape")

    source: Any
    #: Whether what is done with it is noted.
    is_noted: ClassVar[bool] = False

    def __init__(self, node: Node, tape: Tape) -> None:
        self.node = node
        self.tape = tape
        refs = node.refs
        if refs:
            node.hold(self)
        else:
            node.refs = (ref(self),)

    def like(self, node: Node) -> Self:
        """Another value on the same device."""
        return type(self)(node, self.tape)

    @exclusive
    def same(self) -> Self:
        """Another array of the same value: no view, but in the same memory until one is written."""
        node: Node = NODE.__get__(self)
        return self.like(node.twin() if node.window is None else node)


#: The node itself, also of an array that hides it as its operations are noted.
NODE: Any = Value.__dict__["node"]
