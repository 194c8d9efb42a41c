"""Models with weights in a page: their results beside onnxruntime's on the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.bare import BarePage
from harness.lab import Lab

from onnx_suite.packages import unpacked
from runner.vulkan import software_gpu

ROOT = Path(__file__).resolve().parents[2]
AGREEMENT = ROOT / "tools" / "onnx_suite" / "agreement.py"
TOLERANCE = 1e-3

pytestmark = [
    pytest.mark.all,  # downloads 80 MB, and takes minutes
    pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here"),
]

_COMPARE = """
import io, json, sys, time
import numpy as np
import js, pyodide_js
import browsergpu as bg
from browsergpu.engine.gpu import content

sys.path.insert(0, "/suite")
from agreement import compare

def heap():
    return pyodide_js._module.HEAP8.length

case = json.loads({case!r})
with np.load(io.BytesIO(await content.fetch("/expected/" + case["arrays"]))) as arrays:
    inputs = {{name[2:]: x for name, x in arrays.items() if name.startswith("in")}}
    wanted = [arrays[f"out{{at}}"] for at in range(case["results"])]
began, before = time.perf_counter(), heap()
model = bg.onnx.load(f"{{js.location.origin}}/models/{{case['model']}}")
loaded, after = time.perf_counter(), heap()
worst, reads = compare(model, inputs, wanted)
[worst, reads, loaded - began, time.perf_counter() - loaded, before, after, heap()]
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BarePage, list[Any]]]:
    """A page that has the package, and the cases."""
    packages = unpacked(ROOT / ".cache" / "onnx")
    target = tmp_path_factory.mktemp("expected")
    path = os.pathsep.join(map(str, (ROOT / "py", ROOT / "tools", packages)))
    environment = os.environ | software_gpu("dawn") | {"PYTHONPATH": path}
    subprocess.run(
        [sys.executable, "-m", "onnx_suite.models", str(packages), "--expected", str(target)],
        env=environment, check=True, timeout=600,
    )  # fmt: skip
    cases = json.loads((target / "cases.json").read_text(encoding="utf-8"))
    lab = Lab({"/models/": packages, "/expected/": target})
    try:
        with lab.page_with_the_package("worker") as bare:
            bare.write_files({"/suite/agreement.py": AGREEMENT.read_text(encoding="utf-8")})
            yield bare, cases
    finally:
        lab.close()


@pytest.mark.parametrize("part", ["silero_vad", "magika", "rapidocr", "basic_pitch"])
def test_models_with_weights(bare: tuple[BarePage, list[Any]], part: str) -> None:
    page, cases = bare
    chosen = [one for one in cases if one["model"].startswith(part)]
    assert chosen
    for case in chosen:
        found = page.run(_COMPARE.format(case=json.dumps(case)), timeout=900)
        print(case["model"], found)
        worst, reads = found[:2]
        assert worst <= TOLERANCE, case["model"]
        assert reads == 0, case["model"]
