"""Host items for the tests of tests/browser/inside, which run inside Pyodide.

The host collects those files as pytest always does, so that names, parameters, -k and markers
mean the same on both sides. Then each function is replaced by an InsideItem. The first item of a
file starts *one* in-page pytest with all the chosen tests of that file; each item waits for its
own report and shows the in-page traceback if it failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error

from . import firefox, in_page_source, problems
from .bare import KERNELS, BarePage, PythonFailed
from .lab import Lab
from .patience import PATIENCE_S
from .site import urls_of_test_wheels

BROWSER_TESTS = Path(__file__).resolve().parent.parent
INSIDE = BROWSER_TESTS / "inside"
REPOSITORY = BROWSER_TESTS.parent.parent

# Environment variables that in-page tests see.
FORWARDED = (
    "CI", "BROWSERGPU_FUZZ_CALLS", "BROWSERGPU_FUZZ_GRADIENTS", "BROWSERGPU_FUZZ_PROGRAMS",
)  # fmt: skip

_INI = """[pytest]
addopts = --strict-markers
markers =
{markers}
"""

_RUN = """
import json, os, sys
os.environ.update(json.loads({environment!r}))
if "/suite" not in sys.path:
    sys.path.insert(0, "/suite")
import in_page
in_page.run(json.loads({arguments!r}))
"""


class InsideFailure(Exception):
    """An in-page test failed; the message is the in-page report."""


class InsideItem(pytest.Item):
    """One in-page test on one kernel ("worker" or "main")."""

    def __init__(self, *, function: pytest.Function, kernel: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inside_id = function.nodeid
        self.inside_path = function.path
        self.kernel = kernel
        self.keywords.update(dict.fromkeys(function.keywords, True))
        self.own_markers.extend(function.own_markers)

    def runtest(self) -> None:
        runner = self.config.stash[RUNNERS][self.kernel]
        report = runner.report_of(self)
        for title, content in report["sections"]:
            self.add_report_section("call", title, content)
        if report["outcome"] == "skipped":
            pytest.skip(report["text"])
        if report["outcome"] != "passed":
            raise InsideFailure(report["text"])
        if not (self._provokes() or (firefox.CHOSEN and self._follows_one_that_provokes())):
            problems.assert_none(report["problems"])

    def _provokes(self) -> bool:
        return self.get_closest_marker("provokes_errors") is not None

    def _follows_one_that_provokes(self) -> bool:
        """Firefox may tell of a shader's error after the test that provokes it has reported."""
        items = _items_beside(self)
        at = items.index(self)
        return at > 0 and items[at - 1]._provokes()

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, InsideFailure | TimeoutError | PythonFailed | AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"in page: {self.name}"


