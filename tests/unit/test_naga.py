"""Every shader compiles under naga, the compiler of Firefox and of wgpu, in every configuration.

wgpu-native (PyPI: wgpu) creates each pipeline as a browser does, with its override constants. It
needs a software Vulkan driver: Debian's lavapipe, or Chromium's SwiftShader, which takes minutes.
tests/browser/inside/test_shaders.py tests Tint, Chrome's compiler.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import wgpu
import wgpu.backends.wgpu_native

from browsergpu.engine.core.element_types import COMPLEX64, FLOAT16, FLOAT32, TYPES, ElementType
from browsergpu.engine.kernels.base.family import Kernel
from browsergpu.engine.kernels.fused.operations import OPERATIONS, overload, overload_of
from browsergpu.engine.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    WIDE,
    reduction,
)
from browsergpu.engine.kernels.fused.row_update import NEW, RowLayout, Rule, row_update
from browsergpu.engine.kernels.fused.source import leaf, operation, source
from browsergpu.engine.kernels.fused.source import number as number_entry
from browsergpu.engine.kernels.table import CUSTOM_SHADERS, KERNELS, RENDER_SHADERS
from browsergpu.engine.kernels.text import shaders
from browsergpu.functions.custom.elementwise_kernel import ElementwiseKernel

pytestmark = pytest.mark.all

#: Files with subgroup matrices, an experimental extension that only Tint supports.
TINT_ONLY = {
    kernel.shader
    for kernel in KERNELS.values()
    if "chromium_experimental_subgroup_matrix" in shaders.load(kernel.shader)
}
FILES = sorted({kernel.shader for kernel in KERNELS.values()} - TINT_ONLY)

#: Optional features, by wgpu's names. A real GPU's driver lists more, some of them experimental
#: features that cannot be requested.
OPTIONAL = frozenset({"immediates", "shader-f16", "subgroup", "timestamp-query"})

_CHROMIUM = Path(os.environ.get("BROWSERGPU_CHROMIUM") or "/usr/bin/chromium")


def _adapters() -> list[Any]:
    """Return the Vulkan, Metal and D3D12 adapters, software adapters first.

    OpenGL refuses 48 KiB of workgroup memory, whatever the compiler accepts.
    """
    found = wgpu.gpu.enumerate_adapters_sync()
    native = [adapter for adapter in found if adapter.info["backend_type"] != "OpenGL"]
    return sorted(native, key=lambda adapter: adapter.info["adapter_type"] != "CPU")


def _take_chromiums_driver() -> bool:
    """Use the Vulkan driver beside Chromium. Return whether there is one."""
    for folder in (_CHROMIUM.resolve().parent, Path("/usr/lib/chromium")):
        driver, loader = folder / "vk_swiftshader_icd.json", folder / "libvulkan.so.1"
        if driver.exists() and loader.exists():
            os.environ["VK_ICD_FILENAMES"] = str(driver)
            ctypes.CDLL(str(loader))  # wgpu then finds it by name
            return True
    return False


@pytest.fixture(scope="module")
def adapter() -> Any:
    """The adapter to compile on."""
    found = _adapters() or (_adapters() if _take_chromiums_driver() else [])
    if not found:
        pytest.fail(
            f"no Vulkan driver here, and none beside {_CHROMIUM}. "
            "Debian has one in software: apt-get install mesa-vulkan-drivers"
        )
    return found[0]


@pytest.fixture(scope="module", params=["immediates, all features", "uniforms, no features"])
def form(request: pytest.FixtureRequest) -> str:
    """How shaders get their parameters, and the device's features."""
    return request.param


@pytest.fixture(scope="module")
def immediates(form: str) -> bool:
    """Whether parameters are immediates."""
    return form.startswith("immediates")


@pytest.fixture(scope="module")
def device(adapter: Any, form: str) -> Any:
    """A device with all limits of its adapter, as browsergpu.Device requests it."""
    return open_device(adapter, OPTIONAL if form.endswith("all features") else frozenset())


