"""Waiting for coroutines from synchronous Python, even while an event loop runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, TypeVar

from browsergpu.engine.core.turns import in_others_turn
from browsergpu.engine.gpu.coroutines import rest_of
from browsergpu.engine.gpu.native.worker import WORKER, beside

T = TypeVar("T")

_here = threading.local()


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that runs during a wait.

    ``is_timed`` is set if it has timers, such as a timeout's. ``is_shared`` is set if it has other
    callbacks to run.
    """

    is_timed = False
    is_shared = False

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback, as every event loop does."""
        self.is_shared = True
        return super().call_soon(callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Schedule a timer, as every event loop does."""
        self.is_timed = self.is_shared = True
        return super().call_at(when, callback, *args, context=context)


def can_block() -> bool:
    """Return whether :func:`block_on` can wait here: always, outside a browser."""
    return True


def are_waiting() -> bool:
    """Return False. Tasks can only wait in :func:`block_on` beside others in a browser."""
    return False


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Wait for a coroutine, or for a task of the same thread, and return its result.

    ``op`` and ``instead`` are only used in a browser, where waiting may be impossible.
    """
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
    """Run a coroutine and return its result, without a task if it waits for no future.

    asyncio keeps all tasks in a weak set, whose Python callback loses a KeyboardInterrupt that
    comes while it runs.
    """
    asyncio._set_running_loop(loop)
    try:
        while (waited_for := coroutine.send(None)) is None and not loop.is_shared:
            pass
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        asyncio._set_running_loop(None)
    return loop.run_until_complete(rest_of(coroutine, waited_for))


def _beside(coroutine: Coroutine[Any, Any, T]) -> T:
    """Wait in another thread, because an event loop cannot wait for itself.

    This applies to a notebook's loop, and to our own if its coroutine blocks again. An interrupt
    ends the wait but not the thread's work.
    """
    return in_others_turn(beside(partial(copy_context().run, _run, coroutine)))


async def without_the_loop(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread, so that the event loop goes on.

    One of our own loops without timers has nothing else to run, so the function runs directly.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, _Loop) and not loop.is_timed:
        return in_others_turn(work)
    return await asyncio.to_thread(work)


def _abandon(loop: _Loop) -> None:
    """Discard a loop that was interrupted at any point, with its remaining tasks."""
    _here.loop = None
    if asyncio._get_running_loop() is loop:
        asyncio._set_running_loop(None)
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # a coroutine that awaits while being closed
            task.get_coro().close()
    with suppress(RuntimeError):  # a loop that was interrupted while running
        loop.close()


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)


def _loop() -> _Loop:
    """Return the event loop of this thread."""
    if getattr(_here, "loop", None) is None:
        _here.loop = WORKER.do(_Loop)  # an incomplete loop could not be closed
    loop: _Loop = _here.loop
    return loop
