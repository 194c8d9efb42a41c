"""Blocking waits that the Interrupt button can end.

Pyodide's `run_sync` suspends Python until a promise settles, and the interrupt buffer is only
looked at while Python runs. So every blocking wait can also be ended by an interruption.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pyodide.ffi
import pyodide.webloop


def install(interruption: Any) -> None:
    """Make `run_sync`, and with it `time.sleep`, end with KeyboardInterrupt when asked to.

    `interruption` is the Interruption of interruption.js. Code that imports `run_sync` after
    this call gets the interruptible one.
    """
    blocking = pyodide.ffi.run_sync

    def run_sync(awaitable: Awaitable[Any]) -> Any:
        """Block until `awaitable` is done and return its result."""
        task = asyncio.ensure_future(awaitable)
        # Only "it is done" goes through JavaScript: result and exception stay as they are.
        waiting = interruption.wait()
        try:
            task.add_done_callback(lambda _task: waiting.done())
            blocking(waiting.promise)
        finally:
            waiting.end()
        if waiting.interrupted:
            task.cancel()
            raise KeyboardInterrupt
        return task.result()

    pyodide.ffi.run_sync = run_sync
    pyodide.webloop.run_sync = run_sync
