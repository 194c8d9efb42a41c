"""Whose turn it is: what is recorded on arrays is for one thread at a time, and no thread keeps the
others from it while it waits for the GPU. In a page there is one thread, and nobody asks."""

from __future__ import annotations

import os
import threading
import types
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """An RLock that is free in a forked process, whoever held it: what is locked by it is refused
    there, by an error instead of a wait without end."""
    lock = threading.RLock()
    renew_in_forks(lock)
    return lock


def renew_in_forks(lock: Any) -> None:
    """Has a lock's ``_at_fork_reinit()`` called in forked processes."""
    _locks.add(lock)


def _free_all() -> None:
    for lock in _locks:
        lock._at_fork_reinit()  # as Python's own modules do


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)

#: Held by the thread whose turn it is.
TURN = new_lock()


@contextmanager
def others_turn() -> Iterator[None]:
    """The others' turn meanwhile, however often this thread has taken it."""
    # Of RLock, what threading.Condition lets go of it with.
    state = TURN._release_save() if TURN._is_owned() else None
    try:
        yield
    finally:
        if state is not None:
            TURN._acquire_restore(state)


async def in_turn(coroutine: Coroutine[Any, Any, T]) -> T:
    """A coroutine that has the turn whenever it runs, and not while it is suspended."""
    return await _stepped(coroutine)


@types.coroutine
def _stepped(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    step, value = coroutine.send, None
    while True:
        try:
            with TURN:
                asked = step(value)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            step, value = coroutine.send, (yield asked)
        except BaseException as error:
            step, value = coroutine.throw, error
