"""Selection of a Firefox for the tests. The browsers here are scripts that print a version."""

import re
import sys
from pathlib import Path

import pytest

from runner import cli, firefox
from runner.checks import Outcome
from runner.chromium import Chromium
from runner.firefox import OLDEST, VARIABLE, ensure_firefox
from runner.problem import CannotPrepare

pytestmark = [
    pytest.mark.fast,
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts"),
]


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def browser(path: Path, version: str) -> Path:
    return program(path, f'echo "Mozilla Firefox {version}"')


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser and without root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv(VARIABLE, raising=False)
    names = (str(folder / "firefox"), str(folder / "firefox-esr"))
    monkeypatch.setattr(firefox, "_SYSTEM_NAMES", names)
    monkeypatch.setattr(firefox.debian, "can_install", lambda: False)
    return folder


def test_the_chosen_one(
    tmp_path: Path, machine: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(machine / "firefox", "154.0")
    chosen = browser(tmp_path / "mine", "153.7.0esr")
    monkeypatch.setenv(VARIABLE, str(chosen))
    found = ensure_firefox(said.append)
    assert (found.path, found.version) == (str(chosen), "153.7.0")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ('echo "Mozilla Firefox 140.12.0esr"', f"140.12.0; .* needs {OLDEST} or newer"),
        ("exit 1", "gave no version: no output"),
        ('echo "Chromium 160.0.1.2"', "gave no version: Chromium"),
    ],
)
def test_the_chosen_one_will_not_do(
    tmp_path: Path,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    problem: str,
) -> None:
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "mine", script)))
    with pytest.raises(CannotPrepare, match=f"{VARIABLE}: .*{problem}"):
        ensure_firefox(said.append)


def test_the_first_of_the_systems_that_is_new_enough(machine: Path, said: list[str]) -> None:
    browser(machine / "firefox", "140.12.0esr")
    new = browser(machine / "firefox-esr", f"{OLDEST}.0")
    assert ensure_firefox(said.append).path == str(new)
    assert any("is Firefox 140.12.0" in text for text in said)


def test_debians_is_installed_where_the_systems_is_too_old(
    tmp_path: Path, machine: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(machine / "firefox-esr", "140.12.0esr")
    monkeypatch.setenv("PATH", str(machine))

    def install(package: str, _say: object) -> bool:
        browser(machine / package, "153.7.0esr")
        return True

    monkeypatch.setattr(firefox.debian, "can_install", lambda: True)
    monkeypatch.setattr(firefox.debian, "install", install)
    assert ensure_firefox(said.append).version == "153.7.0"


def test_none_that_will_do(said: list[str]) -> None:
    with pytest.raises(CannotPrepare, match="apt-get install firefox-esr"):
        ensure_firefox(said.append)


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the checks that a command line selects, without running them."""
    names: list[str] = []

    def note(name: str, *_: object) -> Outcome:
        names.append(name)
        return Outcome(name, True, 1.0)

    chromium = Chromium("/none/chromium", "156.0.1.2")
    monkeypatch.setattr(cli, "prepare", lambda **_: None)
    monkeypatch.setattr(cli, "REPOSITORY", tmp_path)
    monkeypatch.setattr(cli, "_prepare_tests", lambda *_: (Path(sys.executable), chromium))
    monkeypatch.setattr(cli, "run_check", note)
    (tmp_path / ".cache").mkdir()
    return names


def test_all_tells_that_nothing_ran_in_firefox_where_there_is_none(
    ran: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--all"]) == 0
    assert "pytest" in ran
    assert "pytest, in Firefox" not in ran
    (line,) = re.findall(r"pytest, in Firefox +(.*)", capsys.readouterr().out)
    assert re.fullmatch(r"NOT RUN +No Firefox of .* apt-get install firefox-esr.*", line)


def test_all_runs_in_firefox_where_there_is_one(machine: Path, ran: list[str]) -> None:
    browser(machine / "firefox", "154.0")
    assert cli.main(["--all"]) == 0
    assert "pytest, in Firefox" in ran


def test_the_option_firefox_needs_one(ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--firefox"]) == 1
    assert ran == []
    assert "apt-get install firefox-esr" in capsys.readouterr().err
