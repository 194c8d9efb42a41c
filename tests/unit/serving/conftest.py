"""Fixtures for the tests of serve.py."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cdn_server import CdnServer
from sample import Notes, copy_checkout

from devsite.layout import Layout
from devsite.store import Store


@pytest.fixture(autouse=True)
def no_server_is_left() -> Iterator[None]:
    """Assert that the server's thread has ended: without its socket it keeps a core busy."""
    yield
    left = [thread.name for thread in threading.enumerate() if "serve_forever" in thread.name]
    assert left == []


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "cache" / "files", tmp_path / "cache" / "tmp")


@pytest.fixture
def cdn() -> Iterator[CdnServer]:
    """A server to download from."""
    server = CdnServer()
    yield server
    server.close()


@pytest.fixture
def checkout(tmp_path: Path) -> Layout:
    """A copy of the repository's sources with an empty cache."""
    return copy_checkout(tmp_path / "checkout")


@pytest.fixture
def notes() -> Notes:
    """A progress reporter that keeps the messages."""
    return Notes()
