"""Creates .cache/venv, the virtual environment of the tests."""

import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from devsite.processes import run_program
from runner import debian
from runner.problem import CannotPrepare

_TIMEOUT = 900.0


def ensure_environment(folder: Path, requirements: Path, say: Callable[[str], None]) -> Path:
    """Return the Python of an environment with exactly the required versions."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = folder / "browsergpu-requirements"
    wanted = _fingerprint(requirements)
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    say(f"Making the virtual environment {folder}")
    _create(folder, say)
    say(f"Installing {', '.join(_names(requirements))}")
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    _run([*command, "--requirement", str(requirements)], "pip could not install the test packages")
    # Written last, so that a partial environment is created again.
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _create(folder: Path, say: Callable[[str], None]) -> None:
    if not _can_make_environments():
        package = f"python3.{sys.version_info.minor}-venv"
        if not (debian.can_install() and debian.install(package, say)):
            raise CannotPrepare(
                f"This Python ({sys.executable}) has no ensurepip, which virtual environments "
                f"need. On Debian and Ubuntu: apt-get install {package}"
            )
    command = [sys.executable, "-m", "venv", "--clear", str(folder)]
    _run(command, "The virtual environment could not be made")


def _can_make_environments() -> bool:
    importlib.invalidate_caches()
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def _run(command: list[str], problem: str) -> None:
    finished = run_program(command, folder=Path.cwd(), timeout=_TIMEOUT)
    if finished.timed_out:
        raise CannotPrepare(f"{problem}: timed out after {_TIMEOUT:.0f} s")
    if not finished.succeeded:
        raise CannotPrepare(f"{problem}:\n{finished.last_lines(8)}")


def _fingerprint(requirements: Path) -> str:
    parts = [sys.executable, sys.version, requirements.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _names(requirements: Path) -> list[str]:
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
