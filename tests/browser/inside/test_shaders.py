"""Every shader compiles in every configuration. Compilation errors name their location."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from browsergpu.engine.kernels.table import CUSTOM_SHADERS, KERNELS, RENDER_SHADERS
from browsergpu.engine.kernels.variants import VARIANTS

pytestmark = pytest.mark.firefox

CONFIGURATIONS = [
    (kernel.name, configuration)
    for kernel in KERNELS.values()
    for configuration in kernel.configurations
]


def _begins(configuration: str, start: str) -> bool:
    return start in ("", configuration) or configuration.startswith((f"{start}_", f"{start} "))


def enabled(file: str) -> set[str]:
    """Return the features that a shader enables, by WebGPU's names."""
    from browsergpu.engine.kernels.text import shaders

    names = re.findall(r"^enable (\w+);", shaders.load(file), re.MULTILINE)
    return {"shader-f16" if name == "f16" else name.replace("_", "-") for name in names}


def lacking(device: Any) -> set[tuple[str, str]]:
    """Return the kernels and configurations that exceed a device's limits."""
    able = {(v.kernel, v.configuration) for op in VARIANTS for v in device.variants.available(op)}
    every = {(v.kernel, v.configuration) for variants in VARIANTS.values() for v in variants}
    found = {
        one for one in CONFIGURATIONS if not enabled(KERNELS[one[0]].shader) <= device.features
    }
    for kernel, configuration in CONFIGURATIONS:
        # A variant's configurations begin with its own: "64", "64_relu" and "64 b". If several
        # match, the longest counts.
        starts = [start for of, start in every if of == kernel and _begins(configuration, start)]
        if starts and (kernel, max(starts, key=len)) not in able:
            found.add((kernel, configuration))
    return found


FILES = sorted(
    {kernel.shader for kernel in KERNELS.values()} | RENDER_SHADERS | CUSTOM_SHADERS.keys()
)


@pytest.mark.all
@pytest.mark.parametrize("file", sorted({kernel.shader for kernel in KERNELS.values()}))
def test_every_kernel_in_its_largest_size(backend: Any, file: str) -> None:
    """A device refuses the largest size first.

    The variants' tests run the others, and tests/unit/test_naga.py compiles all configurations.
    """
    found = within_reach(backend.device, file)
    compile_all(backend, [largest(kernel, found) for kernel in sorted({k for k, _ in found})])


def largest(kernel: str, found: list[tuple[str, str]]) -> tuple[str, str]:
    """Return the configuration of a kernel with the largest sizes."""
    sizes = constants_of_sizes(KERNELS[kernel].shader)
    configurations = KERNELS[kernel].configurations

    def size(configuration: str) -> float:
        items = configurations[configuration].items()
        return math.prod(float(value) for name, value in items if name in sizes)

    return kernel, max((c for k, c in found if k == kernel), key=size)


def constants_of_sizes(file: str) -> set[str]:
    """Return the constants in a shader's array types and workgroup sizes.

    Constants from which these are computed are included.
    """
    from browsergpu.engine.kernels.text import shaders

    text = shaders.load(file)
    names: set[str] = set()
    for place in re.findall(r"array<[^;{]*|workgroup_size\([^;{]*", text):
        names |= set(re.findall(r"\w+", place))
    declared = dict(re.findall(r"(?:override|const) (\w+)[^=;]*=([^;]*);", text))
    while (
        more := {
            name for own in names & declared.keys() for name in re.findall(r"\w+", declared[own])
        }
        - names
    ):
        names |= more
    return names


@pytest.fixture(scope="module")
def plain() -> Iterator[tuple[Any, Any]]:
    """A device without optional features, and its JavaScript object."""
    import js

    from browsergpu import Device, WasmBackend

    with WasmBackend(immediates=False, warm_up=False) as backend:
        with pytest.MonkeyPatch.context() as patch:  # ends before another test opens a device
            patch.setattr(sys.modules[Device.__module__], "WANTED_FEATURES", frozenset())
            backend.init()
        yield backend.device, js.gpuWatch.devices[-1]


@pytest.mark.parametrize("file", sorted({kernel.shader for kernel in KERNELS.values()}))
def test_every_text_by_the_uniform_ring_and_without_features(plain: Any, file: str) -> None:
    """Parameters and features change a kernel's text; override constants do not.

    The previous test covers the override constants, which make many configurations from one text.
    """
    from browsergpu.engine.kernels.text import shaders

    device, theirs = plain
    texts = {
        shaders.to_compile(file, KERNELS[kernel].configurations[configuration], immediates=False)[0]
        for kernel, configuration in within_reach(device, file)
    }
    for text in texts:
        assert messages(theirs, text) == []


def within_reach(device: Any, file: str) -> list[tuple[str, str]]:
    """Return a file's kernels and the configurations that a device supports.

    Skips the test if there are none.
    """
    missing = lacking(device)
    found = [c for c in CONFIGURATIONS if KERNELS[c[0]].shader == file and c not in missing]
    if not found:
        pytest.skip(f"this device lacks what {file} needs")
    return found


def compile_all(backend: Any, configurations: list[tuple[str, str]]) -> None:
    """Compile pipelines in parallel. Raises an error with the name of one that fails."""
    pipelines = [backend.device.pipeline(*one) for one in configurations]
    backend.synchronize()
    assert len({id(pipeline) for pipeline in pipelines}) == len(configurations)


def messages(device: Any, source: str) -> list[str]:
    """Return the messages of the browser's compiler: errors, warnings and hints."""
    import js
    from pyodide.ffi import run_sync, to_js

    module = device.createShaderModule(
        to_js({"code": source}, dict_converter=js.Object.fromEntries)
    )
    info = run_sync(module.getCompilationInfo())
    return [f"{m.type} {m.lineNum}:{m.linePos} {m.message}" for m in info.messages]


def texts(file: str) -> list[str]:
    """Return the texts that the configurations of a file's kernels compile, or the file's text."""
    from browsergpu.engine.kernels.text import shaders

    found = dict.fromkeys(
        shaders.to_compile(file, constants, immediates=False)[0]
        for kernel in KERNELS.values()
        if kernel.shader == file
        for constants in kernel.configurations.values()
    )
    return list(found) or [shaders.load(file)]


@pytest.mark.parametrize("file", FILES)
def test_files_compile_without_a_warning(backend: Any, file: str) -> None:
    import js

    from browsergpu.engine.kernels.text import shaders

    kernels = {k.name: k for k in KERNELS.values() if k.shader == file}
    every = {(k.name, c) for k in kernels.values() for c in k.configurations}
    needy = kernels.keys() if every and every <= lacking(backend.device) else set()
    if needy:
        pytest.skip(f"this device lacks what {sorted(needy)} need")
    theirs = js.gpuWatch.devices[-1]
    for source in texts(file):
        assert messages(theirs, source) == []
        if shaders.PARAMETERS in source and backend.device.immediate_bytes:
            assert messages(theirs, shaders.with_immediates(source)) == []


def test_a_pipeline_is_made_once(backend: Any) -> None:
    first = backend.device.pipeline("fill")
    made = backend.device.recorder.counters["pipelines_created"]
    assert backend.device.pipeline("fill") is first
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
    backend.synchronize()  # raised once, and the device still works


@pytest.mark.provokes_errors
def test_an_error_in_an_included_file_names_its_line_there(backend: Any) -> None:
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
    with pytest.raises(DeviceError, match=r"(?s)misfit.*no_such_entry"):
        backend.synchronize()
