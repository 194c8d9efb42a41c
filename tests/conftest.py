"""The order of all tests, longest files first, and their distribution to workers."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from runner.order import MEASURE, Measurement, seconds
from runner.scheduling import FileScheduling

# The host's own tests use no GPU; tests in tests/browser/inside may be told to use one.
os.environ.setdefault("BROWSERGPU_ENGINE", "none")

# No test asserts timing: examples may be slow on a busy machine. Other folders set a profile of
# their own.
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
    """Sort files by duration. Tests of one file keep their order."""
    taken = seconds()
    items.sort(key=lambda item: -taken.get(item.nodeid.partition("::")[0], 0.0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Return a scheduler that continues after a worker crashes; pytest-xdist's own does not."""
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
