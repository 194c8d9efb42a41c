"""Outside a browser, an interrupt at any point is neither lost nor harmful.

:mod:`tests.unit.test_native_interrupts` sends signals at random times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here"),
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the points are CPython 3.11's"),
]


def say(engine: str, program: str, argument: str) -> str:
    """Return what a program prints."""
    folders = os.pathsep.join([str(ROOT / "py"), str(ROOT / "tests" / "unit")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore:coroutine:RuntimeWarning", "-m", program, argument],
        env=os.environ | software_gpu(engine) | {"PYTHONPATH": folders},
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize("engine", ["wgpu", pytest.param("dawn", marks=pytest.mark.all)])
@pytest.mark.parametrize("place", ["script", "loop"])
def test_work_is_interrupted_at_every_point(engine: str, place: str) -> None:
    """Each interrupt raises KeyboardInterrupt in the program; later results are right."""
    assert say(engine, "interrupts.working", place) == "done\n"


@pytest.mark.all
@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_opening_is_interrupted_at_many_points(engine: str) -> None:
    """The GPU can still be opened afterwards, and computes."""
    assert say(engine, "interrupts.opening", "20") == "done\n"
