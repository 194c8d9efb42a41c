"""GPU memory: buffers in size classes, kept in a pool when freed, and statistics of them.

A freed buffer goes back to the pool at once, though commands that use it may not have run yet:
the GPU works in order, so whoever takes it next comes after them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from math import ceil

from browsergpu.errors import OutOfMemory
from browsergpu.recorder import Recorder

_SMALLEST = 256
_POOL_CEILING = 512 * 2**20

_handles = count(1)  # one sequence for all backends, so that a foreign handle is never valid


@dataclass(slots=True)
class Buffer:
    """A GPUBuffer: ``id`` in the recorder's table, ``nbytes`` asked for, ``capacity`` it has."""

    handle: int
    id: int
    nbytes: int
    capacity: int


def size_class(nbytes: int) -> int:
    """The capacity that serves a request: a multiple of 256 bytes, at most 1/8 too large.

    Few distinct sizes make it likely that a freed buffer fits the next request.
    """
    if nbytes <= _SMALLEST:
        return _SMALLEST
    step = max(_SMALLEST, 1 << (nbytes - 1).bit_length() - 4)
    return ceil(nbytes / step) * step


class Memory:
    """Buffers of one device. All numbers are bytes, but for ``buffers``."""

    def __init__(self, recorder: Recorder, largest: int) -> None:
        self._recorder = recorder
        self._largest = largest
        self._ids = count(1)
        self._idle: defaultdict[int, list[int]] = defaultdict(list)  # capacity -> ids
        #: Bytes of the live buffers.
        self.in_use = 0
        #: Bytes of freed buffers that wait to be used again.
        self.pooled = 0
        #: The most that ``allocated`` ever was.
        self.peak = 0
        #: Number of live buffers.
        self.buffers = 0

    @property
    def allocated(self) -> int:
        """Bytes held on the GPU: in use and pooled."""
        return self.in_use + self.pooled

    def take(self, op: str, nbytes: int, label: str = "") -> Buffer:
        """A buffer of at least ``nbytes``, contents undefined.

        Raises OutOfMemory when no buffer of this device can be that large.
        """
        if nbytes > self._largest:
            raise OutOfMemory(
                op,
                f"{nbytes} bytes were asked for; this device's largest buffer is "
                f"{self._largest} bytes",
            )
        capacity = min(size_class(nbytes), self._largest)
        idle = self._idle[capacity]
        if idle:
            identity = idle.pop()
            self.pooled -= capacity
        else:
            identity = next(self._ids)
            self._recorder.create_buffer(identity, capacity, label or op)
        self.in_use += capacity
        self.buffers += 1
        self.peak = max(self.peak, self.allocated)
        return Buffer(next(_handles), identity, nbytes, capacity)

    def give(self, buffer: Buffer) -> None:
        """Frees a buffer; it must not be used afterwards."""
        self.in_use -= buffer.capacity
        self.buffers -= 1
        if self.pooled + buffer.capacity > _POOL_CEILING:
            self._recorder.destroy_buffer(buffer.id)
        else:
            self.pooled += buffer.capacity
            self._idle[buffer.capacity].append(buffer.id)

    def trim(self) -> int:
        """Destroys the pooled buffers. Returns the bytes that this gave back."""
        freed = self.pooled
        for idle in self._idle.values():
            for identity in idle:
                self._recorder.destroy_buffer(identity)
        self._idle.clear()
        self.pooled = 0
        return freed
