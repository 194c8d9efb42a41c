"""Donated arguments, whose memory a compiled function frees."""

from __future__ import annotations

from typing import Any, ClassVar, Never

from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.value import NODE
from browsergpu.arrays.views.aliases import take_node
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description, Shown
from browsergpu.engine.core.turns import exclusive


class Donated(Shown):
    """The trace of an array that was donated: it has no value."""

    __slots__ = ("__weakref__", "tracer")

    code: ClassVar[tuple[int, ...]] = ()  # no operation fits in this trace
    free_below: ClassVar[int] = -1

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer

    def reduces(self, place: int) -> bool:
        """Return False: no reduction can compute the value."""
        return False

    def evaluate(self) -> Never:
        """Raise InvalidArgument, since the value is gone."""
        raise InvalidArgument(
            "jit", "array", Description("an array that was donated"), "an array with a value",
            "Leave it out of donate, or use the function's results.",
        )  # fmt: skip


@exclusive
def donate(x: Any) -> None:
    """Take an array's value away. Its memory is freed unless views or other arrays use it."""
    if isinstance(x, Array):
        node: Node = NODE.__get__(x)
        take_node(x, Node(node.kind, node.shape, Donated(x.tracer)))
