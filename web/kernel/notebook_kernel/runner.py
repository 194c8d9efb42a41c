"""Runs the code of cells and of `browsergpu.run`; both share one namespace."""

import asyncio
import json
import signal
import sys
import time
import types
from typing import Any

from . import asking, channel, completion, documentation, outputs, packages, tracebacks, waiting
from .outline import Outline
from .shell import make_shell

# How long an interrupted run may take to clean up when the interrupt struck the event loop.
GRACE_SECONDS = 1.0
# What the event loop runs between the steps of tasks.
LOOP_PACKAGES = ("asyncio", "contextvars", "pyodide", "_pyodide", __name__.partition(".")[0])


class Runner:
    """The interpreter behind the page. It runs one request at a time; the page keeps the queue."""

    def __init__(self, interruption: Any, finder: packages.SitePackages) -> None:
        self._interruption = interruption
        self._finder = finder
        # Pickle, dataclasses and typing look names up in sys.modules["__main__"].
        self._shell = make_shell(types.ModuleType("__main__"))
        self.namespace = self._shell.user_ns
        self._outline = Outline()
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
            result = await self._shell.run(name, code)
            self._shell.after_run(result)
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                raise error
            await packages.finish_installations()
            return _success(result.result, wanted=not self._shell.in_cell)
        except asyncio.CancelledError as cancelled:
            return _failure(KeyboardInterrupt().with_traceback(cancelled.__traceback__))
        except BaseException as error:
            return _failure(error)
        finally:
            self._interruption.ignore()

    def imported_by(self, code: str) -> str:
        """The packages that `code` needs and that are not loaded yet, as JSON."""
        return json.dumps(self._finder.imported_by(self._shell.as_python(code)))

    def not_loaded(self, names: str, reason: str) -> None:
        """Take note why the packages, a JSON list, could not be loaded: imports will say so."""
        for name in json.loads(names):
            self._finder.failed(name, reason)

    def in_cell(self) -> bool:
        """Whether the running code is a cell's."""
        return self._shell.in_cell

    def interrupt(self, _signal: int, frame: types.FrameType | None) -> None:
        """Handle the signal of the page: raise KeyboardInterrupt, but not in the event loop's code.

        The exception would lose the callback that the loop was about to call: what a task or
        blocked code waits for would never come.
        """
        if not _in_event_loop(frame):
            raise KeyboardInterrupt
        if not self._interruption.endWaits():
            self.cancel()

    def cancel(self) -> bool:
        """Interrupt a run that awaits something; False if there is none."""
        return self._task is not None and self._task.cancel()

    def complete(self, before: str, after: str, by_analysis: bool) -> str:
        """Completions at the cursor, as JSON: from the interpreter, or by jedi, which is loaded."""
        if by_analysis:
            from . import analysis

            return json.dumps(analysis.complete(before, after, self.namespace))
        return json.dumps(completion.complete(before, self.namespace, self._shell.magics()))

    def describe(self, before: str, after: str, by_analysis: bool) -> str:
        """Signature and documentation at the cursor, as JSON; as `complete`."""
        if by_analysis:
            from . import analysis

            return json.dumps(analysis.describe(before, after, self.namespace))
        return json.dumps(documentation.describe(before, after, self.namespace))

    def outline(self) -> str:
        """What the variables are, as JSON, as far as it was not told before."""
        return json.dumps(self._outline.news(self.namespace))

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


def _in_event_loop(frame: types.FrameType | None) -> bool:
    """Whether all Python that `frame` is part of is the event loop's or the kernel's own."""
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if frame.f_code is Runner._evaluate.__code__ or package not in LOOP_PACKAGES:
            return False
        frame = frame.f_back
    return True


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _success(value: Any, wanted: bool) -> dict[str, Any]:
    """The fields of a run that ended well; `wanted`: its value as text, which cells do not need."""
    if value is None or not wanted:
        return {"ok": True, "repr": ""}
    return {"ok": True, "repr": value if isinstance(value, str) else repr(value)}


def _failure(error: BaseException) -> dict[str, Any]:
    told = tracebacks.report(error)
    return {
        "ok": False,
        "name": told.name,
        "message": told.message,
        "traceback": told.shown,
        "full": told.full,
        "shortened": told.shortened,
    }


def start(post: Any, interruption: Any, answers: Any, load: Any) -> Runner:
    """Connect the interpreter to its page. Call once, before any other Python runs."""
    channel.connect(post)
    waiting.install(interruption)
    sys.stdout = outputs.Stream("stdout")
    sys.stderr = outputs.Stream("stderr")
    outputs.poked = interruption.reaches
    signal.signal(signal.SIGALRM, outputs.flush_all)
    packages.watch_installations()
    runner = Runner(interruption, packages.install_finder(load))
    signal.signal(signal.SIGINT, runner.interrupt)
    asking.install(answers, runner.in_cell)
    return runner
