"""The order of all tests: files that take long start first. Which worker gets which."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from runner.order import MEASURE, Measurement, seconds
from runner.scheduling import FileScheduling

# The host's own tests take no GPU; those of tests/browser/inside may be told to take one.
os.environ.setdefault("BROWSERGPU_ENGINE", "none")

# No test asserts timing: an example may be slow beside other processes. Other folders load theirs.
settings.register_profile("host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("host")


def pytest_configure(config: pytest.Config) -> None:
    # Workers of pytest-xdist report to the process that started them.
    if os.environ.get(MEASURE) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Measuring())


class _Measuring:
    def __init__(self) -> None:
        self._measurement = Measurement()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._measurement.add(report.nodeid, report.duration)

    def pytest_sessionfinish(self) -> None:
        self._measurement.write()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files change places; the tests of one file keep their order."""
    taken = seconds()
    items.sort(key=lambda item: -taken.get(item.nodeid.partition("::")[0], 0.0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """One that goes on after the crash of a worker, where pytest-xdist's own does not."""
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
