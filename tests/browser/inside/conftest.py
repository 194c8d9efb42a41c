"""Fixtures of the in-page tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from inside.shared import shared_backend

settings.register_profile(
    "browser",
    deadline=None,
    max_examples=30,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    print_blob=True,
    # The session's backend is the fixture: it is meant to live through all examples.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("browser")


@pytest.fixture(scope="session")
def backend() -> Iterator[Any]:
    """An initialised WasmBackend."""
    with shared_backend() as backend:
        yield backend


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Buffers in use after a test are those before it, and the GPU reports no late error."""
    if "backend" not in request.fixturenames:
        yield
        return
    backend = request.getfixturevalue("backend")
    memory = backend.device.memory
    before = (memory.buffers, memory.in_use)
    yield
    backend.synchronize()
    after = (memory.buffers, memory.in_use)
    if after != before:  # a caught exception's traceback may still hold what the test had allocated
        gc.collect()
        after = (memory.buffers, memory.in_use)
    assert after == before, f"(buffers, bytes) in use were {before} and are now {after}"
