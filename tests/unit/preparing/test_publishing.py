"""The files for a package registry: `python -m build` in a fresh clone, and the metadata."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from trove_classifiers import classifiers

from devsite.layout import REPOSITORY
from runner.vulkan import software_gpu

pytestmark = pytest.mark.all

_VERSION = re.search(
    r'^__version__ = "(.+)"$',
    (REPOSITORY / "py/browsergpu/__init__.py").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def run(*command: str | Path, folder: Path = REPOSITORY) -> str:
    """Run a program that must succeed and return its output."""
    finished = subprocess.run(
        command,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stdout
    return finished.stdout


@pytest.fixture(scope="module")
def version() -> str:
    assert _VERSION is not None
    return _VERSION[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the output of `python -m build` on the files tracked by git."""
    clone = tmp_path_factory.mktemp("clone")
    for name in run("git", "ls-files", "-z").split("\0"):
        source = REPOSITORY / name
        if name and source.is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, clone / name)
    # Build the wheel from the source archive, as a registry's users would.
    run(sys.executable, "-m", "build", "--no-isolation", folder=clone)
    return clone / "dist"


@pytest.fixture(scope="module")
def metadata(built: Path) -> Message:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(name))


def test_a_fresh_clone_builds_a_wheel_and_an_archive_that_pass_the_registrys_checks(
    built: Path, version: str
) -> None:
    archive, wheel = sorted(built.iterdir(), key=lambda path: path.suffix)
    assert archive.name == f"browsergpu-{version}.tar.gz"
    assert wheel.name == f"browsergpu-{version}-py3-none-any.whl"
    said = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", archive, wheel)
    assert said.count("PASSED") == 2
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "PKG-INFO", "shaders/gemm.wgsl"} <= names


def test_the_metadata_describes_the_package(metadata: Message, version: str) -> None:
    assert metadata["Name"] == "browsergpu"
    assert metadata["Version"] == version
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    needed, *extra = metadata.get_all("Requires-Dist") or []
    assert needed == "numpy"
    assert {one.split("extra ==")[1].strip() for one in extra} == {"'native'", "'dask'"}
    assert metadata["Author"]
    assert len(metadata["Summary"]) < 100
    chosen = metadata.get_all("Classifier") or []
    assert {"Environment :: WebAssembly :: Emscripten", "Typing :: Typed"} <= set(chosen)
    assert set(chosen) <= set(classifiers)


@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_the_installed_wheel_computes_outside_a_browser_and_dask_finds_it(
    built: Path, tmp_path: Path, engine: str
) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path)  # files that installation adds
    code = (
        "import dask.array\n"
        "from browsergpu.__main__ import main\n"
        "assert main() == 0\n"
        "dask.config.set({'array.backend': 'browsergpu'})\n"
        "print(type(dask.array.ones(3).compute() * 2))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
        env=os.environ | software_gpu(engine) | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert "TFLOP/s" in finished.stdout
    assert "browsergpu.arrays.array.Array" in finished.stdout


def test_the_description_leads_to_nothing_that_a_registrys_page_lacks(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    description = str(metadata.get_payload())
    links = re.findall(r"\]\(([^)]*)\)", description)
    assert links
    assert all(link.startswith("https://") for link in links)


def test_the_version_is_written_in_one_place(version: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]
    for page in pages:
        said = re.findall(r"browsergpu-([\w.]+)-py3", page.read_text(encoding="utf-8"))
        assert set(said) <= {version}, f"{page.name} names a wheel of another version"
