"""Whose turn it is: what is recorded on arrays is for one thread at a time, and no thread keeps the
others from it while it waits for the GPU. In a page there is one thread, and nobody asks."""

from __future__ import annotations

import threading
import types
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

#: Held by the thread whose turn it is.
TURN = threading.RLock()


@contextmanager
def others_turn() -> Iterator[None]:
    """The others' turn meanwhile, however often this thread has taken it."""
    # Of RLock, what threading.Condition lets go of it with.
    lock: Any = TURN
    state = lock._release_save() if lock._is_owned() else None
    try:
        yield
    finally:
        if state is not None:
            lock._acquire_restore(state)


@types.coroutine
def in_turn(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """A coroutine that has the turn whenever it runs, and not while it is suspended."""
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
