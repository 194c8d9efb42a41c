"""docs/build.py: one command makes the API reference, and every public name is in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import ModuleType

import pytest

import browsergpu
from browsergpu import errors

pytestmark = pytest.mark.fast

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages, made as a Python without pdoc makes them: in .cache/venv."""
    target = tmp_path_factory.mktemp("reference")
    done = subprocess.run(
        [sys.executable, "-S", str(REPOSITORY / "docs" / "build.py"), "--to", str(target)],
        # pdoc warns of what it cannot import or resolve.
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert str(target / "browsergpu.html") in done.stdout
    return target


@pytest.fixture(scope="module")
def page(reference: Path) -> str:
    return (reference / "browsergpu.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def on_page(page: str) -> set[str]:
    return anchors(page)


def anchors(html: str) -> set[str]:
    return set(re.findall(r' id="([\w.]+)"', html))


def own_methods(cls: type) -> Iterator[str]:
    """The names of a class's members that it, or a base of it in the package, defines."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "browsergpu":
            yield from (name for name in vars(base) if not name.startswith("_"))


MODULES = {name for name in browsergpu.__all__ if isinstance(getattr(browsergpu, name), ModuleType)}


@pytest.mark.parametrize("name", [name for name in browsergpu.__all__ if name not in MODULES])
def test_a_public_name_is_there_with_its_methods(name: str, on_page: set[str]) -> None:
    found = getattr(browsergpu, name)
    wanted = {name}
    if isinstance(found, type) and found.__name__ == name:  # else its page is another name's
        wanted |= {f"{name}.{method}" for method in own_methods(found)}
    assert wanted <= on_page, wanted - on_page


@pytest.mark.parametrize("name", sorted(MODULES - {"errors"}))
def test_a_public_module_has_a_page(name: str, reference: Path) -> None:
    html = (reference / "browsergpu" / f"{name}.html").read_text(encoding="utf-8")
    module = getattr(browsergpu, name)
    within = {one for one in module.__all__ if isinstance(getattr(module, one), ModuleType)}
    assert set(module.__all__) - within <= anchors(html)
    for one in within:
        path = getattr(module, one).__name__.replace(".", "/")
        assert anchors((reference / f"{path}.html").read_text(encoding="utf-8"))


def test_the_errors_have_a_page(reference: Path) -> None:
    html = (reference / f"{errors.__name__.replace('.', '/')}.html").read_text(encoding="utf-8")
    names = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert {"BackendError", "InvalidArgument", "DeviceLost"} <= names
    assert names <= anchors(html), names - anchors(html)
    assert "<pre><code>BackendError\n├── " in html, "the tree keeps its lines"


@pytest.mark.parametrize(
    ("member", "words"),
    [
        # What the contract says of a method stands at the backend's, which has no text of its own.
        ("WasmBackend.gemm", "beta = 0 never reads C"),
        ("TensorBackend.gaussian_blur", "replicated borders"),
        ("KernelExecutor.attention", "the first i + 1 keys"),
    ],
)
def test_a_method_has_its_text_whichever_base_it_comes_from(
    member: str, words: str, page: str
) -> None:
    section = page.split(f'<div id="{member}"')[1].split('<div id="')[0]
    assert words in unescape(section)


def test_there_is_an_index_and_a_search(reference: Path) -> None:
    assert "browsergpu.html" in (reference / "index.html").read_text(encoding="utf-8")
    assert "gaussian_blur" in (reference / "search.js").read_text(encoding="utf-8")
