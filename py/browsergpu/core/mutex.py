"""A lock for tasks, whatever threads and event loops they are in."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future

from browsergpu.core.showing import Shown
from browsergpu.core.turns import new_lock, renew_in_forks


class Mutex(Shown):
    """``async with mutex:`` is a block that one task at a time is in.

    A task that waits for it does not block its event loop, as a lock of ``threading`` would, and
    may be in another event loop than the task in the block, which a lock of ``asyncio`` refuses.
    Tasks take their turns in the order in which they asked; a cancelled task has none. In a forked
    process the mutex is free.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._is_held = False
        self._waiting: deque[Future[None]] = deque()
        renew_in_forks(self)

    async def __aenter__(self) -> None:
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return
            turn: Future[None] = Future()
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            if not turn.cancel():  # the turn had come already
                self._pass_on()
            raise

    async def __aexit__(self, *exc_info: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._is_held = False

    def _at_fork_reinit(self) -> None:
        self._is_held = False
        self._waiting.clear()

    def _facts(self) -> str:
        return "held" if self._is_held else "free"
