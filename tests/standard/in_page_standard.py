"""Runs array-api-tests inside Pyodide. Written into the page by tests/standard/run.py."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

import pytest
from in_page import Reporter


def run(folder: str, arguments: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Run pytest in the suite's folder; return its exit code and terminal output."""
    os.environ.update(environment)
    os.chdir(folder)
    terminal = io.StringIO()
    options = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=short", "-q"]
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        code = pytest.main([*options, *arguments], plugins=[Reporter()])
    return {"code": int(code), "terminal": terminal.getvalue()[-20_000:]}
