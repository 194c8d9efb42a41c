"""What tests/run.py --quick chooses, and what it leaves to pytest."""

import re
import subprocess
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from runner.cli import parse
from runner.quick import CORE, HOST, SLOW_ON_THE_HOST, all_tests, changed_files, choose

GEMM = "tests/browser/inside/test_gemm.py"
GEMM_F16 = "tests/browser/inside/test_gemm_f16.py"
ERRORS = "tests/browser/inside/test_errors.py"
LATE_ERRORS = "tests/browser/inside/test_late_errors.py"
PARITY = "tests/unit/test_parity.py"
CHECKS = "tests/unit/preparing/test_checks.py"
TESTS = [GEMM, GEMM_F16, ERRORS, LATE_ERRORS, PARITY, CHECKS]


def test_without_changes_it_is_the_hosts_fast_tests_and_the_core() -> None:
    chosen, because = choose(TESTS, [])
    assert because == []
    assert chosen == [PARITY, *CORE]


def test_a_changed_test_file_runs_whole() -> None:
    chosen, because = choose(TESTS, [GEMM])
    assert because == [GEMM]
    assert GEMM in chosen
    assert not any(name.startswith(f"{GEMM}::") for name in chosen)
    assert any(name.startswith(f"{GEMM_F16}::") for name in chosen)


def test_a_slow_test_of_the_host_runs_when_it_changed() -> None:
    assert CHECKS in choose(TESTS, [CHECKS])[0]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("py/browsergpu/ops/gemm.py", [GEMM, GEMM_F16]),
        ("shaders/gemm_f16_matrix.wgsl", [GEMM, GEMM_F16]),
        ("py/browsergpu/errors.py", [ERRORS, LATE_ERRORS]),
        ("web/app/error.js", [ERRORS, LATE_ERRORS]),
        ("tools/runner/checks.py", [CHECKS]),
        ("docs/parity.md", [PARITY]),
        ("py/browsergpu/__init__.py", []),
        ("tests/browser/inside/conftest.py", []),
        ("README.md", []),
    ],
)
def test_a_changed_file_brings_the_tests_that_share_a_word(
    changed: str, expected: list[str]
) -> None:
    assert choose(TESTS, [changed])[1] == expected


def test_a_changed_test_file_brings_no_other() -> None:
    assert choose(TESTS, [LATE_ERRORS])[1] == [LATE_ERRORS]


def test_a_test_file_that_is_gone_is_not_run() -> None:
    gone = "tests/unit/test_gone.py"
    assert gone not in choose(TESTS, [gone])[0]


def test_nothing_is_chosen_twice() -> None:
    tests = all_tests(REPOSITORY)
    chosen, _ = choose(tests, [*tests, "py/browsergpu/ops/gemm.py"])
    assert sorted(chosen) == tests


@pytest.mark.parametrize("name", CORE)
def test_the_core_is_there(name: str) -> None:
    path, _, function = name.partition("::")
    source = (REPOSITORY / path).read_text(encoding="utf-8")
    assert not function or re.search(rf"^def {function}\(", source, re.MULTILINE)


def test_the_slow_tests_of_the_host_are_there() -> None:
    assert set(all_tests(REPOSITORY)) >= SLOW_ON_THE_HOST
    assert all(name.startswith(HOST) for name in SLOW_ON_THE_HOST)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit on main."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "first.py")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, timeout=600)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", name)


def test_git_tells_what_a_branch_changed_and_what_is_uncommitted(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "-b", "work")
    commit(checkout, "second.py")
    (checkout / "first.py").write_text("y")
    (checkout / "new.py").write_text("z")
    (checkout / ".gitignore").write_text("*.log\n")
    (checkout / "ignored.log").write_text("z")
    assert sorted(changed_files(checkout)) == [".gitignore", "first.py", "new.py", "second.py"]


def test_on_main_it_is_what_origin_has_not(checkout: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(checkout), str(clone))
    assert changed_files(clone) == []
    commit(clone, "second.py")
    assert changed_files(clone) == ["second.py"]


def test_what_came_to_main_later_is_no_change(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "-b", "work")
    commit(checkout, "second.py")
    git(checkout, "checkout", "-q", "main")
    commit(checkout, "third.py")
    git(checkout, "checkout", "-q", "work")
    assert changed_files(checkout) == ["second.py"]


def test_without_git_nothing_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert changed_files(tmp_path) == []
    monkeypatch.setenv("PATH", "")
    assert changed_files(REPOSITORY) == []


@pytest.mark.parametrize(
    ("arguments", "quick", "rest"),
    [
        ([], False, []),
        (["--quick"], True, []),
        (["-k", "gemm or conv", "--quick", "-x"], True, ["-k", "gemm or conv", "-x"]),
        (["tests/unit", "-q", "--durations=5"], False, ["tests/unit", "-q", "--durations=5"]),
    ],
)
def test_the_rest_of_the_command_line_is_pytests(
    arguments: list[str], quick: bool, rest: list[str]
) -> None:
    options, others = parse(arguments)
    assert (options.quick, others) == (quick, rest)


def test_help_tells_of_quick(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    said = capsys.readouterr().out
    assert "--quick" in said
    assert "3 minutes" in said
