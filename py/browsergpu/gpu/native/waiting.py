"""Waiting for coroutines from plain Python, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any, TypeVar

from browsergpu.core.turns import in_turn, others_turn

T = TypeVar("T")

_here = threading.local()


class _Loop(asyncio.SelectorEventLoop):
    """One that runs while something is waited for. ``is_timed``: something is to happen in it at a
    certain time, as the end of a timeout."""

    is_timed = False

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As an event loop does."""
        self.is_timed = True
        return super().call_at(when, callback, *args, context=context)


def can_block() -> bool:
    """Whether :func:`block_on` can wait here: outside a browser always."""
    return True


def are_waiting() -> bool:
    """Whether a task waits in :func:`block_on` while this one runs: in a browser alone one may."""
    return False


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Waits for a coroutine; ``op`` and ``instead`` are for where that cannot be."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        loop = _loop()
    else:
        # A loop cannot wait for itself: a notebook's, or ours while what it runs waits in turn.
        with others_turn(), ThreadPoolExecutor(1, thread_name_prefix="browsergpu") as beside:
            return beside.submit(copy_context().run, _run, in_turn(coroutine)).result()
    loop.is_timed = False
    return loop.run_until_complete(coroutine)


async def without_the_loop(work: Callable[[], T]) -> T:
    """Does work that blocks; a loop goes on meanwhile, unless it is one of ours without timers."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, _Loop) and not loop.is_timed:
        with others_turn():
            return work()
    return await asyncio.to_thread(work)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)


def _loop() -> _Loop:
    """This thread's."""
    if getattr(_here, "loop", None) is None:
        _here.loop = _Loop()
    loop: _Loop = _here.loop
    return loop
