"""Dawn's compiler accepts the subgroup-matrix kernels, which no software GPU can run.

Dawn has a backend without a GPU that offers every feature. It checks WGSL, overrides, bindings and
workgroup memory when a pipeline is created.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from browsergpu.engine.gpu.native import private
from browsergpu.engine.gpu.native.engine import DAWN, _load
from browsergpu.engine.kernels.base.family import Kernel
from browsergpu.engine.kernels.matmul import gemm_f16
from browsergpu.engine.kernels.table import KERNELS
from browsergpu.engine.kernels.text import shaders

wgpudawn = pytest.importorskip("wgpudawn")

FEATURES = ["subgroups", "shader-f16", "chromium-experimental-subgroup-matrix"]
CASES = [
    (kernel, name)
    for kernel in KERNELS.values()
    if "subgroup_matrix" in shaders.load(kernel.shader)
    for name in kernel.configurations
]
#: Bytes of workgroup memory that the null backend offers, fewer than some kernels need.
OFFERED = 16_384
TOO_MANY = re.compile(r"total use of workgroup storage \((\d+) bytes\)")


@pytest.fixture(scope="module")
def device() -> Any:
    dawn = _load(DAWN)  # with the engine's options, one of which allows experimental features
    assert dawn is not None
    every = private.every_adapter(dawn.api)
    assert every is not None
    (adapter,) = (one for one in every() if one.info.get("backend_type") == "Null")
    return adapter.request_device_sync(required_features=FEATURES)


def workgroup_bytes(device: Any, kernel: Kernel, text: str, constants: dict[str, int]) -> int:
    """Return the workgroup memory of a pipeline in bytes, if it exceeds the device's."""
    module = device.create_shader_module(code=text)
    stage = {"module": module, "entry_point": kernel.entry_point, "constants": constants}
    try:
        device.create_compute_pipeline(layout="auto", compute=stage)
    except wgpudawn.GPUValidationError as error:
        found = TOO_MANY.search(str(error))
        if found is None:
            raise
        return int(found[1])
    return 0


@pytest.mark.parametrize(("kernel", "name"), CASES, ids=lambda x: getattr(x, "name", x))
def test_a_kernel_of_subgroup_matrices(device: Any, kernel: Kernel, name: str) -> None:
    text, left = shaders.to_compile(kernel.shader, kernel.configurations[name], immediates=False)
    found = workgroup_bytes(device, kernel, text, left)
    if "attention_matrix" not in kernel.shader:
        (tile,) = (one for one in gemm_f16.MATRIX_TILES if f"matrix{one.rows}" in kernel.name)
        is_quantized = kernel.shader == "quantized_matrix.wgsl"
        is_turned = tile.reads_turned if is_quantized else name.startswith("turned")
        nbytes = tile.nbytes(is_turned)
        assert found == (nbytes if nbytes > OFFERED else 0)


def test_a_mistake_is_found(device: Any) -> None:
    kernel = KERNELS["gemm_f16_matrix64"]
    text, left = shaders.to_compile(kernel.shader, kernel.configurations[""], immediates=False)
    with pytest.raises(wgpudawn.GPUValidationError, match="b_too"):
        workgroup_bytes(device, kernel, text.replace("b_to +", "b_too +"), left)
