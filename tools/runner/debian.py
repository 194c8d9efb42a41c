"""Installs Debian packages, if that needs no password."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from devsite.processes import run_program

_TIMEOUT = 900.0


def can_install() -> bool:
    """Whether the process is root on a machine with apt-get."""
    is_root = sys.platform != "win32" and os.geteuid() == 0
    return is_root and shutil.which("apt-get") is not None


def install(package: str, say: Callable[[str], None]) -> bool:
    """Install one package. On failure, report it and return False."""
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", package]):
        say(" ".join(command))
        finished = run_program(
            command, folder=Path.cwd(), timeout=_TIMEOUT, environment=environment
        )
    if not finished.succeeded:
        reason = f"timed out after {_TIMEOUT:.0f} s" if finished.timed_out else ""
        say(f"apt-get install {package} failed:\n{reason or finished.last_lines()}")
    return finished.succeeded
