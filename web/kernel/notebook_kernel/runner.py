"""Runs the code of cells and of `browsergpu.run`; both share one namespace."""

import ast
import asyncio
import builtins
import json
import sys
import time
import types
from typing import Any

from pyodide.code import CodeRunner

from . import channel, completion, display, outputs, tracebacks, waiting

GRAPHICS = "matplotlib.pyplot"
# How long an interrupted run may take to clean up when the interrupt struck the event loop.
GRACE_SECONDS = 1.0


class Runner:
    """The interpreter behind the page. It runs one request at a time; the page keeps the queue."""

    def __init__(self, interruption: Any) -> None:
        self._interruption = interruption
        module = types.ModuleType("__main__")
        module.__dict__["display"] = display.display
        # Pickle, dataclasses and typing look names up in sys.modules["__main__"].
        sys.modules["__main__"] = module
        self.namespace = module.__dict__
        self._task: asyncio.Task[Any] | None = None
        self._given_up: asyncio.Future[None] | None = None
        loop: Any = asyncio.get_event_loop()
        loop._keyboard_interrupt_handler = self._stop

    async def run(self, run_id: int, name: str, code: str) -> str:
        """Run `code` and return, as JSON, how it ended: `_success` and `_failure` say which fields.

        `name` stands for a file name in tracebacks. Exceptions of the code, KeyboardInterrupt
        included, are part of the answer and are not raised.
        """
        shown = outputs.begin(run_id)
        task = self._task = asyncio.ensure_future(self._evaluate(name, code))
        given_up = self._given_up = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        try:
            await asyncio.wait((task, given_up), return_when=asyncio.FIRST_COMPLETED)
            ending = task.result() if task.done() else _failure(KeyboardInterrupt())
        except (asyncio.CancelledError, KeyboardInterrupt):
            ending = _failure(KeyboardInterrupt())
        finally:
            self._task = self._given_up = None
            given_up.cancel()
            shown.close()
        return json.dumps({**ending, "seconds": time.perf_counter() - started})

    def _stop(self) -> None:
        """KeyboardInterrupt left a callback of the event loop: the code's own, or the loop's.

        In the second case the step of a task is lost, and the task can never end.
        """
        given_up = self._given_up
        if given_up is not None and self.cancel():
            asyncio.get_event_loop().call_later(GRACE_SECONDS, _resolve, given_up)

    async def _evaluate(self, name: str, code: str) -> dict[str, Any]:
        try:
            self._interruption.listen()
            value = await _run(code, name, self.namespace)
            _show_figures()
            return _success(value)
        except asyncio.CancelledError as cancelled:
            return _failure(KeyboardInterrupt().with_traceback(cancelled.__traceback__))
        except BaseException as error:
            return _failure(error)
        finally:
            self._interruption.ignore()

    def cancel(self) -> bool:
        """Interrupt a run that awaits something; False if there is none."""
        return self._task is not None and self._task.cancel()

    def complete(self, before: str) -> str:
        """Completions for the code before the cursor, as JSON."""
        return json.dumps(completion.complete(before, self.namespace))

    def active_run(self) -> int | None:
        """The run that the code that calls this belongs to; None before the first."""
        shown = outputs.active()
        return None if shown is None else shown.run_id

    def status(self) -> str:
        """GPU memory that arrays and backends hold, as JSON."""
        from . import graphics_memory

        return json.dumps(graphics_memory.in_use())

    def gpu_unfinished(self) -> int:
        """How much work the GPUs have not done yet; what is recorded begins."""
        from . import graphics_memory

        return graphics_memory.unfinished()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _run(code: str, name: str, namespace: dict[str, Any]) -> Any:
    runner = CodeRunner(
        code,
        filename=name,
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    return await runner.compile().run_async(namespace)


def _success(value: Any) -> dict[str, Any]:
    if value is None:
        return {"ok": True, "repr": "", "data": None, "metadata": {}}
    data, metadata = display.mime_bundle(value)
    text = value if isinstance(value, str) else repr(value)
    return {"ok": True, "repr": text, "data": outputs.limited(data), "metadata": metadata}


def _failure(error: BaseException) -> dict[str, Any]:
    told = tracebacks.report(error)
    return {
        "ok": False,
        "name": told.name,
        "message": told.message,
        "traceback": told.trimmed,
        "full": told.full,
    }


def _show_figures() -> None:
    pyplot = sys.modules.get(GRAPHICS)
    if pyplot is not None:
        pyplot.show()


def _no_input(prompt: object = "") -> str:
    raise RuntimeError(
        "input() is not available in this notebook; put the value into a variable in a cell"
    )


def start(post: Any, interruption: Any) -> Runner:
    """Connect the interpreter to its page. Call once, before any other Python runs."""
    channel.connect(post)
    waiting.install(interruption)
    sys.stdout = outputs.Stream("stdout")
    sys.stderr = outputs.Stream("stderr")
    builtins.input = _no_input
    return Runner(interruption)
