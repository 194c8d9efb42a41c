"""The program of docs/scale.md, as it stands, on a GPU in software."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]


def test_the_program_of_the_docs(environment: dict[str, str], tmp_path: Path) -> None:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | environment, capture_output=True, text=True, timeout=450, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(1 / 12, rel=0.01)
