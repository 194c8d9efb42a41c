"""The JavaScript checks: their installation, and their coverage of every file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from runner.javascript import ensure_javascript
from runner.problem import CannotPrepare

PINS = REPOSITORY / "tests" / "javascript"
HARNESS = REPOSITORY / "tests" / "browser" / "harness"
#: The TypeScript compiler's configurations, one for each environment that runs JavaScript.
CONFIGURATIONS = ("recorder.json", "page.json", "worker.json")


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    """A lock file without packages, so that npm needs no registry."""
    folder = tmp_path / "pins"
    folder.mkdir()
    write_pins(folder, "1.0.0")
    return folder


def write_pins(folder: Path, version: str) -> None:
    project = {"name": "pins", "version": version}
    lock = {**project, "lockfileVersion": 3, "packages": {"": project}}
    (folder / "package.json").write_text(json.dumps(project))
    (folder / "package-lock.json").write_text(json.dumps(lock))


def ensure(folder: Path, pins: Path) -> list[str]:
    """Install the packages and return the messages."""
    said: list[str] = []
    ensure_javascript(folder, pins, Path(sys.executable), said.append)
    return said


def test_packages_are_fetched_once_and_again_when_the_pins_change(
    tmp_path: Path, pins: Path
) -> None:
    folder = tmp_path / "javascript"
    assert ensure(folder, pins) == ["Fetching npm packages: javascript"]
    (folder / "mark").touch()
    assert ensure(folder, pins) == []
    write_pins(pins, "2.0.0")
    assert ensure(folder, pins) == ["Fetching npm packages: javascript"]
    assert not (folder / "mark").exists()


def test_packages_that_cannot_be_had_keep_the_old_ones(tmp_path: Path, pins: Path) -> None:
    folder = tmp_path / "javascript"
    ensure(folder, pins)
    (folder / "mark").touch()
    (pins / "package.json").write_text("{")
    with pytest.raises(CannotPrepare, match="npm could not fetch the packages of"):
        ensure(folder, pins)
    assert (folder / "mark").exists()
    assert not list(tmp_path.glob("javascript.*"))


def test_every_package_is_pinned() -> None:
    wanted = json.loads((PINS / "package.json").read_text())["devDependencies"]
    lock = json.loads((PINS / "package-lock.json").read_text())["packages"]
    assert {name: lock[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert all(package["integrity"] for path, package in lock.items() if path)


def test_the_compiler_checks_every_file() -> None:
    checked = set()
    for name in CONFIGURATIONS:
        for pattern in json.loads((PINS / name).read_text())["include"]:
            path = PINS / pattern
            checked |= set(path.resolve().rglob("*.*js")) if path.is_dir() else {path.resolve()}
    folders = ("bench", "docs", "examples", "py", "shaders", "tests", "tools", "web")
    present = {
        path
        for folder in folders
        for ending in ("js", "mjs", "cjs")
        for path in (REPOSITORY / folder).rglob(f"*.{ending}")
    }
    # Files that run in Node.js, whose types are not installed.
    of_node = {
        PINS / "eslint.config.mjs",
        HARNESS / "firefox-driver.cjs",
        REPOSITORY / "tools/snapshot/make.mjs",
    }
    assert present - checked == of_node
