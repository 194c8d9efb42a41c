"""Runs the code of cells and of `browsergpu.run` in one shared namespace."""

import asyncio
import contextvars
import json
import signal
import sys
import time
import types
from collections.abc import Awaitable, Callable
from typing import Any

from . import (
    after_import,
    asking,
    channel,
    comms,
    completion,
    documentation,
    figures,
    outputs,
    packages,
    screen,
    tracebacks,
    url_requests,
    waiting,
)
from .outline import Outline
from .shell import make_shell

# Time for an interrupted run to clean up, if the interrupt hit the event loop.
GRACE_SECONDS = 1.0
# Packages whose code the event loop runs between the steps of tasks.
LOOP_PACKAGES = ("asyncio", "contextvars", "pyodide", "_pyodide", __name__.partition(".")[0])
_POINTER = "browsergpu.functions.images.pointer"
_PAPER = "browsergpu.functions.images.paper"


class Runner:
    """The interpreter behind the page. It runs one request at a time; the page has the queue."""

    def __init__(self, interruption: Any, finder: packages.SitePackages) -> None:
        self._interruption = interruption
        self._finder = finder
        # Pickle, dataclasses and typing look up names in sys.modules["__main__"].
        self._shell = make_shell(types.ModuleType("__main__"))
        self.namespace = self._shell.user_ns
        self._outline = Outline()
        # Context variables that a cell sets last, as those of `decimal` or of gradients.
        self._context = contextvars.copy_context()
        self._task: asyncio.Task[Any] | None = None
        self._given_up: asyncio.Future[None] | None = None
        loop: Any = asyncio.get_event_loop()
        loop._keyboard_interrupt_handler = self._stop

    async def run(self, run_id: int, name: str, code: str, density: float, is_dark: bool) -> str:
        """Run `code` and return its result as JSON, with the fields of `_success` or `_failure`.

        `name` is the file name in tracebacks. `density` and `is_dark` describe the page's screen.
        Exceptions of the code, including KeyboardInterrupt, are part of the result and are not
        raised.
        """
        screen.look(density, is_dark)

        async def work() -> Any:
            result = await self._shell.run(name, code)
            self._shell.after_run(result)
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                raise error
            return result.result

        return await self._run(run_id, work)

    async def receive(self, run_id: int, message: str, buffers: Any) -> str:
        """Pass a message of the page to its widget, and return the result as `run` does."""

        async def work() -> None:
            self._shell.in_cell = False
            comms.receive(**json.loads(message), buffers=buffers.to_py())

        return await self._run(run_id, work)

    async def _run(self, run_id: int, work: Callable[[], Awaitable[Any]]) -> str:
        loop, context = asyncio.get_running_loop(), self._context.copy()
        shown = context.run(outputs.begin, run_id)
        task = self._task = loop.create_task(self._evaluate(work), context=context)
        given_up = self._given_up = loop.create_future()
        started = time.perf_counter()
        try:
            await asyncio.wait((task, given_up), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                self._context = context
                ending = task.result()
            else:
                ending = _failure(KeyboardInterrupt())  # a lost task may leave with blocks open
        except (asyncio.CancelledError, KeyboardInterrupt):
            ending = _failure(KeyboardInterrupt())
        finally:
            self._task = self._given_up = None
            given_up.cancel()
            shown.close()
        return json.dumps({**ending, "seconds": time.perf_counter() - started})

    def _stop(self) -> None:
        """End a run after KeyboardInterrupt left a callback of the event loop.

        The callback was the code's own, or the loop's. In the second case the step of a task is
        lost, and the task can never end.
        """
        given_up = self._given_up
        if given_up is not None and self.cancel():
            asyncio.get_event_loop().call_later(GRACE_SECONDS, _resolve, given_up)

    async def _evaluate(self, work: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        try:
            if self._interruption.listen():
                raise KeyboardInterrupt
            result = await work()
            await packages.finish_installations()
            return _success(result, wanted=not self._shell.in_cell)
        except asyncio.CancelledError as cancelled:
            return _failure(KeyboardInterrupt().with_traceback(cancelled.__traceback__))
        except BaseException as error:
            return _failure(error)
        finally:
            self._interruption.ignore()

    def imported_by(self, code: str) -> str:
        """Return the packages that `code` needs and that are not loaded yet, as JSON."""
        return json.dumps(self._finder.imported_by(self._shell.as_python(code)))

    def not_loaded(self, names: str, reason: str) -> None:
        """Store why the packages (a JSON list) could not be loaded, for the errors of imports."""
        for name in json.loads(names):
            self._finder.failed(name, reason)

    def in_cell(self) -> bool:
        """Whether the running code is a cell's."""
        return self._shell.in_cell

    def interrupt(self, _signal: int, frame: types.FrameType | None) -> None:
        """Handle the page's signal: raise KeyboardInterrupt, but not in the event loop's code.

        There, the exception would lose the callback that the loop was about to call. A task or
        blocked code that waits for it would then wait forever.
        """
        if not _in_event_loop(frame):
            raise KeyboardInterrupt
        if not self._interruption.endWaits():
            self.cancel()

    def cancel(self) -> bool:
        """Interrupt a run that awaits something. Return False if there is none."""
        return self._task is not None and self._task.cancel()

    def complete(self, before: str, after: str, by_analysis: bool) -> str:
        """Return completions at the cursor as JSON, from the interpreter or from jedi."""
        if by_analysis:
            from . import analysis

            return json.dumps(analysis.complete(before, after, self.namespace))
        return json.dumps(completion.complete(before, self.namespace, self._shell.magics()))

    def describe(self, before: str, after: str, by_analysis: bool) -> str:
        """Return signature and documentation at the cursor as JSON, like `complete`."""
        if by_analysis:
            from . import analysis

            return json.dumps(analysis.describe(before, after, self.namespace))
        return json.dumps(documentation.describe(before, after, self.namespace))

    def outline(self) -> str:
        """Return new information about the variables, as JSON."""
        return json.dumps(self._outline.news(self.namespace))

    def variables(self) -> str:
        """Return the user's variables with their sizes, as JSON."""
        from . import variables

        return json.dumps(variables.table(self.namespace, self._shell.user_ns_hidden))

    def arrays(self) -> str:
        """Return the arrays that keep GPU memory in use, as JSON."""
        from . import gpu_arrays

        shell = self._shell
        cells = self.namespace.get("In", [])
        return json.dumps(gpu_arrays.table(self.namespace, shell.user_ns_hidden, cells))

    def active_run(self) -> int | None:
        """Return the run that the calling code belongs to, None before the first run."""
        shown = outputs.active()
        return None if shown is None else shown.run_id

    def output_place(self) -> str:
        """Return the calling code's run and the Output widget that captures it, as one text.

        The page asks for each image, and one text is the cheapest answer.
        """
        shown = outputs.active()
        return "" if shown is None else f"{shown.run_id} {shown.widget or ''}"

    def know_owners(self) -> None:
        """Tell the package which run draws, so that it need not ask the page for each image."""
        sys.modules[_POINTER].know_owners(self.active_run)

    def forget_drawing(self, canvas: str, owner: int) -> None:
        """Drop the array and the `on_pointer` of a drawing that the page no longer shows."""
        for name in ("drawn", "pointer"):
            module = sys.modules.get(f"browsergpu.functions.images.{name}")
            if module is not None:
                module.forget(canvas, owner)

    async def value_at(self, canvas: str, owner: int, x: float, y: float) -> str:
        """Return the text for a position on a drawing, or ""."""
        drawn = sys.modules.get("browsergpu.functions.images.drawn")
        return "" if drawn is None else str(await drawn.value_at(canvas, owner, x, y))

    def status(self) -> str:
        """Return the GPU memory of arrays and backends, as JSON."""
        from . import graphics_memory

        return json.dumps(graphics_memory.in_use())

    def gpu_unfinished(self) -> int:
        """Submit recorded work and return the number of unfinished dispatches."""
        from . import gpu_work

        return gpu_work.unfinished()


def _in_event_loop(frame: types.FrameType | None) -> bool:
    """Whether all Python code of `frame` is the event loop's or the kernel's."""
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if frame.f_code is Runner._evaluate.__code__ or package not in LOOP_PACKAGES:
            return False
        frame = frame.f_back
    return True


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _know_theme() -> None:
    """Tell the package which theme the page has."""
    sys.modules[_PAPER].know_theme(lambda: screen.is_dark)


def _success(value: Any, wanted: bool) -> dict[str, Any]:
    """Return the fields of a successful run. `wanted`: include the value's text, not for cells."""
    if value is None or not wanted:
        return {"ok": True, "repr": ""}
    return {"ok": True, "repr": value if isinstance(value, str) else repr(value)}


def _failure(error: BaseException) -> dict[str, Any]:
    return {"ok": False, **tracebacks.fields(error)}


def start(post: Any, interruption: Any, answers: Any, load: Any) -> Runner:
    """Connect the interpreter to its page. Call once, before any other Python runs."""
    channel.connect(post)
    waiting.install(interruption)
    url_requests.install()
    sys.stdout = outputs.Stream("stdout")
    sys.stderr = outputs.Stream("stderr")
    outputs.poked = interruption.reaches
    signal.signal(signal.SIGALRM, outputs.flush_all)
    packages.watch_installations()
    comms.install()
    figures.install()
    runner = Runner(interruption, packages.install_finder(load))
    after_import.call(_POINTER, runner.know_owners)
    after_import.call(_PAPER, _know_theme)
    signal.signal(signal.SIGINT, runner.interrupt)
    asking.install(answers, runner.in_cell)
    return runner
