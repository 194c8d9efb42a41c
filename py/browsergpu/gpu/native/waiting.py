"""Waiting for coroutines from plain Python, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_own = threading.local()


def can_block() -> bool:
    """Whether :func:`block_on` can wait here: outside a browser always."""
    return True


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Waits for a coroutine; ``op`` and ``instead`` are for where that cannot be."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _loop().run_until_complete(coroutine)
    # A notebook's loop runs in this thread, and cannot wait for itself.
    return asyncio.run_coroutine_threadsafe(coroutine, _beside()).result()


async def without_the_loop(work: Callable[[], T]) -> T:
    """Does work that blocks; a loop that is not one of ours goes on meanwhile."""
    running = asyncio.get_running_loop()
    if running is getattr(_own, "loop", None) or (_is_beside(running)):
        return work()
    return await asyncio.to_thread(work)


def _loop() -> asyncio.AbstractEventLoop:
    """This thread's, which runs while something is waited for."""
    if getattr(_own, "loop", None) is None:
        _own.loop = asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = _own.loop
    return loop


@cache
def _beside() -> asyncio.AbstractEventLoop:
    """One that runs for ever, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="browsergpu").start()
    return loop


def _is_beside(loop: asyncio.AbstractEventLoop) -> bool:
    return _beside.cache_info().currsize > 0 and loop is _beside()
