"""Selection of a Chromium for the tests. The browsers here are scripts that print a version."""

import sys
from pathlib import Path

import pytest

from runner import chromium
from runner.chromium import OLDEST, VARIABLE, ensure_chromium
from runner.problem import CannotPrepare

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts"),
]


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def browser(path: Path, version: str) -> Path:
    return program(path, f'echo "Chromium {version} built on Debian"')


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "chromium"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python whose Playwright has no browser and cannot download one."""
    script = f'case "$1" in -c) echo {tmp_path}/absent/chrome;; *) exit 1;; esac'
    return program(tmp_path / "python", script)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser and without root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(chromium, "_SYSTEM_NAMES", (str(folder / "chromium"),))
    monkeypatch.setattr(chromium.debian, "can_install", lambda: False)
    return folder


def test_the_chosen_one(
    tmp_path: Path, python: Path, memory: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = browser(tmp_path / "mine", "156.0.8078.79")
    monkeypatch.setenv(VARIABLE, str(chosen))
    found = ensure_chromium(python, memory, said.append)
    assert (found.path, found.version) == (str(chosen), "156.0.8078.79")
    assert not memory.exists()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ('echo "Chromium 136.9.9.9"', f"136.9.9.9; .* needs {OLDEST} or newer"),
        ("exit 1", "gave no version: no output"),
        ('echo "libnss3.so: cannot open" >&2; exit 127', "cannot open"),
        ('echo "Firefox 150.0"', "gave no version: Firefox"),
    ],
)
def test_the_chosen_one_will_not_do(
    tmp_path: Path,
    python: Path,
    memory: Path,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    problem: str,
) -> None:
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "mine", script)))
    with pytest.raises(CannotPrepare, match=f"{VARIABLE}: .*{problem}"):
        ensure_chromium(python, memory, said.append)


def test_the_chosen_one_is_absent(
    python: Path, memory: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "/none/chromium")
    with pytest.raises(CannotPrepare, match="no file /none/chromium"):
        ensure_chromium(python, memory, said.append)


def test_playwrights_own_comes_first(
    tmp_path: Path, machine: Path, python: Path, memory: Path, said: list[str]
) -> None:
    own = browser(tmp_path / "absent" / "chrome", "159.0.1.2")
    browser(machine / "chromium", "156.0.1.2")
    assert ensure_chromium(python, memory, said.append).path == str(own)


def test_the_systems_where_playwrights_cannot_be_had(
    machine: Path, python: Path, memory: Path, said: list[str]
) -> None:
    system = browser(machine / "chromium", f"{OLDEST}.0.1.2")
    assert ensure_chromium(python, memory, said.append).path == str(system)
    assert "Playwright's Chromium cannot be downloaded here" in said


def test_the_second_time_downloads_nothing(
    tmp_path: Path, machine: Path, python: Path, memory: Path, said: list[str]
) -> None:
    browser(machine / "chromium", "156.0.1.2")
    first = ensure_chromium(python, memory, said.append)
    said.clear()
    assert ensure_chromium(tmp_path / "no-python", memory, said.append) == first
    assert said == []


def test_a_remembered_one_that_is_gone_is_looked_for_again(
    tmp_path: Path, machine: Path, python: Path, memory: Path, said: list[str]
) -> None:
    memory.write_text(str(tmp_path / "removed"))
    system = browser(machine / "chromium", "156.0.1.2")
    assert ensure_chromium(python, memory, said.append).path == str(system)
    assert memory.read_text() == str(system)


def test_none_that_will_do(machine: Path, python: Path, memory: Path, said: list[str]) -> None:
    browser(machine / "chromium", "120.0.1.2")
    with pytest.raises(CannotPrepare, match="apt-get install chromium"):
        ensure_chromium(python, memory, said.append)
    assert any("is Chromium 120.0.1.2" in text for text in said)
    assert not memory.exists()
