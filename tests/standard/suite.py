"""The location of the public suite, and the files that the page needs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = "https://github.com/data-apis/array-api-tests"
TAG = "2026.02.26"
VERSION = "2025.12"


class SuiteMissing(Exception):
    """The suite is missing from the given folder, or could not be fetched."""


def ensure_suite(folder: Path) -> Path:
    """Return the suite at TAG with its submodule; clone it into the folder if it is missing."""
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        clone = ["git", "clone", "--quiet", "--depth=1", f"--branch={TAG}"]
        clone += ["--recurse-submodules", "--shallow-submodules", REPOSITORY, str(part)]
        try:
            subprocess.run(clone, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SuiteMissing(f"git could not fetch {REPOSITORY}: {error}") from error
        part.rename(folder)
    return folder


def files(suite: Path) -> dict[str, str]:
    """Return the suite's files that the page needs: relative paths and text."""
    stubs = f"array-api/src/array_api_stubs/_{VERSION.replace('.', '_')}"
    specification = f"array-api/spec/{VERSION}/API_specification"
    for needed in ("conftest.py", "array_api_tests/stubs.py", stubs, specification):
        if not (suite / needed).exists():
            raise SuiteMissing(
                f"{suite} has no {needed}: expected array-api-tests with its submodule"
            )
    return {
        path.relative_to(suite).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(_needed(suite, stubs, specification))
    }


def _needed(suite: Path, stubs: str, specification: str) -> Iterator[Path]:
    yield from suite.glob("*.py")
    yield suite / "pytest.ini"
    yield from (suite / "array_api_tests").glob("*.py")
    yield from (suite / stubs).parent.rglob("*.py")
    yield from (suite / specification).glob("*.rst")
