"""The buffers of what is captured: nothing else takes them while it may be replayed."""

from __future__ import annotations

from collections.abc import Iterable

from browsergpu.core.blocks import OfBlock
from browsergpu.core.showing import Shown


class Holding(OfBlock):
    """Buffers by their ids. Those that were taken for it (``own``) may be taken again within it
    once they are free, since its commands come in their order whenever it is replayed; others were
    there before, and must stay as they are. Values are capacities, in bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.own: dict[int, int] = {}
        self._idle: dict[int, list[int]] = {}
        self._left: dict[int, int] = {}
        #: Whether buffers are taken from the pool as if nothing was captured.
        self.is_paused = False

    @property
    def takes(self) -> bool:
        """Whether buffers are taken for it here and now."""
        return not self.is_paused and self.is_here

    def taken(self, identity: int, capacity: int) -> None:
        """A buffer is its own from now on."""
        self.own[identity] = capacity

    def reused(self, capacity: int) -> int | None:
        """A buffer of its own that is free, if there is one of that size."""
        idle = self._idle.get(capacity)
        return idle.pop() if idle else None

    def freed(self, identity: int, capacity: int) -> None:
        """Nobody has a buffer any more."""
        if identity in self.own:
            self._idle.setdefault(capacity, []).append(identity)
        else:
            self._left[identity] = capacity

    def free_ones(self) -> dict[int, int]:
        """The buffers that nobody has any more."""
        own = {one: capacity for capacity, idle in self._idle.items() for one in idle}
        return {**own, **self._left}


class Held(Shown):
    """Which buffers are held, and how often; those that nobody else has wait here."""

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._waiting: dict[int, int] = {}
        #: Bytes of those that wait.
        self.nbytes = 0

    def __contains__(self, identity: int) -> bool:
        return identity in self._times

    def hold(self, ids: Iterable[int]) -> None:
        """Holds buffers once more."""
        for identity in ids:
            self._times[identity] = self._times.get(identity, 0) + 1

    def wait(self, identity: int, capacity: int) -> None:
        """A buffer that is held is nobody else's any more."""
        self._waiting[identity] = capacity
        self.nbytes += capacity

    def let_go(self, ids: Iterable[int]) -> dict[int, int]:
        """Holds buffers once less. Gives those, with their capacities, that may be taken for
        anything now."""
        free = {}
        for identity in ids:
            self._times[identity] -= 1
            if not self._times[identity]:
                del self._times[identity]
                if identity in self._waiting:
                    free[identity] = self._waiting.pop(identity)
        self.nbytes -= sum(free.values())
        return free
