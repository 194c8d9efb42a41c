"""Buffers of captured graphs. They are reserved for as long as the graph may be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from browsergpu.engine.core.blocks import OfBlock
from browsergpu.engine.core.showing import Shown


class Holding(OfBlock):
    """Buffers used during one capture, by id, with their capacities in bytes.

    Buffers taken during the capture (``own``) can be reused within it once they are free, because
    every replay runs the commands in the same order. Older buffers must keep their contents.
    """

    def __init__(self) -> None:
        super().__init__()
        self.own: dict[int, int] = {}
        self._idle: dict[int, list[int]] = {}
        self._left: dict[int, int] = {}
        #: Whether buffers come from the pool as usual, in spite of the capture.
        self.is_paused = False
        #: Called with the id of each buffer that is allocated in the capture.
        self.allocated: Callable[[int], object] | None = None

    @property
    def takes(self) -> bool:
        """Whether a buffer allocated now, in this task, belongs to the capture."""
        return not self.is_paused and self.is_here

    def taken(self, identity: int, capacity: int) -> None:
        """Note that a buffer belongs to the capture from now on."""
        self.own[identity] = capacity
        if self.allocated is not None:
            self.allocated(identity)

    def reused(self, capacity: int) -> int | None:
        """Return the id of a free buffer of the capture with that capacity, or None."""
        idle = self._idle.get(capacity)
        if not idle:
            return None
        identity = idle.pop()
        if self.allocated is not None:
            self.allocated(identity)
        return identity

    def freed(self, identity: int, capacity: int) -> None:
        """Note that a buffer has no owner any more."""
        if identity in self.own:
            self._idle.setdefault(capacity, []).append(identity)
        else:
            self._left[identity] = capacity

    def free_ones(self) -> dict[int, int]:
        """Return the buffers without an owner, with their capacities."""
        own = {one: capacity for capacity, idle in self._idle.items() for one in idle}
        return {**own, **self._left}


class Held(Shown):
    """Reference counts of the buffers that captured graphs use.

    Buffers without any other user wait here until no graph uses them.
    """

    def __init__(self) -> None:
        #: The number of graphs that use each buffer.
        self.counts: dict[int, int] = {}
        self._waiting: dict[int, int] = {}
        #: Bytes of the waiting buffers.
        self.nbytes = 0

    def __contains__(self, identity: int) -> bool:
        return identity in self.counts

    def hold(self, ids: Iterable[int]) -> None:
        """Increment the reference counts of buffers."""
        for identity in ids:
            self.counts[identity] = self.counts.get(identity, 0) + 1

    def wait(self, identity: int, capacity: int) -> None:
        """Keep a freed buffer until no captured graph uses it."""
        self._waiting[identity] = capacity
        self.nbytes += capacity

    def let_go(self, ids: Iterable[int]) -> dict[int, int]:
        """Decrement the reference counts of buffers.

        Returns
        -------
        dict
            The buffers that nothing uses any more, with their capacities.
        """
        free = {}
        for identity in ids:
            self.counts[identity] -= 1
            if not self.counts[identity]:
                del self.counts[identity]
                if identity in self._waiting:
                    free[identity] = self._waiting.pop(identity)
        self.nbytes -= sum(free.values())
        return free
