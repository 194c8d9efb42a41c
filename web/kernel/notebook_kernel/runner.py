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


class Runner:
    """The interpreter behind the page. It runs one request at a time; the page keeps the queue."""

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        module.__dict__["display"] = display.display
        # Pickle, dataclasses and typing look names up in sys.modules["__main__"].
        sys.modules["__main__"] = module
        self.namespace = module.__dict__
        self._task: asyncio.Task[Any] | None = None

    async def run(self, run_id: int, name: str, code: str) -> str:
        """Run `code` and return, as JSON, how it ended: `_success` and `_failure` say which fields.

        `name` stands for a file name in tracebacks. Exceptions of the code, KeyboardInterrupt
        included, are part of the answer and are not raised.
        """
        shown = outputs.begin(run_id)
        self._task = asyncio.ensure_future(self._evaluate(name, code))
        started = time.perf_counter()
        try:
            ending = await self._task
        except (asyncio.CancelledError, KeyboardInterrupt):
            ending = _failure(KeyboardInterrupt())
        finally:
            self._task = None
            shown.close()
        return json.dumps({**ending, "seconds": time.perf_counter() - started})

    async def _evaluate(self, name: str, code: str) -> dict[str, Any]:
        try:
            value = await _run(code, name, self.namespace)
            _show_figures()
            return _success(value)
        except asyncio.CancelledError as cancelled:
            return _failure(KeyboardInterrupt().with_traceback(cancelled.__traceback__))
        except BaseException as error:
            return _failure(error)

    def cancel(self) -> bool:
        """Interrupt a run that awaits something; False if there is none."""
        return self._task is not None and self._task.cancel()

    def complete(self, before: str) -> str:
        """Completions for the code before the cursor, as JSON."""
        return json.dumps(completion.complete(before, self.namespace))

    def status(self) -> str:
        """GPU memory that the namespace's backends hold, as JSON."""
        from . import graphics_memory

        return json.dumps(graphics_memory.in_use())


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
    return Runner()
