"""The harness detects the problems that it must detect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness import in_page_source, problems
from harness.bare import KERNELS, BarePage, PythonFailed
from harness.lab import Lab
from harness.site import urls_of_test_wheels

pytestmark = [pytest.mark.all, pytest.mark.provokes_errors]

_OPEN_DEVICE = """
from js import Object, navigator
from pyodide.code import run_js
from pyodide.ffi import to_js

adapter = await navigator.gpu.requestAdapter()
device = await adapter.requestDevice()
"""


_ASK = """async () => {
  const adapter = await navigator.gpu.requestAdapter();
  const asked = adapter.requestDevice({ requiredFeatures: ["subgroups"] });
  return [
    [...adapter.features],
    [...navigator.gpu.wgslLanguageFeatures],
    "setImmediates" in GPUComputePassEncoder.prototype,
    await asked.then(() => "given", (error) => error.name),
    [...(await adapter.requestDevice()).features],
  ];
}"""


def test_a_plain_webgpu_has_no_extras(lab: Lab) -> None:
    found: list[str] = []
    page = lab.new_page(found.append)
    BarePage(page, lab.site_url, "main", "plain")
    features, language, immediates, subgroups, own = page.evaluate(_ASK)
    assert "core-features-and-limits" in features
    for feature in features + own:
        assert not feature.startswith(("shader-f16", "subgroup", "timestamp", "chromium"))
    assert "pointer_composite_access" in language
    assert "immediate_address_space" not in language
    assert not immediates
    assert subgroups == "TypeError"
    assert found == []
    page.context.close()


@pytest.fixture(scope="module", params=KERNELS)
def shared(request: pytest.FixtureRequest, lab: Lab) -> Iterator[tuple[BarePage, list[str]]]:
    """A page with Pyodide, shared by the tests of one kernel, and the problems it reports."""
    found: list[str] = []
    bare = lab.new_bare_page(found.append, request.param)
    bare.boot(["micropip"])
    yield bare, found
    bare.page.context.close()


@pytest.fixture
def bare(shared: tuple[BarePage, list[str]]) -> BarePage:
    return shared[0]


@pytest.fixture
def found(shared: tuple[BarePage, list[str]]) -> list[str]:
    """The shared page's problems since the start of the test."""
    shared[1].clear()
    return shared[1]


def test_webgpus_errors_are_problems(bare: BarePage, found: list[str]) -> None:
    bare.run(_OPEN_DEVICE)
    assert found == []
    bare.run("""
        options = to_js({"size": 7, "usage": 0}, dict_converter=Object.fromEntries)
        device.createBuffer(options)
        await device.queue.onSubmittedWorkDone()
    """)
    bare.wait_until(
        lambda: any("GPUValidationError" in problem for problem in found), what="the problem"
    )
    with pytest.raises(AssertionError, match=r"reported [12] problem"):
        problems.assert_none(found)


def test_console_errors_are_problems(bare: BarePage, found: list[str]) -> None:
    bare.run("import js; js.console.log('fine'); js.console.error('not fine')")
    bare.wait_until(lambda: any("not fine" in problem for problem in found), what="the problem")
    assert sum("fine" in problem for problem in found) == 1


def test_page_errors_are_problems(
    new_bare_page: Callable[[str], BarePage], page_problems: list[str]
) -> None:
    bare = new_bare_page("main")
    bare.page.evaluate("setTimeout(() => { throw new Error('thrown later') })")
    bare.wait_until(lambda: bool(page_problems), what="the problem")
    assert "thrown later" in page_problems[0]


def test_a_traceback_comes_through(bare: BarePage) -> None:
    with pytest.raises(PythonFailed, match="ZeroDivisionError"):
        bare.run("1 / 0")


def test_values_come_through(bare: BarePage) -> None:
    assert bare.run("{'a': [1, 2.5, None, 'x', True]}") == {"a": [1, 2.5, None, "x", True]}


_SUITE = """
import pytest
from hypothesis import given, strategies as st

def test_good(): pass
def test_bad(): assert 1 + 1 == 3
def test_skipped(): pytest.skip("a reason")
@pytest.fixture
def broken(): raise RuntimeError("in the fixture")
def test_broken(broken): pass
@pytest.fixture
def breaks_later():
    yield
    raise RuntimeError("after the test")
def test_breaks_later(breaks_later): pass
@given(st.integers())
def test_found(n): assert n < 100
"""


@pytest.mark.parametrize("shared", ["worker"], indirect=True)
def test_in_page_outcomes_are_reported(lab: Lab, bare: BarePage) -> None:
    bare.install(urls_of_test_wheels(lab.site_url), deps=False)
    bare.write_files(
        {
            "/suite/in_page.py": in_page_source(),
            "/suite/pytest.ini": "[pytest]\n",
            "/suite/test_sample.py": _SUITE,
            "/suite/test_broken_file.py": "import no_such_module\n",
        }
    )
    reports: dict[str, dict[str, Any]] = {}

    def note(text: str) -> None:
        report = json.loads(text)
        reports[report["nodeid"].partition("::")[2]] = report

    bare.on_report = note
    run = "import sys; sys.path.insert(0, '/suite'); import in_page; in_page.run([{}])"
    ended = bare.run(run.format("'test_sample.py'"))
    assert ended["code"] == 1
    outcomes = {name: report["outcome"] for name, report in reports.items()}
    assert outcomes == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_skipped": "skipped",
        "test_broken": "failed",
        "test_breaks_later": "failed",
        "test_found": "failed",
    }
    assert "1 + 1 == 3" in reports["test_bad"]["text"]
    assert "a reason" in reports["test_skipped"]["text"]
    assert "in the fixture" in reports["test_broken"]["text"]
    assert "after the test" in reports["test_breaks_later"]["text"]
    assert "n=100" in reports["test_found"]["text"]
    assert bare.run(run.format("'test_broken_file.py'"))["code"] == 2
    assert "no_such_module" in reports[""]["text"]
    assert bare.run(run.format("'test_sample.py::test_none'"))["code"] == 4


def test_python_that_never_ends_is_given_up(bare: BarePage) -> None:
    # The last test on the shared page, because its Python keeps running.
    with pytest.raises(TimeoutError, match="while True"):
        bare.run("while True: pass", timeout=2)
