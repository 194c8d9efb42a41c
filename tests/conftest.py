"""The order of all tests: files that take long start first."""

from __future__ import annotations

import pytest

from runner.order import rank


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files change places; the tests of one file keep their order."""
    items.sort(key=lambda item: rank(item.nodeid.partition("::")[0]))
