"""The tests that each mode of tests/run.py selects by marker, and where they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from runner.stages import ALL, DEFAULT, FAST, INSIDE, Stage

# A pytest plugin that writes the markers of each collected test.
TELL = """
import json
import os

def pytest_collection_finish(session):
    found = {item.nodeid: sorted({mark.name for mark in item.iter_markers()})
             for item in session.items}
    with open(os.environ["MARKS"], "w") as file:
        json.dump(found, file)
"""

pytestmark = pytest.mark.all  # collects all tests: 10 s

Marks = dict[str, set[str]]


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Marks:
    """The markers of all tests."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "tell_marks.py").write_text(TELL)
    told = folder / "marks.json"
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "tell_marks"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(folder), "MARKS": str(told)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-2000:]
    return {name: set(found) for name, found in json.loads(told.read_text()).items()}


def chosen(stage: Stage, marks: Marks) -> set[str]:
    """Return the tests that a stage runs."""
    arguments = list(stage.arguments)
    expression = arguments[arguments.index("-m") + 1] if "-m" in arguments else "True"
    # A pytest marker expression is also a Python expression.
    names = ("fast", "native", "all", "firefox", "random_programs")
    return {
        test
        for test, found in marks.items()
        if (INSIDE not in arguments or is_inside(test))
        and eval(expression, {name: name in found for name in names})
    }


def is_inside(test: str) -> bool:
    return Path(INSIDE) in Path(test.partition("::")[0]).parents


def test_each_test_that_is_not_for_all_runs_in_one_place_by_default(marks: Marks) -> None:
    places = [chosen(stage, marks) for stage in DEFAULT]
    assert set.union(*places) == {test for test, found in marks.items() if "all" not in found}
    assert sum(map(len, places)) == len(set.union(*places))
    assert all(places)


def test_all_runs_each_test_and_each_in_page_test_on_both_engines(marks: Marks) -> None:
    inside = {test for test in marks if is_inside(test)}
    found = {stage.name: chosen(stage, marks) for stage in ALL}
    assert found["pytest"] == set(marks)
    assert found["pytest, on dawn"] == found["pytest, on wgpu"] == inside
    assert {test.partition("[")[0] for test in found["10,000 random programs"]} == {
        "tests/browser/inside/arrays/test_programs.py::test_random_programs"
    }


def test_all_runs_the_marked_tests_in_firefox(marks: Marks) -> None:
    (in_firefox,) = (chosen(stage, marks) for stage in ALL if stage.needs_firefox)
    folders = {Path(test.partition("::")[0]).parent.as_posix() for test in in_firefox}
    inside = {INSIDE, f"{INSIDE}/arrays", f"{INSIDE}/gradients"}
    assert inside <= folders
    assert {folder for folder in folders if not folder.startswith(INSIDE)} == {"tests/browser"}


def test_fast_tests_run_in_the_same_place_by_default(marks: Marks) -> None:
    (fast,), (here, _outside) = FAST, DEFAULT
    assert chosen(fast, marks) <= chosen(here, marks)
    assert {is_inside(test) for test in chosen(fast, marks)} == {True, False}


def test_only_in_page_tests_are_native(marks: Marks) -> None:
    native = [test for test, found in marks.items() if "native" in found]
    assert [test for test in native if not is_inside(test)] == []
