"""A mutex for tasks in any threads and event loops, which is released even after an interrupt."""

from __future__ import annotations

import asyncio

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.core.turns import new_lock, renew_in_forks

#: Seconds between two attempts of a waiting task. The mutex guards the opening of a GPU, which
#: takes longer.
_PAUSE = 0.005


class Turn(Shown):
    """A task's ownership of a mutex. It ends when the task sets ``is_over``."""

    def __init__(self) -> None:
        self.is_over = False

    def _facts(self) -> str:
        return "over" if self.is_over else "not over"


class Mutex(Shown):
    """A lock that one task at a time holds.

    Unlike with a lock of ``threading``, a waiting task does not block its event loop. Unlike with a
    lock of ``asyncio``, tasks may be in different event loops. In a forked process the mutex is
    free.

    Python can raise KeyboardInterrupt when a function is called or returns. At the beginning of
    ``__aexit__``, it would leave the mutex held forever. Python cannot raise it while an attribute
    is stored, so a turn ends by storing an attribute::

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
        """Wait until no other task holds the mutex, and acquire it."""
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
