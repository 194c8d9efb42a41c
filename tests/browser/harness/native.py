"""The in-page tests outside a browser, on the machine's GPU or a software GPU.

``$BROWSERGPU_NATIVE`` selects the engine, "dawn" or "wgpu"; python3 tests/run.py --native sets it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Coroutine, Generator, Iterable
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType, ModuleType
from typing import Any

import pytest

from runner.vulkan import software_gpu

ENGINE = os.environ.get("BROWSERGPU_NATIVE", "")

_PAGE_ONLY = {"js", "pyodide", "pyodide_js", "micropip"}
_NO_CANVAS = "canvases exist only in web pages"


def prepare() -> None:
    """Make the package use the engine, and a software GPU unless a driver was selected."""
    if "VK_DRIVER_FILES" in os.environ:  # a driver was selected
        os.environ["BROWSERGPU_ENGINE"] = ENGINE
    else:
        os.environ |= software_gpu(ENGINE)
    if ENGINE == "dawn":
        _zero_by_loops()
    from browsergpu.engine.gpu.platform import block_on

    # Tests use this to wait for coroutines. The rest of the pyodide module exists only in a page.
    pyodide, ffi = ModuleType("pyodide"), ModuleType("pyodide.ffi")
    ffi.__dict__["run_sync"] = lambda coroutine: block_on(_in_a_task(coroutine), "test")
    sys.modules |= {"pyodide": pyodide, "pyodide.ffi": ffi}
    _keep_settings_apart()
    _watch_turns()


async def _in_a_task(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's coroutine as Pyodide does, as a task: timeouts need one."""
    return await asyncio.ensure_future(coroutine)


def _zero_by_loops() -> None:
    """Make Dawn zero workgroup memory in a loop: SwiftShader compiles Vulkan's way slowly.

    See chromium.py.
    """
    from browsergpu.engine.gpu.native import engine

    engine.TOGGLES_OFF.append("use_vulkan_zero_initialize_workgroup_memory_extension")


def _keep_settings_apart() -> None:
    """Keep tuning results apart from other test processes and from the user's results."""
    from browsergpu.engine.gpu.native import settings

    folder = TemporaryDirectory(prefix="browsergpu-tests-")
    atexit.register(folder.cleanup)
    settings._folder = lambda: Path(folder.name)


def _watch_turns() -> None:
    """Make the package assert that a thread has the turn when it accesses recorded operations.

    Every public call must take the turn (``exclusive`` in core/turns.py). A function that forgets
    to then fails in every test, instead of only when two threads meet in it.
    """
    from browsergpu.arrays import reduce
    from browsergpu.arrays.lazy.node import Node
    from browsergpu.arrays.lazy.trace import Trace, Tracer
    from browsergpu.arrays.value import Value
    from browsergpu.arrays.views.aliases import ViewGroup

    for owner in (Trace, Tracer, Node, ViewGroup):
        for name, found in list(vars(owner).items()):
            if isinstance(found, FunctionType) and name not in _NEED_NO_TURN:
                setattr(owner, name, _watched(found))
    Value.__init__ = _watched(Value.__init__)  # another array holds the node
    reduce.memory_view = _watched(reduce.memory_view)


#: Methods that create or show an object.
_NEED_NO_TURN = {"__init__", "__repr__", "_facts"}


def _watched(function: FunctionType) -> Any:
    from browsergpu.engine.core.turns import TURN

    def call(*args: Any, **options: Any) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("browsergpu.") and not TURN._is_owned():
            raise AssertionError(f"{caller} calls {function.__qualname__} without the turn")
        return function(*args, **options)

    # The package looks for the user's line among the callers, so this frame must not look like one.
    own = FunctionType(
        call.__code__, {**globals(), "__name__": "browsergpu.watched"}, closure=call.__closure__
    )
    return wraps(function)(own)


def leave_out(items: list[pytest.Item], folder: Path) -> None:
    """Remove all tests outside the folder: only tests for inside the page run here."""
    items[:] = [item for item in items if folder in item.path.parents]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test that needs JavaScript as skipped: it can only run in the page."""
    report = yield
    if report.failed and call.excinfo is not None and _wants_a_page(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: it needs a page")
    return report


def _wants_a_page(error: BaseException) -> bool:
    return any(
        (isinstance(one, ImportError) and (one.name or "").split(".")[0] in _PAGE_ONLY)
        or _NO_CANVAS in str(one)
        for one in _with_causes(error)
    )


def _with_causes(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
