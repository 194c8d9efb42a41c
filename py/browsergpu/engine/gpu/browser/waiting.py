"""Waiting from synchronous Python for coroutines, by JavaScript promise integration (JSPI)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, TypeVar

from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.gpu.browser import interop as _js
from browsergpu.engine.gpu.coroutines import rest_of

T = TypeVar("T")

#: Names of the operations that are waiting in :func:`block_on`.
_waits: list[str] = []


def are_waiting() -> bool:
    """Return whether another task is waiting in :func:`block_on`, within an operation."""
    return bool(_waits)


def block_on(coroutine: Coroutine[Any, Any, T], op: str, instead: str = "") -> T:
    """Wait for a coroutine, and return its result.

    Parameters
    ----------
    coroutine : coroutine
        The coroutine to run.
    op : str
        Name of the operation, for the error.
    instead : str, optional
        The alternative that the error names. By default the function with the suffix ``_async``.

    Raises
    ------
    Unsupported
        If Python cannot block: the browser lacks JSPI, or JavaScript called Python synchronously,
        as by ``runPython``.
    """
    if not can_block():
        coroutine.close()
        raise Unsupported(
            op,
            f"cannot block here; use {instead or f'`await {op}_async(...)`'}. Blocking needs a "
            "browser with JSPI (Chrome 137+, Firefox 153+, Safari 27+) and a call through "
            "runPythonAsync.",
        )
    _waits.append(op)
    try:
        return copy_context().run(_driven, coroutine)
    finally:
        _waits.remove(op)


class Settled:
    """Awaitable of a JavaScript promise, for which :func:`block_on` suspends Python once.

    A task of asyncio takes several turns of the browser's event loop for each promise, up to two
    milliseconds. In a task, this object is the future that the task waits for.
    """

    _asyncio_future_blocking = False

    def __init__(self, promise: Any) -> None:
        self._promise = promise
        self._future: asyncio.Future[Any] | None = None
        self._value: Any = None
        self._error: BaseException | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        self._asyncio_future_blocking = True
        yield self
        if self._future is not None:
            return self._future.result()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback holds this frame
        return self._value

    def wait(self) -> None:
        """Suspend Python until the promise is settled. ``await`` then gets its outcome."""
        try:
            self._value = _js.suspended(self._promise)
        except BaseException as error:
            self._error = error

    # What a task calls of the future that it waits for.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def add_done_callback(self, callback: Callable[..., object], *, context: Context) -> None:
        self._future = next(self._promise.__await__())
        self._future.add_done_callback(callback, context=context)

    def cancel(self, msg: Any = None) -> bool:
        return self._future is not None and self._future.cancel(msg)


def _driven(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result, without a task while it awaits promises.

    The outcome of a promise is not sent to the coroutine, because ``anext(iterator, default)`` does
    not pass it on.
    """
    try:
        while isinstance(awaited := coroutine.send(None), Settled):
            awaited.wait()
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    except BaseException:
        coroutine.close()  # an interrupt may come between two steps
        raise
    return _in_a_task(rest_of(coroutine, awaited))


def _in_a_task(coroutine: Coroutine[Any, Any, T]) -> T:
    values: list[T] = []
    errors: list[BaseException] = []
    _js.suspended(_collect(coroutine, values, errors))
    if errors:
        raise errors.pop()  # this frame must not hold it: its traceback holds the frame
    return values[0]


async def _collect(
    coroutine: Coroutine[Any, Any, T], values: list[T], errors: list[BaseException]
) -> None:
    """Append the coroutine's result or exception to a list.

    Neither passes through run_sync. JavaScript would hold a result until its garbage collection,
    with everything that a traceback refers to, and would never release an exception.
    """
    try:
        values.append(await coroutine)
    except BaseException as error:
        errors.append(error)


def can_block() -> bool:
    """Return whether :func:`block_on` can wait here."""
    return _js.can_suspend()


def load_package(name: str) -> bool:
    """Load a package of Pyodide's lock file. Returns whether it can be imported now.

    Returns False if Python cannot block here, or the site does not have the package.
    """
    return can_block() and block_on(_js.load_package(name), "load_package")
