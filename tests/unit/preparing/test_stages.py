"""The pytest runs for the options of tests/run.py, and refused options."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from devsite.layout import REPOSITORY
from runner.cli import parse, refuse_unknown, stages
from runner.problem import CannotPrepare
from runner.stages import ALL, DEFAULT, FAST, ON_ENGINES, Stage

pytestmark = pytest.mark.fast


def choice(stage: Stage) -> list[str]:
    """Return the arguments of a stage that select tests."""
    arguments = list(stage.arguments)
    return arguments[arguments.index("--no-loadscope-reorder") + 1 :]


def test_an_unknown_marker_is_refused() -> None:
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        options = tomllib.load(file)["tool"]["pytest"]["ini_options"]
    assert "--strict-markers" in options["addopts"]
    names = {marker.partition(":")[0] for marker in options["markers"]}
    assert {"fast", "native", "all", "firefox"} <= names
    for stage in (*FAST, *DEFAULT, *ON_ENGINES, *ALL):
        if "-m" in stage.arguments:
            expression = stage.arguments[stage.arguments.index("-m") + 1]
            assert set(re.findall(r"\w+", expression)) - {"and", "or", "not"} <= names


def test_no_list_says_where_tests_run() -> None:
    files = [*(REPOSITORY / "tools" / "runner").glob("*.py"), *REPOSITORY.glob("tests/*.py")]
    named = {
        (file.name, name)
        for file in files
        for name in re.findall(r"\btest_\w+", file.read_text("utf-8"))
    }
    assert named == set()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [([], DEFAULT), (["--fast"], FAST), (["--engines"], ON_ENGINES), (["--all"], ALL)],
    ids=["default", "fast", "ci", "all"],
)
def test_a_mode_is_its_stages(arguments: list[str], expected: tuple[Stage, ...]) -> None:
    assert stages(*parse(arguments)) == expected
    told = stages(*parse([*arguments, "--durations=5", "-v"]))
    assert [stage.arguments[-2:] for stage in told] == [("--durations=5", "-v")] * len(expected)


@pytest.mark.parametrize(
    ("arguments", "rest", "environment"),
    [
        (["tests/unit", "-x"], ["tests/unit", "-x"], {}),
        (["-k", "gemm or conv"], ["-k", "gemm or conv"], {}),
        (["--plain-webgpu"], ["tests/browser/inside"], {"BROWSERGPU_WEBGPU": "plain"}),
        (["--native", "dawn"], ["tests/browser/inside"], {"BROWSERGPU_NATIVE": "dawn"}),
        (
            ["--firefox", "-k", "gemm"],
            ["-m", "firefox", "tests/browser", "-k", "gemm"],
            {"BROWSERGPU_BROWSER": "firefox"},
        ),
        (
            ["--firefox", "tests/browser/inside/test_gemm.py"],
            ["tests/browser/inside/test_gemm.py"],
            {"BROWSERGPU_BROWSER": "firefox"},
        ),
        (
            ["--native", "wgpu", "tests/browser/inside/test_gemm.py"],
            ["tests/browser/inside/test_gemm.py"],
            {"BROWSERGPU_NATIVE": "wgpu"},
        ),
    ],
)
def test_selected_tests_run_in_one_stage(
    arguments: list[str], rest: list[str], environment: dict[str, str]
) -> None:
    (stage,) = stages(*parse(arguments))
    assert choice(stage) == rest
    assert stage.environment == environment


@pytest.mark.parametrize("mode", ["--fast", "--engines", "--all"])
@pytest.mark.parametrize("chosen", [["tests/unit"], ["-k", "gemm"], ["-x"]])
def test_a_mode_says_which_tests_run(
    mode: str, chosen: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse([mode, *chosen])
    assert f"{mode} selects the tests" in capsys.readouterr().err


@pytest.mark.parametrize(
    "other", [["--engines"], ["--all"], ["--firefox"], ["--plain-webgpu"], ["--native", "dawn"]]
)
def test_modes_exclude_each_other(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--fast", *other])
    assert "not allowed with argument --fast" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--quick", "--everywhere", "--al"])
def test_unknown_options_are_refused_before_anything_runs(option: str) -> None:
    with pytest.raises(CannotPrepare, match=f"unrecognized arguments: {option}"):
        refuse_unknown(Path(sys.executable), parse([option])[1])


def test_options_of_pytest_are_not_refused() -> None:
    refuse_unknown(Path(sys.executable), ["-x", "-k", "gemm or conv", "-n", "2", "--tb=short"])


def test_help_tells_of_the_modes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    said = capsys.readouterr().out
    assert {"--fast", "--engines", "--all"} <= set(re.findall(r"--\w+", said))
    assert re.findall(r"(\d+)\s+minutes", said) == ["65", "5"]
    assert re.findall(r"([\d.]+)\s+times\s+as\s+long", said) == ["1.5", "3"]
