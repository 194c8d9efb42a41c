"""Versions of installed browsers."""

import re
from pathlib import Path

from devsite.processes import run_program
from runner.problem import CannotPrepare


def version_of(path: str, pattern: str) -> re.Match[str]:
    """Ask a program for its version.

    Parameters
    ----------
    path : str
        The program's file.
    pattern : str
        A regular expression that finds the version in what ``--version`` prints.

    Raises
    ------
    CannotPrepare
        The program is missing, does not start, or prints no version.
    """
    if not Path(path).is_file():
        raise CannotPrepare(f"no file {path}")
    try:
        finished = run_program([path, "--version"], folder=Path.cwd(), timeout=60.0)
    except OSError as error:
        raise CannotPrepare(f"{path} does not start: {error.strerror}") from error
    found = re.search(pattern, finished.output)
    if not finished.succeeded or found is None:
        raise CannotPrepare(
            f"{path} --version gave no version: {finished.last_lines(1) or 'no output'}"
        )
    return found
