"""A value of an array: in memory, or still to be computed."""

from __future__ import annotations

from typing import Any

from browsergpu.array.device_array import Storage
from browsergpu.core.element_types import ElementType
from browsergpu.core.shapes import Shape


class Node:
    """A value: in memory (``storage``; elements at ``offset`` + index × ``strides``, packed where
    these are None), or at a ``place`` of a Window. ``holders`` are the arrays that have it."""

    __slots__ = ("holders", "kind", "offset", "place", "shape", "storage", "strides", "window")

    def __init__(self, kind: ElementType, shape: Shape) -> None:
        self.kind = kind
        self.shape = shape
        self.window: Any = None
        self.place = 0
        self.holders = 0
        self.storage: Storage | None = None
        self.strides: Shape | None = None
        self.offset = 0

    def in_memory(self) -> Node:
        """The value itself, computed. One at a Window's place that nobody held would not be."""
        if self.window is not None:
            self.holders += 1
            try:
                self.window.evaluate()
            finally:
                self.holders -= 1
        return self


def stored(
    kind: ElementType, shape: Shape, storage: Storage, strides: Shape | None = None, offset: int = 0
) -> Node:
    """A value that is in memory."""
    node = Node(kind, shape)
    node.storage, node.strides, node.offset = storage, strides, offset
    return node
