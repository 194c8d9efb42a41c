"""The turn: a lock that threads hold while they record operations.

No thread holds it while it waits for the GPU. In a page there is only one thread, and the lock is
not used.
"""

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
    """Return an RLock that is free in a forked process.

    Code that it guards raises an error in the forked process instead of waiting forever.
    """
    lock = threading.RLock()
    renew_in_forks(lock)
    return lock


def renew_in_forks(lock: Any) -> None:
    """Have a lock's ``_at_fork_reinit()`` called in forked processes."""
    _locks.add(lock)


def _free_all() -> None:
    for lock in _locks:
        lock._at_fork_reinit()  # as modules of the standard library do


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)

#: The lock of the thread that records.
TURN = new_lock()

#: The method of RLock by which ``threading.Condition`` releases it.
_let_go = methodcaller("_release_save")


def exclusive(function: F) -> F:
    """Make a function hold the turn while it runs.

    Every function that reads or changes recorded operations needs it. Exclusive functions can call
    each other, since the lock is reentrant. A function that calls user code must not be exclusive,
    because that code may wait for another thread. In a page this does nothing.
    """
    return function if sys.platform == "emscripten" else _taking(function)


def _taking(function: F) -> F:
    made: Any
    rank = _count(function)
    # Fixed signatures for up to three parameters: packing and unpacking arguments costs as much as
    # the lock.
    if rank == 1:

        def made(x: Any, /) -> Any:
            with TURN:
                return function(x)

    elif rank == 2:

        def made(a: Any, b: Any, /) -> Any:
            with TURN:
                return function(a, b)

    elif rank == 3:

        def made(a: Any, b: Any, c: Any, /) -> Any:
            with TURN:
                return function(a, b, c)

    else:

        def made(*args: Any, **options: Any) -> Any:
            with TURN:
                return function(*args, **options)

    return wraps(function)(made)  # type: ignore[return-value]


def _count(function: Callable[..., Any]) -> int | None:
    """Return the number of parameters of a function, if all are positional and at most three.

    Return None for other functions. Only operators may have positional-or-keyword parameters.
    """
    known = signature(function).parameters.values()
    is_operator = function.__name__.startswith("__") and function.__name__.endswith("__")
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)[: 1 + is_operator]
    plain = all(one.kind in kinds and one.default is Parameter.empty for one in known)
    return len(known) if plain and len(known) <= 3 else None


def in_others_turn(work: Callable[[], T]) -> T:
    """Call a function while other threads may hold the turn.

    The turn is released completely and acquired again afterwards. Each step is a single call of a C
    function. An interrupt can come before or after it but not within, so this thread always gets
    the turn back.
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
