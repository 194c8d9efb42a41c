"""The value of an array: in GPU memory, in a trace, or on the host."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from weakref import ref

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.memory import Allocation
from browsergpu.engine.tensors.device_array import Storage

#: From this many weak references on, those to dead holders are dropped.
MANY_HOLDERS = 8


class Pin(Shown):
    """A holder that keeps a node alive without an array."""

    __slots__ = ("__weakref__",)


#: The value of ``is_read_only`` if the user has cleared the flag ``writeable``.
LOCKED = 2


class Node(Shown):
    """The value of an array: in GPU memory, in a trace, or still on the host.

    Attributes
    ----------
    storage, strides, offset
        The memory of a computed value. Strides and offset count elements; without strides the
        elements are packed.
    trace, place
        The Trace that records the value, and its place there. ``trace`` is a PendingUpload for a
        value on the host and None for a computed value.
    refs
        Weak references to the arrays that hold the value. A count would need destructors, and
        these lose a KeyboardInterrupt.
    view_group
        The ViewGroup of an array and its views, or None.
    follows
        Whether gradients of the array follow writes through other arrays of the view group.
    is_read_only
        Whether assignment to the array is refused. LOCKED if the user has set that; the user can
        unset it.
    """

    __slots__ = (
        "__weakref__",
        "follows",
        "is_read_only",
        "kind",
        "offset",
        "place",
        "refs",
        "shape",
        "storage",
        "strides",
        "trace",
        "view",
        "view_group",
    )

    # Set once the value is in memory: every operation makes a node.
    storage: Storage
    strides: Shape | None
    offset: int
    #: The View of the memory, made when a kernel first needs it.
    view: Any

    def __init__(self, kind: ElementType, shape: Shape, trace: Any = None, place: int = 0) -> None:
        self.kind = kind
        self.shape = shape
        self.trace = trace
        self.place = place
        self.refs: tuple[ref[Any], ...] = ()
        self.view_group: Any = None
        self.follows = False
        self.is_read_only: bool | int = False

    @property
    def holders(self) -> int:
        """The number of arrays that hold the node."""
        refs = self.refs
        if len(refs) == 1:
            return int(refs[0]() is not None)
        return len([1 for one in refs if one() is not None])

    @property
    def is_held(self) -> bool:
        """Whether any array holds the node."""
        for one in self.refs:  # noqa: SIM110 - any() takes twice as long, and all operations are asked
            if one() is not None:
                return True
        return False

    def hold(self, holder: Any) -> None:
        """Add an array, or a Pin, that holds the node."""
        refs = self.refs
        if len(refs) >= MANY_HOLDERS:
            refs = tuple([one for one in refs if one() is not None])
        self.refs = (*refs, ref(holder))

    def drop(self, holder: Any) -> None:
        """Remove an array that now holds another node."""
        refs = self.refs
        if len(refs) == 1 and refs[0]() is holder:
            self.refs = ()
        else:
            self.refs = tuple([one for one in refs if one() is not holder])

    def put(self, storage: Storage, strides: Shape | None = None, offset: int = 0) -> None:
        """Set the memory of a value that has just been computed."""
        self.storage = storage
        storage.used_by(self)
        self.strides = strides
        self.offset = offset
        self.view = None

    def move(self, storage: Storage, strides: Shape | None = None, offset: int = 0) -> None:
        """Set new memory for a value."""
        self.storage.left_by(self)
        self.put(storage, strides, offset)

    def _facts(self) -> str:
        return f"of shape {self.shape} and dtype {self.kind.name}"

    def in_memory(self) -> Node:
        """Compute the value if necessary, and return the node."""
        if self.trace is not None:
            # hold() and drop() inlined, since every evaluation calls this. The pin keeps an unheld
            # value of the trace from being skipped.
            pin, refs = Pin(), self.refs
            pinned = self.refs = (*refs, ref(pin))
            try:
                self.trace.evaluate()
            finally:
                if self.refs is pinned:
                    self.refs = refs
                else:
                    self.drop(pin)
        return self

    def twin(self) -> Node:
        """Return another node for the same memory, in no view group.

        A later write to either array gives one of them its own memory.
        """
        return stored(self.kind, self.shape, self.storage, self.strides, self.offset)


class PermanentStorage(Shown):
    """Memory that belongs to no array. It lives as long as the device, and is never assigned to."""

    is_free = False
    is_held = False
    mirror = None
    user_count = 0
    version = 0

    def __init__(self, buffer: Allocation) -> None:
        self.buffer = buffer
        self.users: list[Any] = []

    def _facts(self) -> str:
        return self.buffer.label

    def used_by(self, user: Any) -> None:
        """Do nothing."""

    def left_by(self, user: Any) -> None:
        """Do nothing."""


def stored(
    kind: ElementType, shape: Shape, storage: Storage, strides: Shape | None = None, offset: int = 0
) -> Node:
    """Return a node for a value in memory."""
    node = Node(kind, shape)
    node.put(storage, strides, offset)
    return node


def room(device: Device, op: str, kind: ElementType, shape: Shape) -> Node:
    """Allocate memory for a result. Its contents are undefined."""
    node = Node(kind, shape)
    storage = node.storage = Storage(device, device.memory.get_buffer(op, nbytes_of(kind, shape)))
    storage.used_by(node)
    node.strides = node.view = None
    node.offset = 0
    return node


@lru_cache(maxsize=4096)
def nbytes_of(kind: ElementType, shape: Shape) -> int:
    """Return the bytes of a packed value on the GPU."""
    return kind.device_bytes(product(shape))
