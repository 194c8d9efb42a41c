"""The order of all tests, in which files that take long start first, and where they run."""

from __future__ import annotations

import os

import pytest

from runner.order import rank
from runner.places import MARKERS, marker_of

# The host's own tests take no GPU; those of tests/browser/inside may be told to take one.
os.environ.setdefault("BROWSERGPU_ENGINE", "none")


def pytest_configure(config: pytest.Config) -> None:
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")


def pytest_itemcollected(item: pytest.Item) -> None:
    if marker := marker_of(item.nodeid):
        item.add_marker(marker)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files change places; the tests of one file keep their order."""
    items.sort(key=lambda item: rank(item.nodeid.partition("::")[0]))
