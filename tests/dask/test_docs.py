"""The programs of docs/scale.md and of the Dask tutorial run on a software GPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]


def output(page: str, environment: dict[str, str], folder: Path) -> str:
    """Run the Python blocks of a page as one script and return what they print."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    script = folder / "program.py"
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | environment, capture_output=True, text=True, timeout=450, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_of_the_guide(environment: dict[str, str], tmp_path: Path) -> None:
    found = float(output("scale.md", environment, tmp_path))
    assert found == pytest.approx(1 / 12, rel=0.01)


def test_the_program_of_the_tutorial(environment: dict[str, str], tmp_path: Path) -> None:
    lines = output("tutorials/scaling.md", environment, tmp_path).splitlines()
    found = {name: float(value) for name, _, value in (line.partition(": ") for line in lines)}
    expected = {"in pieces": 1 / 3, "with Dask": 1 / 3, "variance": 1 / 12}
    assert found == pytest.approx(expected, rel=0.01)
