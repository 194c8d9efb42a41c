"""Whose turn it is: what is recorded on arrays is for one thread at a time, and no thread keeps the
others from it while it waits for the GPU. In a page there is one thread, and nobody asks."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from operator import methodcaller
from typing import Any, TypeVar
from weakref import WeakSet

F = TypeVar("F", bound=Callable[..., Any])
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

#: Of RLock, what ``threading.Condition`` lets go of it with.
_let_go = methodcaller("_release_save")


def exclusive(function: F) -> F:
    """Have a function take the turn while it runs, as all must that look at what is recorded.

    Functions that call each other may all be exclusive: a thread takes the turn more than once. One
    that calls a function of the user's must not be, as that may wait for another thread. In a page
    this does nothing.
    """
    return function if sys.platform == "emscripten" else _taking(function)


def _taking(function: F) -> F:
    made: Any
    rank = _count(function)
    # Of one or two operands: arguments that are packed and unpacked cost as much as the turn.
    if rank == 1:

        def made(x: Any, /) -> Any:
            with TURN:
                return function(x)

    elif rank == 2:

        def made(a: Any, b: Any, /) -> Any:
            with TURN:
                return function(a, b)

    else:

        def made(*args: Any, **options: Any) -> Any:
            with TURN:
                return function(*args, **options)

    return wraps(function)(made)  # type: ignore[return-value]


def _count(function: Callable[..., Any]) -> int | None:
    """How many parameters a function has that nobody gives by name; None for others and for more
    than two."""
    known = signature(function).parameters.values()
    is_operator = function.__name__.startswith("__") and function.__name__.endswith("__")
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)[: 1 + is_operator]
    plain = all(one.kind in kinds and one.default is Parameter.empty for one in known)
    return len(known) if plain and len(known) <= 2 else None


def in_others_turn(work: Callable[[], T]) -> T:
    """Call a function while the others may have the turn, however often this thread has taken it.

    Each step is one call of a function in C, before or after which an interrupt may come, and not
    within: the turn is this thread's again in every case.
    """
    if not TURN._is_owned():
        return work()
    states: list[Any] = []
    let_go = map(_let_go, (TURN,))
    take_again = map(TURN._acquire_restore, states)
    run = deque[Any](maxlen=0).extend
    try:
        states.extend(let_go)
        return work()
    finally:
        run(take_again)