class Runner:
    """Runs in-page tests on one bare page, which it makes again after a hang or a crash."""

    def __init__(self, lab: Lab, kernel: str) -> None:
        self._lab = lab
        self._kernel = kernel
        self._bare: BarePage | None = None
        self._reports: dict[str, dict[str, Any]] = {}
        self._problems: list[str] = []
        self._running: int | None = None  # the call that runs the current batch
        self._last = ""  # the last test of that batch
        self._heard = 0.0

    def report_of(self, item: InsideItem) -> dict[str, Any]:
        """The report of an item's in-page test. The first item of a file starts all of them."""
        if item.inside_id not in self._reports:
            if self._running is None:
                self._start([other.inside_id for other in _items_from(item)])
            self._wait_for(item.inside_id)
        if item.inside_id == self._last:
            self._finish()
        return self._reports.pop(item.inside_id)

    def _start(self, inside_ids: list[str]) -> None:
        bare = self._ready_page()
        environment = {name: os.environ[name] for name in FORWARDED if name in os.environ}
        code = _RUN.format(environment=json.dumps(environment), arguments=json.dumps(inside_ids))
        self._heard = time.monotonic()
        self._last = inside_ids[-1]
        self._running = bare.start("run", code)

    def _wait_for(self, inside_id: str) -> None:
        self._wait(lambda: inside_id in self._reports, inside_id)
        if inside_id not in self._reports:
            ended = self._finish()
            raise InsideFailure(
                f"the in-page pytest ended without this test; exit code {ended['code']}\n"
                f"{ended['terminal']}"
            )

    def _finish(self) -> dict[str, Any]:
        """Wait for the end of the batch, whose tests have all reported."""
        self._wait(lambda: False, f"the end of the tests after {self._last}")
        assert self._bare is not None
        assert self._running is not None
        running, self._running = self._running, None
        ended: dict[str, Any] = self._bare.outcome(running)
        return ended

    def _wait(self, done: Callable[[], bool], what: str) -> None:
        """Wait until `done()` or the end of the batch, as long as reports keep coming."""
        bare, running = self._bare, self._running
        assert bare is not None
        assert running is not None

        def over() -> bool:
            return done() or bare.settled(running)

        def overdue() -> bool:
            return time.monotonic() > self._heard + PATIENCE_S

        try:
            bare.wait_until(lambda: over() or overdue(), timeout=float("inf"), what=what)
        except PythonFailed:
            self._abandon_page()
            raise
        if not over():
            self._abandon_page()
            raise TimeoutError(
                f"no in-page test ended within {PATIENCE_S:g} s, waiting for {what}; the page "
                "was closed, and the tests that follow run in a new one"
            )

    def _ready_page(self) -> BarePage:
        if self._bare is None:
            bare = self._lab.new_bare_page(self._problems.append, self._kernel)
            bare.on_report = self._note_report
            bare.boot(["numpy", "micropip"])
            bare.install(urls_of_test_wheels(self._lab.site_url), deps=False)
            bare.install([self._lab.wheel_url])
            bare.write_files(_suite_files())
            self._bare = bare
        return self._bare

    def _abandon_page(self) -> None:
        assert self._bare is not None
        with contextlib.suppress(Error):  # of a browser that has crashed
            self._bare.page.context.close()
        self._bare = None
        self._running = None

    def _note_report(self, text: str) -> None:
        report = json.loads(text)
        # What the page complained of since the last report belongs to this test.
        report["problems"] = self._problems[:]
        self._problems.clear()
        self._heard = time.monotonic()
        self._reports[report["nodeid"]] = report


RUNNERS = pytest.StashKey[dict[str, Runner]]()


def make_runners(lab: Lab) -> dict[str, Runner]:
    """A runner for each kernel; none starts anything before its first test."""
    return {kernel: Runner(lab, kernel) for kernel in KERNELS}


def replace_functions(items: list[pytest.Item]) -> None:
    """Replace the functions of tests/browser/inside by items that run them in the page.

    A file says where it runs with `pytestmark = pytest.mark.kernels("worker", "main")`; without
    the marker its tests run in a worker, as they do in the product's own page.
    """
    replaced: list[pytest.Item] = []
    for item in items:
        if not (isinstance(item, pytest.Function) and INSIDE in item.path.parents):
            replaced.append(item)
            continue
        marker = item.get_closest_marker("kernels")
        for kernel in marker.args if marker else ("worker",):
            name = item.name if kernel == "worker" else f"{item.name}@{kernel}"
            replaced.append(
                InsideItem.from_parent(item.parent, name=name, function=item, kernel=kernel)
            )
    items[:] = replaced


def _items_from(item: InsideItem) -> list[InsideItem]:
    """The items of the same file and kernel, from `item` on."""
    same = _items_beside(item)
    return same[same.index(item) :]


def _items_beside(item: InsideItem) -> list[InsideItem]:
    """The items of the same file and kernel."""
    return [
        other
        for other in item.session.items
        if isinstance(other, InsideItem)
        and (other.inside_path, other.kernel) == (item.inside_path, item.kernel)
    ]


def _suite_files() -> dict[str, str]:
    """The in-page suite, laid out as in the repository so that node ids agree."""
    files = {
        f"/suite/{path.relative_to(REPOSITORY).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(INSIDE.rglob("*.py"))
    }
    files["/suite/in_page.py"] = in_page_source()
    files["/suite/pytest.ini"] = _INI.format(
        markers="\n".join(f"    {marker}" for marker in _markers())
    )
    return files


def _markers() -> list[str]:
    """The markers that pyproject.toml registers, for pytest inside Pyodide."""
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        options = tomllib.load(file)["tool"]["pytest"]["ini_options"]
    return [str(marker) for marker in options["markers"]]
