"""Blocking waits that the Interrupt button can end.

Pyodide's `run_sync` suspends Python until a promise settles, and Python polls the interrupt buffer
only while it runs. So an interruption must also end every blocking wait.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pyodide.ffi
import pyodide.webloop


def install(interruption: Any) -> None:
    """Make `run_sync`, and thereby `time.sleep`, raise KeyboardInterrupt when interrupted.

    `interruption` is the Interruption of interruption.js. Code that imports `run_sync` after this
    call gets the interruptible one.
    """
    blocking = pyodide.ffi.run_sync

    def run_sync(awaitable: Awaitable[Any]) -> Any:
        """Block until `awaitable` is done and return its result."""
        if isinstance(awaitable, pyodide.ffi.JsPromise):
            return _promised(awaitable)
        task = asyncio.ensure_future(awaitable)
        # JavaScript only learns that it is done. Result and exception stay unchanged.
        waiting = interruption.wait()
        try:
            task.add_done_callback(lambda _task: waiting.done())
            blocking(waiting.settled())
        finally:
            waiting.end()
        if waiting.interrupted:
            task.cancel()
            raise KeyboardInterrupt
        return task.result()

    def _promised(promise: Any) -> Any:
        # Pyodide blocks on what a function returns in a third of the time that it takes for an
        # attribute, or for a task.
        waiting = interruption.wait(promise)
        try:
            result = blocking(waiting.settled())
        except Exception:
            if waiting.interrupted:
                raise KeyboardInterrupt from None
            raise
        finally:
            waiting.end()
        if waiting.interrupted:
            raise KeyboardInterrupt
        return result

    pyodide.ffi.run_sync = run_sync
    pyodide.webloop.run_sync = run_sync
