"""The list of known failures in Firefox, in docs/browsers.md.

It names tests that run in Firefox. If a listed test passes, the run fails.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY

HARNESS = REPOSITORY / "tests" / "browser" / "harness"
pytestmark = pytest.mark.fast

#: A test that passes, one that fails, and one that is not listed.
TESTS = """
import pytest

@pytest.mark.parametrize("how", ["a", "b"])
def test_listed(how):
    assert how == "a"

def test_all_of_it():
    assert False

def test_other():
    pass
"""
CONFTEST = f"""
import sys
sys.path.insert(0, {str(HARNESS)!r})
from known_failures import expect_failures, known_failures

def pytest_collection_modifyitems(items):
    with open("list.md") as file:
        text = file.read()
    expect_failures(items, known_failures(text))
"""


def listed() -> dict[str, str]:
    sys.path.insert(0, str(HARNESS))
    try:
        from known_failures import known_failures
    finally:
        sys.path.remove(str(HARNESS))
    return dict(known_failures())


def functions(file: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_list_names_tests_that_run_in_firefox() -> None:
    assert listed()
    for name, reason in listed().items():
        path, _, function = name.partition("::")
        found = functions(REPOSITORY / path).get(function.partition("[")[0].removesuffix("@main"))
        assert found is not None, name
        marks = [ast.unparse(mark) for mark in found.decorator_list]
        source = (REPOSITORY / path).read_text(encoding="utf-8")
        whole_file = [line for line in source.splitlines() if line.startswith("pytestmark = ")]
        assert any("mark.firefox" in mark for mark in [*marks, *whole_file]), name
        assert len(reason.split()) > 3, name


@pytest.mark.parametrize(
    ("rows", "result"),
    [
        (["test_listed[b]", "test_all_of_it"], {"passed": 2, "xfailed": 2}),
        (["test_listed", "test_all_of_it"], {"passed": 1, "xfailed": 2, "failed": 1}),
        (["test_listed[b]"], {"passed": 2, "xfailed": 1, "failed": 1}),
    ],
    ids=["right", "one passes", "one is not listed"],
)
def test_a_listed_test_has_to_fail(tmp_path: Path, rows: list[str], result: dict[str, int]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(TESTS)
    table = [f"| `tests/test_some.py::{row}` | fails for a good reason |" for row in rows]
    (tmp_path / "list.md").write_text("\n".join(table) + "\n")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    last = finished.stdout.splitlines()[-1]
    assert {kind: int(count) for count, kind in re.findall(r"(\d+) ([a-z]+)", last)} == result
