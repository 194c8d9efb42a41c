"""The in-page tests outside a browser, on the machine's GPU or a software GPU.

``$BROWSERGPU_NATIVE`` is the engine, "dawn" or "wgpu"; python3 tests/run.py --native sets it.
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
    """Have the package use the engine, and a software GPU unless told otherwise."""
    if "VK_DRIVER_FILES" in os.environ:  # a driver that was chosen
        os.environ["BROWSERGPU_ENGINE"] = ENGINE
    else:
        os.environ |= software_gpu(ENGINE)
    if ENGINE == "dawn":
        _zero_by_loops()
    from browsergpu.gpu.platform import block_on

    # How tests wait for coroutines; whatever else they want of Pyodide is a page's.
    pyodide, ffi = ModuleType("pyodide"), ModuleType("pyodide.ffi")
    ffi.__dict__["run_sync"] = lambda coroutine: block_on(_in_a_task(coroutine), "test")
    sys.modules |= {"pyodide": pyodide, "pyodide.ffi": ffi}
    _keep_settings_apart()
    _watch_turns()


async def _in_a_task(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's coroutine as Pyodide does: timeouts, for one, need a task."""
    return await asyncio.ensure_future(coroutine)


def _zero_by_loops() -> None:
    """See chromium.py: SwiftShader is slow to compile Vulkan's way of zeroing workgroup memory."""
    from browsergpu.gpu.native import engine

    engine.TOGGLES_OFF.append("use_vulkan_zero_initialize_workgroup_memory_extension")


def _keep_settings_apart() -> None:
    """Keep tuning results away from other processes of the tests, and from the user's."""
    from browsergpu.gpu.native import settings

    folder = TemporaryDirectory(prefix="browsergpu-tests-")
    atexit.register(folder.cleanup)
    settings._folder = lambda: Path(folder.name)


def _watch_turns() -> None:
    """Have the package assert that a thread which looks at what is recorded has the turn.

    Whatever users call must take it (``exclusive`` in core/turns.py). A function that forgets to
    fails here each time, and not only where two threads meet in it.
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
    Value.__init__ = _watched(Value.__init__)  # an array more holds the node
    reduce.memory_view = _watched(reduce.memory_view)


#: What makes an object, or shows it.
_NEED_NO_TURN = {"__init__", "__repr__", "_facts"}


def _watched(function: FunctionType) -> Any:
    from browsergpu.core.turns import TURN

    def call(*args: Any, **options: Any) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("browsergpu.") and not TURN._is_owned():
            raise AssertionError(f"{caller} calls {function.__qualname__} without the turn")
        return function(*args, **options)

    # Lines of the user's code are looked up among the callers: this frame must not be one of them.
    own = FunctionType(
        call.__code__, {**globals(), "__name__": "browsergpu.watched"}, closure=call.__closure__
    )
    return wraps(function)(own)


def leave_out(items: list[pytest.Item], folder: Path) -> None:
    """Only what runs inside a page otherwise runs here."""
    items[:] = [item for item in items if folder in item.path.parents]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that asks for JavaScript is one of the page alone."""
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
