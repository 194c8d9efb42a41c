"""Every shader compiles in every configuration; what does not compile is told with its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from browsergpu.kernels.table import KERNELS, RENDER_SHADERS
from browsergpu.kernels.variants import VARIANTS
from inside.shared import shared_backend

CONFIGURATIONS = [
    (kernel.name, configuration)
    for kernel in KERNELS.values()
    for configuration in kernel.configurations
]


def _begins(configuration: str, start: str) -> bool:
    return start in ("", configuration) or configuration.startswith((f"{start}_", f"{start} "))


def lacking(device: Any) -> set[tuple[str, str]]:
    """The kernels and configurations that need more than a device has."""
    able = {(v.kernel, v.configuration) for op in VARIANTS for v in device.variants.available(op)}
    every = {(v.kernel, v.configuration) for variants in VARIANTS.values() for v in variants}
    found = set()
    for kernel, configuration in CONFIGURATIONS:
        # Those of a variant begin with its own: "64", "64_relu" and "64 b"; of several, the
        # longest counts.
        starts = [start for of, start in every if of == kernel and _begins(configuration, start)]
        if starts and (kernel, max(starts, key=len)) not in able:
            found.add((kernel, configuration))
    return found


FILES = sorted({kernel.shader for kernel in KERNELS.values()} | RENDER_SHADERS)


@pytest.fixture(scope="module", params=["immediates, all features", "uniform ring, no features"])
def compiler(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A backend: how parameters come to its shaders, and which optional features it has of those
    that the browser offers."""
    from browsergpu import Device, WasmBackend

    if request.param == "immediates, all features":
        with shared_backend() as backend:  # which later files need not compile for
            yield backend
        return
    with (
        pytest.MonkeyPatch.context() as patch,
        WasmBackend(immediates=False, warm_up=False) as backend,
    ):
        patch.setattr(sys.modules[Device.__module__], "WANTED_FEATURES", frozenset())
        backend.init()
        yield backend


@pytest.mark.parametrize("file", sorted({kernel.shader for kernel in KERNELS.values()}))
def test_every_kernel_in_every_configuration(compiler: Any, file: str) -> None:
    device = compiler.device
    every = {c for c in CONFIGURATIONS if KERNELS[c[0]].shader == file}
    here = every - lacking(device)
    if not here:
        pytest.skip(f"this device lacks what {file} needs")
    # They compile side by side.
    pipelines = [device.pipeline(kernel, configuration) for kernel, configuration in sorted(here)]
    compiler.synchronize()  # raises what does not compile, by its name
    assert len({id(pipeline) for pipeline in pipelines}) == len(here)


def messages(source: str) -> list[str]:
    """What the browser's compiler says of a shader: errors, warnings and hints."""
    import js
    from pyodide.ffi import run_sync, to_js

    device = js.gpuWatch.devices[-1]
    module = device.createShaderModule(
        to_js({"code": source}, dict_converter=js.Object.fromEntries)
    )
    info = run_sync(module.getCompilationInfo())
    return [f"{m.type} {m.lineNum}:{m.linePos} {m.message}" for m in info.messages]


@pytest.mark.parametrize("file", FILES)
def test_files_compile_without_a_warning(backend: Any, file: str) -> None:
    from browsergpu.kernels import shaders

    kernels = {k.name: k for k in KERNELS.values() if k.shader == file}
    every = {(k.name, c) for k in kernels.values() for c in k.configurations}
    needy = kernels.keys() if every and every <= lacking(backend.device) else set()
    if needy:
        pytest.skip(f"this device lacks what {sorted(needy)} need")
    source = shaders.load(file)
    assert messages(source) == []
    if shaders.PARAMETERS in source and backend.device.immediate_bytes:
        assert messages(shaders.with_immediates(source)) == []


def test_a_pipeline_is_made_once(backend: Any) -> None:
    first = backend.device.pipeline("unary", "relu")
    made = backend.device.recorder.counters["pipelines_created"]
    assert backend.device.pipeline("unary", "relu") is first
    assert backend.device.recorder.counters["pipelines_created"] == made


BROKEN = """@group(0) @binding(0) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(1)
fn main() {
  y[0] = unknown_name;
}
"""


@pytest.mark.provokes_errors
def test_a_shader_that_does_not_compile(backend: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    backend.device.recorder.create_pipeline(
        label="broken", file="broken.wgsl", code=BROKEN, entry_point="main", signature="0w",
        constants={}, parameter_format="", immediate=False,
    )  # fmt: skip
    with pytest.raises(ShaderCompilation) as caught:
        backend.synchronize()
    error = caught.value
    assert (error.op, error.file, error.line, error.column) == ("broken", "broken.wgsl", 5, 10)
    assert "unknown_name" in str(error)
    assert "broken.wgsl:5:10" in str(error)
    backend.synchronize()  # told once, and the device still works


@pytest.mark.provokes_errors
def test_an_error_in_an_included_file_is_told_with_its_place_there(backend: Any) -> None:
    from browsergpu.errors import ShaderCompilation

    own = "// nothing of interest\n"
    backend.device.recorder.create_pipeline(
        label="broken", file="own.wgsl", code=own + BROKEN + own,
        sections=[("own.wgsl", 1), ("lib/broken.wgsl", 2), ("lib/last.wgsl", 8)],
        entry_point="main", signature="0w", constants={}, parameter_format="", immediate=False,
    )  # fmt: skip
    with pytest.raises(ShaderCompilation, match=r"lib/broken\.wgsl:5:10.*unknown_name") as caught:
        backend.synchronize()
    assert (caught.value.file, caught.value.line, caught.value.column) == ("lib/broken.wgsl", 5, 10)


@pytest.mark.provokes_errors
def test_a_pipeline_that_does_not_fit_its_shader(backend: Any) -> None:
    from browsergpu.errors import DeviceError

    backend.device.recorder.create_pipeline(
        label="misfit", file="misfit.wgsl", code=BROKEN.replace("unknown_name", "1.0"),
        entry_point="no_such_entry", signature="0w", constants={}, parameter_format="",
        immediate=False,
    )  # fmt: skip
    with pytest.raises(DeviceError, match=r"misfit.*no_such_entry"):
        backend.synchronize()
