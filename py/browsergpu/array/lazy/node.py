"""A value of an array: in memory, or still to be computed."""

from __future__ import annotations

from typing import Any

from browsergpu.array.device_array import Storage
from browsergpu.core.element_types import ElementType
from browsergpu.core.shapes import Shape
from browsergpu.core.showing import Shown


class Node(Shown):
    """A value: in memory (``storage``; elements at ``offset`` + index × ``strides``, packed where
    these are None), at a ``place`` of a Window, or still on the host (``window`` is an Arriving).

    ``holders`` counts the arrays that have it. ``cell`` is the identity of the memory that the
    array shares with its views; None for an array without views. ``follows`` says that gradients of
    the array follow writes through the others of the cell, ``is_read_only`` that it is a view which
    nothing can be assigned to.
    """

    __slots__ = (
        "__weakref__",
        "cell",
        "follows",
        "holders",
        "is_read_only",
        "kind",
        "offset",
        "place",
        "shape",
        "storage",
        "strides",
        "window",
    )

    # Where it is in memory is said once it is: one of these is made for each operation.
    storage: Storage
    strides: Shape | None
    offset: int

    def __init__(self, kind: ElementType, shape: Shape, window: Any = None, place: int = 0) -> None:
        self.kind = kind
        self.shape = shape
        self.window = window
        self.place = place
        self.holders = 0
        self.cell: Any = None
        self.follows = False
        self.is_read_only = False

    def put(self, storage: Storage, strides: Shape | None = None, offset: int = 0) -> None:
        """Says where it is in memory."""
        self.storage = storage
        storage.used_by(self)
        self.strides = strides
        self.offset = offset

    def move(self, storage: Storage, strides: Shape | None = None, offset: int = 0) -> None:
        """Says that it is elsewhere in memory now."""
        self.storage.left_by(self)
        self.put(storage, strides, offset)

    def _facts(self) -> str:
        return f"of shape {self.shape} and dtype {self.kind.name}"

    def in_memory(self) -> Node:
        """The value itself, computed. One at a Window's place that nobody held would not be."""
        if self.window is not None:
            self.holders += 1
            try:
                self.window.evaluate()
            finally:
                self.holders -= 1
        return self

    def twin(self) -> Node:
        """Another node of a value in memory, which shares no cell: a later write to either array
        gives one of them memory of its own."""
        return stored(self.kind, self.shape, self.storage, self.strides, self.offset)


def stored(
    kind: ElementType, shape: Shape, storage: Storage, strides: Shape | None = None, offset: int = 0
) -> Node:
    """A value that is in memory."""
    node = Node(kind, shape)
    node.put(storage, strides, offset)
    return node
