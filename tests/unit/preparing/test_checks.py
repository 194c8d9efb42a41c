"""How tests/run.py runs the checks and prepares its environment."""

import re
import sys
import zipfile
from pathlib import Path

import pytest

from runner.checks import Outcome, run_check, summary
from runner.environment import ensure_environment
from runner.problem import CannotPrepare
from runner.wheels import ensure_wheels

TESTS = Path(__file__).resolve().parents[2]


def write_wheel(folder: Path, name: str) -> None:
    """A pure-Python wheel, version 1.0, that pip installs."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the only packages that pip can install."""
    folder = tmp_path / "links"
    write_wheel(folder, "first")
    write_wheel(folder, "second")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize(("code", "passed"), [(0, True), (1, False), (5, False)])
def test_a_check_passes_with_status_0_only(tmp_path: Path, code: int, passed: bool) -> None:
    outcome = run_check("check", [sys.executable, "-c", f"raise SystemExit({code})"], tmp_path, {})
    assert outcome.passed is passed


def test_a_check_sees_the_environment(tmp_path: Path) -> None:
    script = "import os; raise SystemExit(os.environ['BROWSERGPU_TEST'] != 'x')"
    command = [sys.executable, "-c", script]
    assert run_check("check", command, tmp_path, {"BROWSERGPU_TEST": "x"}).passed


def test_a_check_that_says_nothing_any_more_is_ended(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    script = "import time; print('a word', flush=True); time.sleep(3600)"
    outcome = run_check("check", [sys.executable, "-c", script], tmp_path, {}, silence=3)
    said = capfdbinary.readouterr().out
    assert not outcome.passed
    assert b"a word" in said
    assert b"printed nothing" in said


def test_summary() -> None:
    outcomes = [
        Outcome("mypy", True, 1.25),
        Outcome("pytest", False, 70.0),
        Outcome("firefox", False, 0.0, not_run="there is none"),
    ]
    lines = summary(outcomes).splitlines()
    assert re.fullmatch(r"mypy +passed +1\.[23] s", lines[0])
    assert re.fullmatch(r"pytest +FAILED +70\.0 s", lines[1])
    assert re.fullmatch(r"firefox +NOT RUN +there is none", lines[2])


@pytest.mark.all
@pytest.mark.usefixtures("links")
def test_environment_is_made_once_and_again_when_the_pins_change(tmp_path: Path) -> None:
    said: list[str] = []
    folder, requirements = tmp_path / "venv", tmp_path / "requirements.txt"
    requirements.write_text("# pins\nfirst==1.0\n")
    python = ensure_environment(folder, requirements, said.append)
    assert python.exists()
    assert said[-1] == "Installing first==1.0"
    mark = folder / "mark"
    mark.touch()
    assert ensure_environment(folder, requirements, said.append) == python
    assert mark.exists()
    requirements.write_text("second==1.0\n")
    ensure_environment(folder, requirements, said.append)
    assert not mark.exists()
    packages = {path.name for path in folder.rglob("site-packages/*.py")}
    assert "second.py" in packages
    assert "first.py" not in packages


@pytest.mark.all
@pytest.mark.usefixtures("links")
def test_an_incomplete_environment_is_made_again(tmp_path: Path) -> None:
    said: list[str] = []
    folder, requirements = tmp_path / "venv", tmp_path / "requirements.txt"
    requirements.write_text("absent-package==1.0\n")
    with pytest.raises(CannotPrepare, match="No matching distribution"):
        ensure_environment(folder, requirements, said.append)
    requirements.write_text("first==1.0\n")
    python = ensure_environment(folder, requirements, said.append)
    assert run_check("import", [str(python), "-c", "import first"], tmp_path, {}).passed


@pytest.mark.usefixtures("links")
def test_wheels_are_exactly_the_required_ones(tmp_path: Path) -> None:
    said: list[str] = []
    folder, requirements = tmp_path / "wheels", tmp_path / "requirements.txt"
    python = Path(sys.executable)
    folder.mkdir()
    (folder / "old-0.1-py3-none-any.whl").touch()
    requirements.write_text("first==1.0\n")
    ensure_wheels(folder, requirements, python, said.append)
    assert [path.name for path in folder.glob("*.whl")] == ["first-1.0-py3-none-any.whl"]
    said.clear()
    ensure_wheels(folder, requirements, python, said.append)
    assert said == []
    requirements.write_text("second==1.0\n")
    ensure_wheels(folder, requirements, python, said.append)
    assert [path.name for path in folder.glob("*.whl")] == ["second-1.0-py3-none-any.whl"]


@pytest.mark.usefixtures("links")
def test_wheels_that_cannot_be_had_keep_the_old_ones(tmp_path: Path) -> None:
    folder, requirements = tmp_path / "wheels", tmp_path / "requirements.txt"
    python = Path(sys.executable)
    requirements.write_text("first==1.0\n")
    ensure_wheels(folder, requirements, python, print)
    requirements.write_text("absent-package==1.0\n")
    with pytest.raises(CannotPrepare, match="No matching distribution"):
        ensure_wheels(folder, requirements, python, print)
    assert [path.name for path in folder.glob("*.whl")] == ["first-1.0-py3-none-any.whl"]
    assert [path.name for path in tmp_path.glob("wheels.*")] == []


def test_every_requirement_is_pinned_and_both_lists_agree() -> None:
    pins = []
    for name in ("requirements.txt", "pyodide-requirements.txt"):
        lines = (TESTS / name).read_text().splitlines()
        wanted = [line for line in lines if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[a-z0-9_-]+(\[[a-z]+\])?==[0-9.]+", line) for line in wanted)
        pins.append(dict(line.split("==") for line in wanted))
    host, inside = pins
    assert {name: inside[name] for name in ("hypothesis", "pytest")} == {
        name: host[name] for name in ("hypothesis", "pytest")
    }
