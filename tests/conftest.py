"""The order of all tests: files that take long start first."""

from __future__ import annotations

import os

import pytest

from runner.order import MEASURE, Measurement, seconds

# The host's own tests take no GPU; those of tests/browser/inside may be told to take one.
os.environ.setdefault("BROWSERGPU_ENGINE", "none")


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