def open_device(adapter: Any, features: frozenset[str]) -> Any:
    return adapter.request_device_sync(
        required_features=sorted(features & adapter.features), required_limits=adapter.limits
    )


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    """Threads that compile kernels in parallel."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield pool


def refusal(device: Any, kernel: Kernel, configuration: str, immediates: bool) -> str:
    """Return naga's error for a kernel, after its file and configuration; "" if it compiles."""
    chosen = kernel.configurations[configuration]
    code, constants = shaders.to_compile(kernel.shader, chosen, immediates=immediates)
    stage = {"entry_point": kernel.entry_point, "constants": constants}
    try:
        module = device.create_shader_module(code=code, label=kernel.shader)
        device.create_compute_pipeline(layout="auto", compute={"module": module, **stage})
    except wgpu.GPUError as error:
        said = re.sub(r"\bwgsl:(\d+)", lambda at: place(kernel.shader, int(at[1])), str(error))
        return f"{kernel.shader}, {kernel.name} {configuration!r} {chosen}:\n{said}"
    return ""


def place(file: str, line: int) -> str:
    """Return the source of a line of a shader: ``"lib/halves.wgsl:12"``."""
    name, begin = [section for section in shaders.sections(file) if section[1] <= line][-1]
    return f"{name}:{line - begin + 1}"


def configurations(file: str) -> list[tuple[Kernel, str]]:
    """Yield the kernels of a file with each of their configurations."""
    kernels = [kernel for kernel in KERNELS.values() if kernel.shader == file]
    return [(kernel, name) for kernel in kernels for name in kernel.configurations]


@pytest.mark.parametrize("file", FILES)
def test_every_kernel_in_every_configuration(
    device: Any, immediates: bool, threads: ThreadPoolExecutor, file: str
) -> None:
    refusals = threads.map(lambda c: refusal(device, *c, immediates), configurations(file))
    assert not any(refusals := list(refusals)), "\n".join(filter(None, refusals))


@pytest.mark.parametrize("file", sorted(RENDER_SHADERS))
def test_shaders_that_draw(device: Any, file: str) -> None:
    module = device.create_shader_module(code=shaders.load(file), label=file)
    device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "corner"},
        fragment={
            "module": module, "entry_point": "paint", "targets": [{"format": "rgba8unorm"}],
        },
        primitive={"topology": "triangle-list"},
    )  # fmt: skip


@pytest.mark.parametrize("file", sorted(CUSTOM_SHADERS))
def test_shaders_of_custom_kernels(device: Any, file: str) -> None:
    module = device.create_shader_module(code=shaders.load(file), label=file)
    for entry in CUSTOM_SHADERS[file]:
        stage = {"module": module, "entry_point": entry}
        device.create_compute_pipeline(layout="auto", compute=stage)


def test_elementwise_functions(device: Any) -> None:
    """A kernel that calls all functions of lib/math compiles."""
    folder = shaders.directory()
    text = shaders.load(*(f"lib/math/{path.name}" for path in folder.glob("lib/math/*.wgsl")))
    declared = re.findall(r"^fn (np_\w+)\(([^)]*)\) -> (.*) \{$", text, re.MULTILINE)
    assert len(declared) == text.count("\nfn np_")
    lines = [
        f"  v = select(vec4f(), vec4f(1.0), {name}(v));"
        if result == "vec4<bool>"
        else f"  v = {name}({', '.join(['v'] * operands.count('vec4f'))});"
        for name, operands, result in declared
    ]
    code = f"""struct Params {{ n: u32 }}
@group(0) @binding(0) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  var v = y[id.x];
{chr(10).join(lines)}
  y[id.x] = v;
}}
{text}"""
    module = device.create_shader_module(code=code, label="lib/math")
    device.create_compute_pipeline(layout="auto", compute={"module": module})


