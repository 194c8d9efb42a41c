"""Which module of the package may import which: downwards only, and the browser in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "py" / "browsergpu"

# From the top to the bottom: a module may import only what stands in a lower line. Modules of one
# line do not know each other.
LAYERS = [
    ["browsergpu"],
    ["executor", "tensor_backend", "tuning"],
    [
        *("executor.arithmetic", "executor.networks", "executor.reductions"),
        "executor.transformers",
        *("tensors.arithmetic", "tensors.images", "tensors.networks"),
    ],
    ["executor.base", "group", "tensors.store"],
    ["device_array", "ops.matmul", "ops.pointwise", "tensors.masks", "tuning.tune", "wasm_backend"],
    ["debugging", "tuning.problems", "tuning.workgroups"],
    [
        *("buffers", "ops.attention", "ops.batch_norm", "ops.broadcast", "ops.reduce", "ops.rows"),
        "staging",
    ],
    [
        *("canvas", "custom", "profiling"),
        *("ops.adam", "ops.cast", "ops.conv2d", "ops.elementwise", "ops.gemm"),
        *("ops.gemm_f16", "ops.images", "ops.integers", "ops.moments", "ops.pool", "ops.strided"),
        "tuning.clock",
    ],
    ["transfers"],
    ["device"],
    ["warm_up"],
    ["adapters", "choices", "kernels", "memory", "ops.depthwise", "ops.products"],
    [
        *("config", "host_tensors", "recorder", "shapes", "spirv", "tensor_contract"),
        *("variants", "workgroup_sizes"),
    ],
    ["_js", "checks", "host_memory", "kept", "ops.cuts", "scalars", "wgsl_types"],
    [
        *("compute_backend", "costs", "dtypes", "errors", "grids", "params", "reflect", "shaders"),
        *("ops", "ops.remembered", "tensors"),
    ],
]

BROWSER = {"js", "pyodide", "pyodide_js", "micropip"}
THE_BROWSERS_MODULE = "_js"
THIRD_PARTY = {"numpy"}


def module_name(path: Path) -> str:
    """``ops.gemm`` for ops/gemm.py; ``browsergpu`` for the package itself."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts) or "browsergpu"


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path) -> Iterator[str]:
    """The dotted names that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("browsergpu.")
                # `from browsergpu import _js` imports the module, `from browsergpu.errors import
                # X` a name in it.
                whole = node.module.startswith("browsergpu") and inner in MODULES
                yield f"browsergpu.{inner}" if whole else node.module


def layer(name: str) -> int:
    for index, names in enumerate(LAYERS):
        if name in names:
            return index
    raise AssertionError(f"{name} is in no layer: add it to LAYERS of {__file__}")


def test_every_module_has_a_layer() -> None:
    assert sorted(name for names in LAYERS for name in names) == sorted(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name: str) -> None:
    for imported in imports(MODULES[name]):
        if imported.split(".")[0] != "browsergpu":
            continue
        inner = imported.removeprefix("browsergpu").removeprefix(".") or "browsergpu"
        assert layer(inner) > layer(name), f"{name} imports {inner}, which does not stand below it"


@pytest.mark.parametrize("name", MODULES)
def test_the_browser_is_imported_in_one_place(name: str) -> None:
    tops = {imported.split(".")[0] for imported in imports(MODULES[name])}
    if name == THE_BROWSERS_MODULE:
        assert tops >= {"js", "pyodide"}
    else:
        assert not tops & BROWSER


@pytest.mark.parametrize("name", MODULES)
def test_nothing_else_is_needed(name: str) -> None:
    import sys

    tops = {imported.split(".")[0] for imported in imports(MODULES[name])}
    allowed = set(sys.stdlib_module_names) | BROWSER | THIRD_PARTY | {"browsergpu"}
    assert tops <= allowed
