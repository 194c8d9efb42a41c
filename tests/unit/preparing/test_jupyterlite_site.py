"""tools/jupyterlite: the lock lists the files of the site, and the command refuses bad input."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from devsite.layout import REPOSITORY
from jupyterlite.lock import closure, lacking, lock_of

pytestmark = pytest.mark.fast

LOCK: dict[str, Any] = {
    "info": {"python": "3.14.0"},
    "packages": {
        name: {
            "name": name,
            "version": version,
            "depends": depends,
            "file_name": f"{name}-{version}-py3-none-any.whl",
            "sha256": "of the release's build",
        }
        for name, version, depends in (
            ("ipython", "9.12.0", ["prompt_toolkit", "six"]),
            ("prompt_toolkit", "3.0.52", []),
            ("six", "1.17.0", []),
            ("pandas", "3.0.1", ["six"]),
        )
    },
}


def wheel(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(name.encode())
    return path


def test_requirements_are_found_by_either_spelling() -> None:
    needed = closure(LOCK["packages"], ["IPython"])
    assert needed == {"ipython": "9.12.0", "prompt-toolkit": "3.0.52", "six": "1.17.0"}
    there = [
        Path("six-1.17.0-py2.py3-none-any.whl"),
        Path("prompt_toolkit-3.0.51-py3-none-any.whl"),
    ]
    assert lacking(needed, there) == {"ipython": "9.12.0", "prompt-toolkit": "3.0.52"}


def test_the_lock_is_true_of_the_folder(tmp_path: Path) -> None:
    six = wheel(tmp_path, "six-1.17.0-py2.py3-none-any.whl")
    toolkit = wheel(tmp_path, "prompt_toolkit-3.0.52-py3-none-any.whl")
    other = wheel(tmp_path, "pandas-2.0.0-py3-none-any.whl")
    before = json.dumps(LOCK)
    lock = lock_of(LOCK, [six, toolkit, other])
    assert lock["info"] == LOCK["info"]
    assert set(lock["packages"]) == {"six", "prompt_toolkit"}, (
        "what is not there can be had elsewhere"
    )
    assert lock["packages"]["six"]["file_name"] == six.name
    assert lock["packages"]["six"]["sha256"] == hashlib.sha256(six.read_bytes()).hexdigest()
    assert lock["packages"]["prompt_toolkit"]["depends"] == []
    assert json.dumps(LOCK) == before


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [("--contents", "missing", "missing is not a folder"), ("--out", "full", "full is not empty")],
)
def test_invalid_options_are_refused_before_the_build(
    tmp_path: Path, option: str, name: str, said: str
) -> None:
    (tmp_path / "full").mkdir()
    kept = wheel(tmp_path / "full", "kept")
    command = [sys.executable, str(REPOSITORY / "tools" / "jupyterlite"), option, tmp_path / name]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert finished.returncode == 1
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr
    assert kept.read_bytes() == b"kept"
