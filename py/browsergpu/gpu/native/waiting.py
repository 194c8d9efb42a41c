"""Waiting for coroutines from plain Python, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeVar

from browsergpu.core.turns import in_others_turn
from browsergpu.gpu.native.worker import WORKER, beside

T = TypeVar("T")

_here = threading.local()


class _Loop(asyncio.SelectorEventLoop):
    """One that runs while something is waited for. ``is_timed``: something is to happen in it at a
    certain time, as the end of a timeout; ``is_shared``: something else is to run in it."""

    is_timed = False
    is_shared = False

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """As an event loop does."""
        self.is_shared = True
        return super().call_soon(callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As an event loop does."""
        self.is_timed = self.is_shared = True
        return super().call_at(when, callback, *args, context=context)


def can_block() -> bool:
    """Whether :func:`block_on` can wait here: outside a browser always."""
    return True


def are_waiting() -> bool:
    """Whether a task waits in :func:`block_on` while this one runs: in a browser alone one may."""
    return False


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Waits for a coroutine, or for a task of the same thread; ``op`` and ``instead`` are for where
    that cannot be."""
    loop = None
    try:
        if asyncio._get_running_loop() is not None:
            return _beside(coroutine)
        loop = _loop()
        loop.is_timed = loop.is_shared = False
        if asyncio.isfuture(coroutine):
            return loop.run_until_complete(coroutine)
        return copy_context().run(_driven, loop, coroutine)
    except Exception:
        raise
    except BaseException:
        if loop is not None:
            _abandon(loop)
            if not asyncio.isfuture(coroutine):
                coroutine.close()
        raise


def _driven(loop: _Loop, coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives. One that waits for no future needs no task: the set of all tasks
    has a callback in Python, which loses a Ctrl-C that comes while it runs."""
    asyncio._set_running_loop(loop)
    try:
        while (waited_for := coroutine.send(None)) is None and not loop.is_shared:
            pass
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        asyncio._set_running_loop(None)
    return loop.run_until_complete(_rest(coroutine, waited_for))


async def _rest(coroutine: Coroutine[Any, Any, T], waited_for: Any) -> T:
    """Goes on with a coroutine that waits for a future."""
    if waited_for is not None:
        with suppress(Exception, asyncio.CancelledError):  # the future raises it again
            await _waiting_for(waited_for)
    return await _going_on(coroutine)


@types.coroutine
def _waiting_for(future: Any) -> Generator[Any, Any, None]:
    yield future


@types.coroutine
def _going_on(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    # ``await`` refuses a coroutine that waits already.
    return (yield from coroutine)  # type: ignore[no-any-return]


def _beside(coroutine: Coroutine[Any, Any, T]) -> T:
    """Waits in another thread: a loop cannot wait for itself, a notebook's, or ours while what it
    runs waits in turn. An interrupt ends the wait, and not what the thread does."""
    return in_others_turn(beside(partial(copy_context().run, _run, coroutine)))


async def without_the_loop(work: Callable[[], T]) -> T:
    """Does work that blocks; a loop goes on meanwhile, unless it is one of ours without timers."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, _Loop) and not loop.is_timed:
        return in_others_turn(work)
    return await asyncio.to_thread(work)


def _abandon(loop: _Loop) -> None:
    """Forgets a loop that an interrupt has cut off anywhere, with the tasks that are left in it."""
    _here.loop = None
    if asyncio._get_running_loop() is loop:
        asyncio._set_running_loop(None)
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # of one that waits although it is closed
            task.get_coro().close()
    with suppress(RuntimeError):  # of one that was cut off while it was running
        loop.close()


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)


def _loop() -> _Loop:
    """This thread's."""
    if getattr(_here, "loop", None) is None:
        _here.loop = WORKER.do(_Loop)  # half of one could not be closed
    loop: _Loop = _here.loop
    return loop
