"""What is under an Array: a value and the tracer of its device."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import ref

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.core.showing import Shown
from browsergpu.core.turns import exclusive


class Value(Shown):
    """Holds a Node: while somebody does, it is computed with the others of its Trace."""

    #: ``source`` is there only where gradients are wanted (arrays/autograd/variable.py).
    __slots__ = ("__weakref__", "node", "source", "tracer")

    source: Any
    #: Whether what is done with it is noted.
    is_tracked: ClassVar[bool] = False

    def __init__(self, node: Node, tracer: Tracer) -> None:
        self.node = node
        self.tracer = tracer
        refs = node.refs
        if refs:
            node.hold(self)
        else:
            node.refs = (ref(self),)

    def like(self, node: Node) -> Self:
        """Another value on the same device."""
        return type(self)(node, self.tracer)

    @exclusive
    def same(self) -> Self:
        """Another array of the same value: no view, but in the same memory until one is written."""
        node: Node = NODE.__get__(self)
        return self.like(node.twin() if node.trace is None else node)


#: The node itself, also of an array that hides it as its operations are noted.
NODE: Any = Value.__dict__["node"]
