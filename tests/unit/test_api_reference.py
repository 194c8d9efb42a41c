"""tools/docsite: one command builds the site, and the API reference lists every public name."""

from __future__ import annotations

import json
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

pytestmark = pytest.mark.all  # building the site takes 12 s

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "tools" / "docsite"), "--out", str(target)],
        # pip finds nothing, so a build that needs the network would fail.
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert str(target / "index.html") in done.stdout
    return target


@pytest.fixture(scope="module")
def reference(site: Path) -> str:
    """All pages of the reference."""
    pages = sorted((site / "reference").glob("*.html"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


@pytest.fixture(scope="module")
def anchors(reference: str) -> frozenset[str]:
    return frozenset(re.findall(r' id="([\w.]+)"', reference))


def own_methods(cls: type) -> Iterator[str]:
    """Return a class's members that the class, or a private base in the package, defines."""
    for base in cls.__mro__:
        is_public = getattr(browsergpu, base.__name__, None) is base and base is not cls
        if base.__module__.partition(".")[0] == "browsergpu" and not is_public:
            yield from (name for name in vars(base) if not name.startswith("_"))


def namespaces(path: str, module: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    yield path, module
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            yield from namespaces(f"{path}.{name}", found)


NAMESPACES = dict(namespaces("browsergpu", browsergpu))
NAMES = [name for name in browsergpu.__all__ if f"browsergpu.{name}" not in NAMESPACES]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_with_its_methods(name: str, anchors: frozenset[str]) -> None:
    found = getattr(browsergpu, name)
    wanted = {f"browsergpu.{name}"}
    if isinstance(found, type) and found.__name__ == name:  # otherwise the page is another name's
        wanted |= {f"browsergpu.{name}.{method}" for method in own_methods(found)}
    assert wanted <= anchors, wanted - anchors


@pytest.mark.parametrize("path", NAMESPACES)
def test_a_public_namespace_has_a_page_with_its_names(
    path: str, site: Path, anchors: frozenset[str]
) -> None:
    assert (site / "reference" / f"{path}.html").is_file()
    names = {f"{path}.{name}" for name in NAMESPACES[path].__all__} - set(NAMESPACES)
    assert names <= anchors, names - anchors


def test_the_errors_keep_the_lines_of_their_tree(site: Path) -> None:
    html = (site / "reference" / "browsergpu.errors.html").read_text(encoding="utf-8")
    assert "BackendError\n├── " in re.sub(r"<[^>]+>", "", html)
    names = {
        f"browsergpu.errors.{name}"
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert names <= set(re.findall(r' id="([\w.]+)"', html))


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("WasmBackend.gemm", "beta = 0 never reads C"),
        ("WasmBackend", "Only init, copy_dtoh and synchronize wait"),
        ("ComputeBackend", "WasmBackend implements it and documents the methods"),
        ("TensorBackend.gaussian_blur", "replicated borders"),
        ("KernelExecutor.attention", "the first i + 1 keys"),
    ],
)
def test_inherited_methods_have_their_docstrings(member: str, words: str, reference: str) -> None:
    section = reference.split(f' id="browsergpu.{member}"')[1].split('class="doc doc-heading"')[1]
    text = unescape(re.sub(r"<[^>]+>", "", section))
    assert words in " ".join(text.split())


def test_a_class_has_the_signature_of_an_inherited_constructor(site: Path) -> None:
    html = (site / "reference" / "browsergpu.nn.html").read_text(encoding="utf-8")
    section = html.split(' id="browsergpu.nn.Conv2d"')[1].split('class="doc doc-heading"')[1]
    assert "out_channels:" in re.sub(r"<[^>]+>", "", section)


def test_the_search_and_the_inventory_have_the_names(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"]}
    blur = "browsergpu.TensorBackend.gaussian_blur"
    assert f"reference/browsergpu.TensorBackend.html#{blur}" in places
    assert (site / "objects.inv").stat().st_size > 1000


def test_a_page_asks_no_other_host_for_anything(site: Path) -> None:
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        fetched = re.findall(
            r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"?([^\s\">]+)", html
        )
        assert [url for url in fetched if re.match(r"(?:https?:)?//", url)] == [], page.name
