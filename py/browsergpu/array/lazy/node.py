"""A value of an array: in memory, or still to be computed."""

from __future__ import annotations

from typing import Any
from weakref import ref

from browsergpu.array.device_array import Storage
from browsergpu.core.element_types import ElementType
from browsergpu.core.shapes import Shape


class Watch:
    """The values that come to memory (``made``), and those that are asked for there (``asked``)."""

    def __init__(self) -> None:
        self.made: list[ref[Node]] = []
        self.asked: list[ref[Node]] = []


_watches: list[Watch] = []


def watch(seen: Watch | None) -> None:
    """Notes from now on what becomes of values; None: no more."""
    _watches[:] = [] if seen is None else [seen]


class Node:
    """A value: in memory (``storage``; elements at ``offset`` + index × ``strides``, packed where
    these are None), at a ``place`` of a Window, or still on the host (``window`` is an Arriving).
    ``holders`` are the arrays that have it."""

    __slots__ = (
        "__weakref__",
        "holders",
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

    def put(self, storage: Storage, strides: Shape | None = None, offset: int = 0) -> None:
        """Says where it is in memory."""
        self.storage = storage
        storage.used_by(self)
        self.strides = strides
        self.offset = offset
        if _watches:
            _watches[0].made.append(ref(self))

    def move(self, storage: Storage) -> None:
        """Says that it is elsewhere in memory now, packed from the beginning on."""
        self.storage.left_by(self)
        self.put(storage)

    def in_memory(self) -> Node:
        """The value itself, computed. One at a Window's place that nobody held would not be."""
        if self.window is not None:
            self.holders += 1
            try:
                self.window.evaluate()
            finally:
                self.holders -= 1
        elif _watches:
            _watches[0].asked.append(ref(self))
        return self


def stored(
    kind: ElementType, shape: Shape, storage: Storage, strides: Shape | None = None, offset: int = 0
) -> Node:
    """A value that is in memory."""
    node = Node(kind, shape)
    node.put(storage, strides, offset)
    return node
