"""Only one module uses private names of wgpu-py and wgpudawn, and these names exist."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from browsergpu.engine.gpu.native import private

pytestmark = pytest.mark.fast

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path(private.__file__).parent


def bounds() -> dict[str, tuple[str, str]]:
    """Return the oldest allowed version of each library, and the first one not allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    written = " ".join(project["optional-dependencies"]["native"])
    return {
        name: (low, high) for name, low, high in re.findall(r"(\w+)>=([\d.]+),<([\d.]+)", written)
    }


def number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@pytest.mark.parametrize("library", private.BACKENDS)
def test_the_tests_run_on_a_version_that_is_allowed(library: str) -> None:
    low, high = bounds()[library]
    assert number(low) <= number(version(library)) < number(high)
    assert number(high)[:2] == (number(low)[0], number(low)[1] + 1), "one minor version"


@pytest.mark.parametrize("library", private.BACKENDS)
def test_the_c_interface_is_there(library: str) -> None:
    _, lib, checked = private.c_interface(library)
    assert callable(lib.wgpuBufferUnmap)
    assert callable(checked.wgpuBufferUnmap)


def test_dawns_own_are_there() -> None:
    for kind in ("WGPUQueueWorkDoneCallback", "WGPUBufferMapCallback"):
        assert private.dawns_callback(kind)
    assert private.every_adapter(import_module("wgpudawn")) is not None
    _, _, checked = private.c_interface("wgpudawn")
    assert callable(checked._make_function_copies)
    assert hasattr(checked._error_handler, "pending")


OTHERS = [path for path in sorted(NATIVE.glob("*.py")) if path.stem != "private"]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_no_other_module_uses_private_names(path: Path) -> None:
    """A module may use its own private names: ``self._x``, and names that it defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    defined = {
        node.attr for node in own
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    }  # fmt: skip
    defined |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    of_asyncio = {"_get_running_loop", "_set_running_loop", "_log_destroy_pending"}
    used = {node.attr for node in own if re.match(r"_[a-z]", node.attr)}
    assert used - defined - of_asyncio <= {private.HANDLE}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not {text for text in texts if isinstance(text, str) and re.search(r"\._[a-z]", text)}
