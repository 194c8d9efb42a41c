"""Test files run on several workers, some of which die."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY

CONFTEST = """
from runner.scheduling import FileScheduling

def pytest_xdist_make_scheduler(config, log):
    return FileScheduling(config, log)
"""
PASSING = "def test_a(): pass\n"
#: Replacement workers collect their tests for three seconds.
SLOW_TO_COLLECT = """
import os, time

def pytest_collection_modifyitems():
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") not in {"gw0", "gw1"}:
        time.sleep(3)
"""


def crashing(seconds: float) -> str:
    """Return a test file whose second test ends the worker after ``seconds``.

    A worker that ends immediately loses the result of the previous test.
    """
    return f"""
import os, time
{PASSING}
def test_crash(): time.sleep({seconds}) or os._exit(1)
def test_b(): pass
"""


CRASHING = crashing(0.5)
HANGING = f"""
import time
{PASSING}
def test_hang(): time.sleep(600)
def test_b(): pass
"""


def run(folder: Path, workers: int, files: list[str], conftest: str = CONFTEST) -> str:
    """Run test files with the given contents and return pytest's output."""
    (folder / "conftest.py").write_text(conftest)
    for n, content in enumerate(files):
        (folder / f"test_{n}.py").write_text(content)
    (folder / "pytest.ini").write_text(
        "[pytest]\nfaulthandler_timeout = 6\nfaulthandler_exit_on_timeout = true\n"
    )
    command = [
        sys.executable, "-m", "pytest", "-n", str(workers), "--dist", "loadfile",
        "--no-loadscope-reorder", "-p", "no:cacheprovider",
    ]  # fmt: skip
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    environment["PYTHONPATH"] = str(REPOSITORY / "tools")
    found = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    return found.stdout


@pytest.mark.parametrize(("workers", "place"), [(1, 0), (1, 2), (2, 1)])
def test_the_rest_runs_after_a_crash(tmp_path: Path, workers: int, place: int) -> None:
    files = [PASSING] * 4
    files[place] = CRASHING
    printed = run(tmp_path, workers, files)
    assert "1 failed, 5 passed" in printed
    assert f"test_{place}.py::test_crash" in printed


def test_each_crash_is_a_failure(tmp_path: Path) -> None:
    printed = run(tmp_path, 2, [CRASHING, PASSING, CRASHING])
    assert "2 failed, 5 passed" in printed


@pytest.mark.all
def test_a_crash_while_another_worker_collects(tmp_path: Path) -> None:
    files = [crashing(0.5), crashing(2.5), PASSING, PASSING]
    printed = run(tmp_path, 2, files, CONFTEST + SLOW_TO_COLLECT)
    assert "2 failed, 6 passed" in printed


@pytest.mark.all
def test_a_test_that_hangs_is_named(tmp_path: Path) -> None:
    printed = run(tmp_path, 1, [PASSING, HANGING, PASSING])
    assert "1 failed, 4 passed" in printed
    assert "crashed while running 'test_1.py::test_hang'" in printed
