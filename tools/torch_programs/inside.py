"""Run a program in Pyodide. ``page.py`` puts this file into the page."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import sys
import time
import traceback
import zipfile
from pathlib import Path

from torch_programs.launch import run_program


class TimeIsUp(BaseException):
    """The program's time has passed. It ends at its next line of output."""


class _Output(io.StringIO):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.monotonic() + seconds

    def write(self, text: str) -> int:
        if time.monotonic() > self._end:
            raise TimeIsUp
        return super().write(text)


def unpack(archive: str, folder: str) -> None:
    """Unpack an archive, given in base 64."""
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(Path(archive).read_text()))) as opened:
        opened.extractall(folder)


def run(
    script: str, args: list[str], folder: str, seconds: float, *, draws_same: bool
) -> list[str]:
    """Run a program in a folder, and return its output and its error."""
    os.chdir(folder)
    found = _Output(seconds)
    before = list(sys.path)
    try:
        with contextlib.redirect_stdout(found):
            run_program(script, args, draws_same=draws_same)
    except TimeIsUp:
        if not found.getvalue().strip():
            return ["", f"it printed nothing in {seconds:g} seconds"]
    except SystemExit as error:
        if error.code:
            return [found.getvalue(), f"the program ended with {error.code}"]
    except Exception:
        return [found.getvalue(), traceback.format_exc()]
    finally:
        sys.path[:] = before
    return [found.getvalue(), ""]
