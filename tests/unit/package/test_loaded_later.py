"""Public names whose modules are imported on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import browsergpu

pytestmark = pytest.mark.fast

PACKAGE = Path(browsergpu.__file__).parent


def for_type_checkers() -> dict[str, set[str]]:
    """Return the names that the type-checking block imports, by module."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (
        node for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "_TYPE_CHECKING"
    )  # fmt: skip
    found: dict[str, set[str]] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        found.setdefault(node.module or "", set()).update(alias.name for alias in node.names)
    return found


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
    code = "import sys, browsergpu; print(*(name for name in sys.modules if 'browsergpu.' in name))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    loaded = {name.removeprefix("browsergpu.") for name in done.stdout.split()}
    interfaces = {"compat.executor", "compat.tensor_backend", "compat.wasm_backend"}
    assert not loaded & {*interfaces, "networks", "tools", "dask", *browsergpu._MODULES}
