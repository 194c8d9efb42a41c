"""The base class of arrays: a node and the tracer of its device."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import ref

from browsergpu.arrays.lazy.node import MANY_HOLDERS, Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import exclusive


class Value(Shown):
    """A holder of a Node. Held nodes are computed when their trace is evaluated."""

    #: ``source`` is only set on tracked arrays (arrays/autograd/variable.py).
    __slots__ = ("__weakref__", "node", "source", "tracer")

    source: Any
    #: Whether autograd records operations on it.
    is_tracked: ClassVar[bool] = False

    def __init__(self, node: Node, tracer: Tracer) -> None:
        self.node = node
        self.tracer = tracer
        # Node.hold() inlined, since every operation makes arrays.
        refs = node.refs
        if not refs:
            node.refs = (ref(self),)
        elif len(refs) < MANY_HOLDERS:
            node.refs = (*refs, ref(self))
        else:
            node.hold(self)

    def like(self, node: Node) -> Self:
        """Return another value on the same device."""
        return type(self)(node, self.tracer)

    @exclusive
    def same(self) -> Self:
        """Return another array of the same value.

        It is not a view, but shares the memory until either is written.
        """
        node: Node = NODE.__get__(self)
        return self.like(node.twin() if node.trace is None else node)


#: The node's slot, also for tracked arrays, which hide their node.
NODE: Any = Value.__dict__["node"]
