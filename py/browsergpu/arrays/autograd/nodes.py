"""Autograd nodes: the recorded operations with their operands and saved values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown

#: Node numbers in recording order. The backward pass runs in reverse order.
_numbers = count()


def next_number() -> int:
    """Return the number of the next node. Numbers increase."""
    return next(_numbers)


#: Hooks in the order of registration.
Hooks = dict[int, Callable[[Array], Array | None]]


class Like(NamedTuple):
    """The shape, dtype and device of an array."""

    shape: Shape
    dtype: np.dtype[Any]
    device: Any

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class Source(NamedTuple):
    """The origin of an array: a result of a node, or a leaf."""

    node: AutogradNode
    at: int


class Operand(NamedTuple):
    """An operand of a node that needs a gradient.

    Attributes
    ----------
    name
        The parameter.
    at
        The index in the argument if it is a sequence, else None.
    source
        The origin of the array.
    like
        The shape, dtype and device of the array.
    """

    name: str
    at: int | None
    source: Source
    like: Like


@dataclass(slots=True)
class Saved:
    """An array that a rule needs, and its source if it is tracked."""

    value: Array
    source: Source | None


class Rules(Protocol):
    """The interface that computes the gradients of a node's operands."""

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """Return the gradients of operands, each None, an array or a number."""


class AutogradNode(Shown):
    """A recorded operation.

    It holds values and no user's array, so there are no reference cycles.
    """

    __slots__ = (
        "has_several", "hooks", "name", "number", "operands", "results", "retained", "rules",
        "saved",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        rules: Rules | None,
        operands: tuple[Operand, ...],
        results: tuple[Like | None, ...],
        saved: dict[str, Any] | None = None,
        *,
        has_several: bool = False,
    ) -> None:
        self.name = name
        self.number = next(_numbers)
        self.rules = rules
        self.operands = operands
        self.results = results
        self.saved = saved
        self.has_several = has_several
        #: Hooks by result.
        self.hooks: dict[int, Hooks] | None = None
        #: Retained gradients by result.
        self.retained: dict[int, Array | None] | None = None

    def release(self) -> None:
        """Free the saved values and operands.

        A result that the user still holds, such as a loss, then keeps nothing alive. Its hooks are
        removed, as they may hold the result and are never called again.
        """
        self.rules, self.saved, self.operands = None, None, ()
        for hooks in (self.hooks or {}).values():
            hooks.clear()  # handles refer to this dict


class Leaf(AutogradNode):
    """An array that requires gradients and is not a result. Its gradients are added to ``grad``."""

    __slots__ = ("grad", "is_input")

    def __init__(self, like: Like) -> None:
        super().__init__("leaf", None, (), (like,))
        self.grad: Array | None = None
        #: Whether the leaf represents an argument of a differentiated function.
        self.is_input = False


def behind(roots: Iterable[Source], since: int = 0) -> set[AutogradNode]:
    """Return the nodes that results depend on.

    Operands of nodes before number ``since`` are left out.
    """
    found: set[AutogradNode] = set()
    ahead = [source.node for source in roots]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            if node.number >= since:
                ahead += [operand.source.node for operand in node.operands]
    return found
