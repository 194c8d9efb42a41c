"""Public names whose modules are imported on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import browsergpu
from browsergpu import nn

pytestmark = pytest.mark.fast

PACKAGE = Path(browsergpu.__file__).parent


def for_type_checkers(file: str = "__init__.py") -> dict[str, set[str]]:
    """Return the names that the type-checking block imports, by module."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    (block,) = (
        node for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "_TYPE_CHECKING"
    )  # fmt: skip
    found: dict[str, set[str]] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        names = {alias.asname or alias.name for alias in node.names}
        found.setdefault(node.module or "", set()).update(names)
    return found


def loaded(*modules: str) -> set[str]:
    """Return the modules of the package that an import in a new process loads."""
    imports = ", ".join(modules)
    code = f"import sys, {imports}; print(*(one for one in sys.modules if 'browsergpu.' in one))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_type_checkers_know_the_names_that_are_loaded_later() -> None:
    written = for_type_checkers()
    assert written.pop("browsergpu") == {*browsergpu._MODULES}
    loaded: dict[str, set[str]] = {}
    for name, module in browsergpu._LATER.items():
        loaded.setdefault(f"browsergpu.{module}", set()).add(name)
    assert written == loaded


@pytest.mark.parametrize("name", [*browsergpu._MODULES, *browsergpu._LATER])
def test_a_name_is_there(name: str) -> None:
    assert name in dir(browsergpu)
    assert getattr(browsergpu, name).__name__.rpartition(".")[2] == name


def test_an_import_loads_no_networks_interfaces_or_tools() -> None:
    found = {name.removeprefix("browsergpu.") for name in loaded("browsergpu")}
    interfaces = {"compat.executor", "compat.tensor_backend", "compat.wasm_backend"}
    assert not found & {*interfaces, "networks", "tools", "dask", *browsergpu._MODULES}


def test_type_checkers_know_the_names_of_nn() -> None:
    written = for_type_checkers("nn.py")
    assert written.pop("browsergpu.networks") == {*nn._MODULES}
    later: dict[str, set[str]] = {}
    for name, module in nn._LATER.items():
        later.setdefault(f"browsergpu.{module}", set()).add(name)
    assert written == later
    assert {*nn.__all__} == {*nn._LATER, *nn._MODULES}
    assert {*nn.__all__} <= {*dir(nn)}


@pytest.mark.parametrize("name", nn.__all__)
def test_a_name_of_nn_is_there(name: str) -> None:
    assert getattr(nn, name).__name__.rpartition(".")[2] in (name, "utilities")


def test_nn_loads_a_layer_or_a_function_when_it_is_used() -> None:
    assert not {one for one in loaded("browsergpu.nn") if ".nn." in one or ".layers" in one}


def test_onnx_loads_no_layers_and_no_exporter() -> None:
    found = loaded("browsergpu.onnx")
    assert "browsergpu.onnx.operators.networks.convolution" in found
    assert not {one for one in found if ".layers" in one or ".exporter" in one or ".bars" in one}
