"""The memory layout of an array: ``a.flags``."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.lazy.node import LOCKED, Node
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import take_node
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape, contiguous_strides

_LAYOUT = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_ALL = (*_LAYOUT, "contiguous", "forc", "fnc")


class Flags:
    """NumPy's flags of an array. ``writeable`` can be set.

    ``flags.c_contiguous`` and ``flags["C_CONTIGUOUS"]`` are the same.
    """

    __slots__ = ("_array",)

    aligned = True
    writebackifcopy = False

    def __init__(self, array: Value) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are in row-major order without gaps."""
        steps, extents = _steps(self._node)
        return 0 in self._node.shape or steps == [*contiguous_strides(tuple(extents))]

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are in column-major order without gaps."""
        steps, extents = _steps(self._node)
        by_columns = [*contiguous_strides(tuple(extents[::-1]))][::-1]
        return 0 in self._node.shape or steps == by_columns

    @property
    def owndata(self) -> bool:
        """Whether the array is not a view."""
        return self._node.trace is not None or self._node.view_group is None

    @property
    def writeable(self) -> bool:
        """Whether the array can be written. A view of read-only memory cannot."""
        return not self._node.is_read_only

    @writeable.setter
    def writeable(self, value: bool) -> None:
        node = self._node
        if value and node.is_read_only not in (False, LOCKED):
            expected = "False, because the array is a view of a read-only array"
            raise InvalidArgument("flags", "writeable", value, expected)
        if node.holders > 1:  # other arrays hold the value
            node = node.in_memory().twin()
            take_node(self._array, node)
        if value:
            node.is_read_only = False
        elif not node.is_read_only:
            node.is_read_only = LOCKED

    @property
    def contiguous(self) -> bool:
        """The same as ``c_contiguous``."""
        return self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether the elements are in row-major or column-major order."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """Whether the elements are in column-major order and not in row-major order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def _node(self) -> Node:
        node: Node = NODE.__get__(self._array)
        return node

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str) or key.lower() not in _ALL:
            raise KeyError(key)
        return getattr(self, key.lower())

    def __setitem__(self, key: str, value: bool) -> None:
        if key != "WRITEABLE":
            raise KeyError(key)
        self.writeable = value

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in _LAYOUT)


def strides(node: Node) -> Shape:
    """Return the strides of a node, in elements."""
    if node.trace is not None or node.strides is None:
        return contiguous_strides(node.shape)
    return node.strides


def _steps(node: Node) -> tuple[list[int], list[int]]:
    """Return the strides and extents of axes longer than 1."""
    several = [(step, n) for step, n in zip(strides(node), node.shape, strict=True) if n > 1]
    return [step for step, _ in several], [n for _, n in several]
