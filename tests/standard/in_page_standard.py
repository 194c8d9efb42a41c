"""Run array-api-tests inside Pyodide. tests/standard/run.py writes this module into the page.

The suite's special cases use float64 by name even when told to skip it, so float64 is an alias of
float32 here, and complex128 of complex64.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

import pytest
from in_page import Reporter

import browsergpu


def run(folder: str, arguments: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Run pytest in the suite's folder and return its exit code and terminal output."""
    os.environ.update(environment)
    browsergpu.float64, browsergpu.complex128 = browsergpu.float32, browsergpu.complex64
    os.chdir(folder)
    terminal = io.StringIO()
    options = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=short", "-q"]
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        code = pytest.main([*options, *arguments], plugins=[Reporter()])
    return {"code": int(code), "terminal": terminal.getvalue()[-20_000:]}
