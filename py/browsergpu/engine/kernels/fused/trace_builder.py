"""Traces of elementwise operations, built entry by entry."""

from __future__ import annotations

from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.kernels.fused.operations import cast, resolved
from browsergpu.engine.kernels.fused.source import leaf, number, operation


class TraceBuilder(Shown):
    """A trace that is being built. Entries are named by their places.

    Attributes
    ----------
    code : list of int
        The entries.
    kinds : list of ElementType
        The type of each entry's value.
    """

    def __init__(self) -> None:
        self.code: list[int] = []
        self.kinds: list[ElementType] = []

    def array(self, kind: ElementType) -> int:
        """Append an array that the kernel reads."""
        return self._add(kind, leaf(kind))

    def number(self, kind: ElementType) -> int:
        """Append a number, whose words are parameters of the kernel."""
        return self._add(kind, number(kind))

    def apply(self, name: str, *places: int) -> int:
        """Append a generated operation that takes values of these types."""
        overload = resolved(name, tuple(self.kinds[place] for place in places))
        return self._add(overload.result, operation(overload.number, *places))

    def cast(self, place: int, kind: ElementType) -> int:
        """Append a cast, unless the value has the type already."""
        if self.kinds[place] is kind:
            return place
        return self._add(kind, operation(cast(self.kinds[place], kind).number, place))

    def _add(self, kind: ElementType, entry: int) -> int:
        self.code.append(entry)
        self.kinds.append(kind)
        return len(self.code) - 1
