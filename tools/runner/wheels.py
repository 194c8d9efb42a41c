"""Downloads wheels for Pyodide into a folder of the cache."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from devsite.processes import run_program
from runner.problem import CannotPrepare

_TIMEOUT = 300.0
# The Python version of Pyodide 314, and the platform of its binary wheels.
_PYTHON = "3.14"
_PLATFORM = "pyemscripten_2026_0_wasm32"


def ensure_wheels(
    folder: Path, requirements: Path, python: Path, say: Callable[[str], None]
) -> None:
    """Make the folder contain exactly the wheels of the requirements."""
    stamp = folder / "requirements.txt"
    wanted = requirements.read_text(encoding="utf-8")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    say(f"Fetching the wheels of {folder.name}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as name:
        fresh = Path(name) / "wheels"
        command = [str(python), "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--platform", "any", "--platform", _PLATFORM, "--python-version", _PYTHON]
        command += ["--dest", str(fresh), "--disable-pip-version-check"]
        command += ["--requirement", str(requirements)]
        finished = run_program(command, folder=Path(name), timeout=_TIMEOUT)
        if not finished.succeeded:
            reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
            raise CannotPrepare(
                f"pip could not fetch the wheels of {requirements.name}:\n"
                f"{reason or finished.last_lines(8)}"
            )
        (fresh / stamp.name).write_text(wanted, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
