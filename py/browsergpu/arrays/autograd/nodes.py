"""What is noted of an operation: where its operands came from, and what its rules need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.shapes import Shape
from browsergpu.core.showing import Shown

#: Steps in the order in which they were noted, which a sweep goes back through.
_numbers = count()


def next_number() -> int:
    """The number of the next node: later nodes have greater ones."""
    return next(_numbers)


#: Functions of a gradient in the order in which they were registered.
Hooks = dict[int, Callable[[Array], Array | None]]


class Like(NamedTuple):
    """What an array is without its values."""

    shape: Shape
    dtype: np.dtype[Any]
    device: Any

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)


class Source(NamedTuple):
    """Where an array comes from: one of the results of a node, or a leaf."""

    node: AutogradNode
    at: int


class Operand(NamedTuple):
    """One of a node's operands that needs a gradient: the parameter that it came to, its place
    where that is a sequence, and where it comes from."""

    name: str
    at: int | None
    source: Source
    like: Like


@dataclass(frozen=True, slots=True)
class Saved:
    """An array that a rule needs: its value, and where it comes from, if that was noted."""

    value: Array
    source: Source | None


class Rules(Protocol):
    """How the gradients of a node's operands come from those of its results."""

    def gradients(
        self, node: AutogradNode, given: Sequence[Array | None], operands: Sequence[Operand]
    ) -> list[Any]:
        """The gradients of some of its operands, each None, an array or a number."""


class AutogradNode(Shown):
    """An operation that was noted. It holds values, and no array that users hold: nothing here
    makes a circle."""

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
        self.number = next_number()
        self.rules = rules
        self.operands = operands
        self.results = results
        self.saved = saved
        self.has_several = has_several
        #: What is called with a result's gradient, by the result's place.
        self.hooks: dict[int, Hooks] | None = None
        #: The gradients of results that are asked to keep theirs, by their places.
        self.retained: dict[int, Array | None] | None = None

    def release(self) -> None:
        """Forgets what it needs: a result that is kept, such as a loss, keeps nothing more. No
        gradient comes here again, so no hook, which may hold the result, is called again."""
        self.rules, self.saved, self.operands = None, None, ()
        for hooks in (self.hooks or {}).values():
            hooks.clear()  # handles hold them, too


class Leaf(AutogradNode):
    """An array that requires gradients and is no operation's result: they are added to ``grad``."""

    __slots__ = ("grad", "is_input")

    def __init__(self, like: Like) -> None:
        super().__init__("leaf", None, (), (like,))
        self.grad: Array | None = None
        #: Whether it stands for an argument of a function that is differentiated, and no user has
        #: made it.
        self.is_input = False


def behind(roots: Iterable[Source], since: int = 0) -> set[AutogradNode]:
    """The nodes that results come from, and those before them; of ones before the number
    ``since`` no further back."""
    found: set[AutogradNode] = set()
    ahead = [source.node for source in roots]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            if node.number >= since:
                ahead += [operand.source.node for operand in node.operands]
    return found
