"""Blocking waits that the Interrupt button can end.

Pyodide's `run_sync` suspends Python until a promise settles, and the interrupt buffer is only
looked at while Python runs. So every blocking wait is raced against an interruption.
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

    def wait(promise: Any) -> Any:
        try:
            return blocking(interruption.race(promise))
        except pyodide.ffi.JsException as error:
            if error.name != "KernelInterrupt":
                raise
        raise KeyboardInterrupt

    def run_sync(awaitable: Awaitable[Any]) -> Any:
        """Block until `awaitable` is done and return its result."""
        if isinstance(awaitable, pyodide.ffi.JsProxy):
            return wait(awaitable)
        task = asyncio.ensure_future(awaitable)
        # Only "it is done" goes through JavaScript: result and exception stay as they are.
        signal = interruption.signal()
        task.add_done_callback(lambda _task: signal.resolve())
        try:
            wait(signal.promise)
        except KeyboardInterrupt:
            task.cancel()
            raise
        return task.result()

    pyodide.ffi.run_sync = run_sync
    pyodide.webloop.run_sync = run_sync
