"""Run pytest inside Pyodide. harness/inside.py writes this file into the page."""

from __future__ import annotations

import contextlib
import io
import json
import os
from typing import Any

import js
import pytest

SUITE = "/suite"


class Reporter:
    """Sends one JSON report for each test, and one for each file that fails to load."""

    def __init__(self) -> None:
        self._phases: list[pytest.TestReport] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._send(report.nodeid, "collection failed", report.longreprtext, [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._phases.append(report)
        if report.when != "teardown":
            return
        phases, self._phases = self._phases, []
        failed = [phase for phase in phases if phase.failed]
        skipped = [phase for phase in phases if phase.skipped]
        if failed:
            text = "\n".join(f"[{phase.when}]\n{phase.longreprtext}" for phase in failed)
            self._send(report.nodeid, "failed", text, phases[-1].sections)
        elif skipped:
            self._send(report.nodeid, "skipped", _skip_reason(skipped[0]), [])
        else:
            self._send(report.nodeid, "passed", "", [])

    def _send(self, nodeid: str, outcome: str, text: str, sections: list[Any]) -> None:
        js.reportTest(
            json.dumps({"nodeid": nodeid, "outcome": outcome, "text": text, "sections": sections})
        )


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return report.longreprtext


def run(arguments: list[str]) -> dict[str, Any]:
    """Run pytest on node ids and return its exit code and terminal output."""
    os.chdir(SUITE)
    terminal = io.StringIO()
    options = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--tb=short"]
    with contextlib.redirect_stdout(terminal):
        code = pytest.main([*options, *arguments], plugins=[Reporter()])
    return {"code": int(code), "terminal": terminal.getvalue()}
