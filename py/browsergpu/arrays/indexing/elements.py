"""Elements of arrays whose memory is copied to the host.

A loop that compares single elements waits for the GPU at each comparison. So after a few waits that
follow reads of elements, the memory of a small array is copied to the host as a whole. Its elements
are then numbers that the host knows, until the memory is written. Writes of single numbers also
change the copy.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.indexing.gather import Region
from browsergpu.arrays.lazy import host_number
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.value import Value
from browsergpu.engine.core.element_types import BOOL, ElementType
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu import platform
from browsergpu.engine.tensors import transfers
from browsergpu.engine.tensors.device_array import Storage

V = TypeVar("V", bound=Value)

#: Bytes of the largest memory that is copied.
LARGEST = 2**20


class Mirror(Shown):
    """A copy of an array's memory on the host, for one version of the memory."""

    __slots__ = ("_parts", "_words", "era", "version")

    def __init__(self, words: np.ndarray, version: int, era: int) -> None:
        self.version = version
        self.era = era
        self._words = words
        self._parts: dict[ElementType, np.ndarray] = {}

    def elements(self, kind: ElementType) -> np.ndarray:
        """Return the whole memory as elements of a type."""
        found = self._parts.get(kind)
        if found is None:
            whole = self._words.nbytes // kind.device_numpy.itemsize * kind.device_numpy.itemsize
            found = self._parts[kind] = self._words[:whole].view(kind.device_numpy)
        return found


def known(element: V) -> V | None:
    """Return an element of an array as a number that the host knows, or None.

    ``element`` is a view without axes. This may wait for the GPU, and other tasks may then write to
    the array.
    """
    node, tracer = element.node, element.tracer
    storage = node.storage
    reads = tracer.element_reads
    mirror: Mirror | None = storage.mirror
    if mirror is None or mirror.version != storage.version or mirror.era != reads.era:
        if not reads.is_copy_due() or not _may_copy(element):
            return None
        mirror = _copied(storage, element)
        if mirror is None:
            return None
    elif not host_number.is_here(tracer) or tracer.device.is_closed:
        return None
    reads.served()
    number = mirror.elements(node.kind)[node.offset].item()
    if node.kind is BOOL:  # a word in memory
        number = bool(number)
    return element.like(host_number.node_of(tracer, node.kind, number))


def _may_copy(element: Value) -> bool:
    node, device = element.node, element.tracer.device
    return (
        node.kind in host_number.KINDS
        and node.storage.buffer.nbytes <= LARGEST
        and host_number.is_here(element.tracer)
        and not device.is_closed
        and not device.config.check_nan
        and platform.can_block()
    )


def _copied(storage: Storage, element: Value) -> Mirror | None:
    """Copy the memory to the host. Returns None if it is written while this waits."""
    device, version, era = element.tracer.device, storage.version, element.tracer.element_reads.era
    words = np.empty(storage.buffer.nbytes, np.uint8)
    platform.block_on(transfers.read(device, storage.buffer, 0, words.data), "index")
    if storage.version != version or storage is not element.node.storage:
        return None
    storage.mirror = found = Mirror(words, version, era)
    return found


def mirror_of(x: Value) -> Mirror | None:
    """Return the valid copy of an array's memory, or None."""
    node = x.node
    mirror: Mirror | None = None if node.trace is not None else node.storage.mirror
    if mirror is None or mirror.version != node.storage.version:
        return None
    return mirror if mirror.era == x.tracer.element_reads.era else None


def write(mirror: Mirror, node: Node, element: Region, number: Any) -> None:
    """Write a number into the copy, after it was written into the memory.

    The copy becomes invalid if the array has moved to other memory.
    """
    if node.trace is not None or node.storage.mirror is not mirror:
        return
    if node.storage.version != mirror.version + 1:
        return
    given = number.item() if isinstance(number, np.generic) else number
    known = host_number.converted(given, node.kind)
    if known is not None:
        at = node.offset + element.place(node.shape, node.strides)[2]
        mirror.elements(node.kind)[at] = known
        mirror.version = node.storage.version