@pytest.mark.parametrize("name", OPERATIONS)
def test_generated_kernels(device: Any, name: str) -> None:
    """Each operation compiles for all its dtypes, each with other access modes."""
    texts = "".join(OPERATIONS[name].expressions.values())
    arity = 3 if "{2}" in texts else 2 if "{1}" in texts else 1
    for number, kind in enumerate(TYPES):
        found = overload(name, (kind,) * arity)
        if found is not None:
            trace = (*(leaf(kind),) * arity, operation(found.number, *range(arity)))
            modes = ("WMRFES" * 2)[number % 6 :][:arity]
            made = source(trace, (arity,), modes, 2, True)
            module = device.create_shader_module(code=made.code, label=f"{name} of {kind}")
            device.create_compute_pipeline(layout="auto", compute={"module": module})


@pytest.mark.parametrize("kind", [FLOAT16, FLOAT32])
def test_kernels_of_many_rows(device: Any, immediates: bool, kind: ElementType) -> None:
    """Rows in all access modes, with a number and a shared element.

    One result replaces an operand, the other is NEW.
    """
    found = overload("add", (kind, kind))
    assert found is not None
    trace = (
        leaf(kind), leaf(kind), leaf(kind), number_entry(kind), operation(found.number, 0, 1),
        operation(found.number, 2, 3), operation(found.number, 4, 5),
    )  # fmt: skip
    rule = Rule(trace, (6, 5), (0, 1, 2), (0, 1, 2), (0, NEW), 2)
    rows = [RowLayout(f"W{mode}S", 2, mode != "E") for mode in "WMRFEST"]
    made = row_update(rule, tuple(rows))
    assert made.signature == "0r" + "".join(f"{n}w{n + 1}r{n + 2}w" for n in range(1, 22, 3))
    code = shaders.with_immediates(made.code) if immediates else made.code
    module = device.create_shader_module(code=code, label=f"rows of {kind}")
    device.create_compute_pipeline(layout="auto", compute={"module": module})


def test_custom_kernels(device: Any) -> None:
    """A custom elementwise operation compiles for all WGSL dtypes."""
    (own,) = ElementwiseKernel("T x, complex64 c", "T y", "y = x", "own")._operations
    for kind in (kind for kind in TYPES if kind.computed not in "IU"):
        found = overload_of(own, (kind, COMPLEX64))
        assert found is not None
        trace = (leaf(kind), leaf(COMPLEX64), operation(found.number, 0, 1))
        made = source(trace, (2,), "WS", 1, True)
        module = device.create_shader_module(code=made.code, label=f"own of {kind}")
        device.create_compute_pipeline(layout="auto", compute={"module": module})


@pytest.mark.parametrize("division", [ROWS, ALIGNED_ROWS, FOUR_COLUMNS, COLUMNS])
def test_generated_reductions(device: Any, division: str) -> None:
    for number, kind in enumerate(WIDE.values()):
        for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"):
            found = overload(name, (kind, kind))
            if found is not None and found.result is kind:
                scaled = name == "add" and kind is WIDE["f"]
                trace = (leaf(kind), leaf(kind), operation(found.number, 0, 1))
                modes = ("WMRFES" * 2)[number:][:2]
                made = reduction(trace, modes, 2, True, found.number, division, scaled)
                module = device.create_shader_module(code=made.code, label=f"{name} of {kind}")
                device.create_compute_pipeline(layout="auto", compute={"module": module})


def test_subgroup_matrices_are_all_that_naga_does_not_know(adapter: Any) -> None:
    """If naga compiles these files, remove TINT_ONLY."""
    device = open_device(adapter, OPTIONAL)
    files = {
        path.name
        for path in shaders.directory().glob("*.wgsl")
        if "enable chromium_experimental_subgroup_matrix;" in path.read_text(encoding="utf-8")
    }
    assert files == TINT_ONLY
    for kernel, configuration in itertools.chain(*map(configurations, TINT_ONLY)):
        assert "enable-extension" in refusal(device, kernel, configuration, False)
