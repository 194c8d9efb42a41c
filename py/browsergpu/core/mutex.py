"""A lock for tasks in any threads and event loops, which no interrupt leaves held."""

from __future__ import annotations

import asyncio

from browsergpu.core.showing import Shown
from browsergpu.core.turns import new_lock, renew_in_forks

#: Seconds between two looks of a task that waits. What is locked is the opening of a GPU, which
#: takes longer.
_PAUSE = 0.005


class Turn(Shown):
    """The time in which one task has a mutex. It ends when the task sets ``is_over``."""

    def __init__(self) -> None:
        self.is_over = False

    def _facts(self) -> str:
        return "over" if self.is_over else "not over"


class Mutex(Shown):
    """A block that one task at a time is in.

    A task that waits for it does not block its event loop, as a lock of ``threading`` would, and
    may be in another event loop than the task in the block, which a lock of ``asyncio`` refuses.
    In a forked process the mutex is free.

    Python can raise KeyboardInterrupt when a function is called or has returned, so also at the
    beginning of an ``__aexit__``, which would leave the mutex held for ever. It does not when an
    attribute is stored. That is why a turn ends with one::

        turn = await mutex.turn()
        try:
            ...
        finally:
            turn.is_over = True
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._turn = Turn()
        self._turn.is_over = True
        renew_in_forks(self)

    async def turn(self) -> Turn:
        """Wait until no other task has the mutex, and take it."""
        mine = Turn()
        while True:
            try:
                with self._lock:
                    if self._turn.is_over:
                        self._turn = mine
                if self._turn is mine:
                    return mine
            except BaseException:
                mine.is_over = True
                raise
            await asyncio.sleep(_PAUSE)

    def _at_fork_reinit(self) -> None:
        self._turn = Turn()
        self._turn.is_over = True

    def _facts(self) -> str:
        return "free" if self._turn.is_over else "held"
