"""No kernel stores bools in workgroup memory.

naga generates code for them that gives wrong values on NVIDIA GPUs. Software GPUs do not show the
error.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from browsergpu.engine.core.element_types import BOOL
from browsergpu.engine.gpu.native.compiling import has_workgroup_bools
from browsergpu.engine.kernels.fused.operations import overload
from browsergpu.engine.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    reduction,
)
from browsergpu.engine.kernels.fused.source import leaf
from runner.vulkan import software_gpu

pytestmark = pytest.mark.fast

SHADERS = Path(__file__).resolve().parents[2] / "shaders"
#: A program that treats the GPU as NVIDIA's if its argument is "nvidia".
WITH_BOOLS = """
import sys
from browsergpu import TensorBackend, WasmBackend
from browsergpu.engine.gpu.native import compiling

if sys.argv[1] == "nvidia":
    compiling.workgroup_bools_are_wrong = lambda device: True
shader = '''
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
var<workgroup> seen: array<bool, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) at: u32) {
  seen[at] = true;
  workgroupBarrier();
  y[at] = u32(seen[63u - at]);
}
'''
with WasmBackend(warm_up=False) as backend:
    backend.init()
    tensors = TensorBackend(backend)
    y = tensors.alloc_tensor((64,), "u32")
    tensors.dispatch_compute(shader, [y], None, 1)
    print(sum(tensors.read_tensor(y)))
"""


def test_bools_are_found() -> None:
    assert has_workgroup_bools("var<workgroup> seen: array<bool, 4>;")
    assert has_workgroup_bools("alias Kept = vec4<bool>;\nvar<workgroup> seen: array<Kept, 4>;")
    assert has_workgroup_bools(
        "struct One { yes: bool, n: u32 }\nvar<workgroup> seen: array<One, 4>;"
    )
    assert has_workgroup_bools("var < workgroup, > seen: array<bool, 4>;")
    assert not has_workgroup_bools("alias Four = vec4<bool>;\nvar<workgroup> seen: array<u32, 4>;")


@pytest.mark.parametrize("path", sorted(SHADERS.rglob("*.wgsl")), ids=lambda path: path.name)
def test_of_a_file(path: Path) -> None:
    assert not has_workgroup_bools(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("division", [ROWS, ALIGNED_ROWS, FOUR_COLUMNS, COLUMNS])
@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_of_a_generated_reduction(name: str, division: str) -> None:
    made = overload(name, (BOOL, BOOL))
    assert made is not None
    code = reduction((leaf(BOOL),), "W", 1, division != ROWS, made.number, division, False).code
    assert "var<workgroup>" in code
    assert not has_workgroup_bools(code)


@pytest.mark.skipif(sys.platform != "linux", reason="software GPUs are Linux's here")
@pytest.mark.parametrize("gpu", ["software", "nvidia"])
def test_custom_kernels_with_bools_are_refused_where_they_would_be_wrong(gpu: str) -> None:
    environment = os.environ | software_gpu("wgpu") | {"PYTHONPATH": str(SHADERS.parent / "py")}
    done = subprocess.run(
        [sys.executable, "-c", WITH_BOOLS, gpu],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if gpu == "software":
        assert done.stdout == "64\n", done.stderr
    else:
        assert "ShaderCompilation" in done.stderr
        assert "bool must not be in workgroup memory" in done.stderr
