"""Waiting for coroutines from plain Python, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_here = threading.local()
_ours: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


def can_block() -> bool:
    """Whether :func:`block_on` can wait here: outside a browser always."""
    return True


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Waits for a coroutine; ``op`` and ``instead`` are for where that cannot be."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _loop().run_until_complete(coroutine)
    # A loop cannot wait for itself: a notebook's, or ours while what it runs waits in turn.
    with ThreadPoolExecutor(1, thread_name_prefix="browsergpu") as beside:
        return beside.submit(_run, coroutine).result()


async def without_the_loop(work: Callable[[], T]) -> T:
    """Does work that blocks; a loop that is not one of ours goes on meanwhile."""
    if asyncio.get_running_loop() in _ours:
        return work()
    return await asyncio.to_thread(work)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(coroutine)


def _loop() -> asyncio.AbstractEventLoop:
    """This thread's, which runs while something is waited for."""
    if getattr(_here, "loop", None) is None:
        _here.loop = _new_loop()
    loop: asyncio.AbstractEventLoop = _here.loop
    return loop


def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    _ours.add(loop)
    return loop
