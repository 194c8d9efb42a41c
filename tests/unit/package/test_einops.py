"""einops accepts arrays in either order of imports. Each test runs in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.fast

PY = Path(__file__).resolve().parents[3] / "py"

BEFORE = "import einops, browsergpu as bg; bg.use(bg.Device.of_nothing())"
AFTER = "import browsergpu as bg; bg.use(bg.Device.of_nothing()); import einops"
LATE = """
import sys
import browsergpu as bg
bg.use(bg.Device.of_nothing())
bg.zeros(3)
assert "einops" not in sys.modules
import einops
"""


@pytest.mark.parametrize("imports", [BEFORE, AFTER, LATE])
def test_arrays_are_known(imports: str) -> None:
    code = f"{imports}\nassert einops.rearrange(bg.zeros((2, 3)), 'h w -> w h').shape == (3, 2)"
    environment = os.environ | {"PYTHONPATH": str(PY)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600, env=environment)
