"""The order of all tests: files that take long start first."""

from __future__ import annotations

import os

import pytest

from runner.order import rank

# The host's own tests take no GPU; those of tests/browser/inside may be told to take one.
os.environ.setdefault("BROWSERGPU_ENGINE", "none")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files change places; the tests of one file keep their order."""
    items.sort(key=lambda item: rank(item.nodeid.partition("::")[0]))
