"""Fixtures of the in-page tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from inside.shared import shared_backend

_FAILED = pytest.StashKey[bool]()

settings.register_profile(
    "browser",
    deadline=None,
    max_examples=30,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    print_blob=True,
    # hypothesis shares the session's backend between all examples on purpose.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("browser")


@pytest.fixture(scope="session")
def backend() -> Iterator[Any]:
    """An initialised WasmBackend."""
    with shared_backend() as backend:
        yield backend


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note which tests failed."""
    report = yield
    if call.excinfo is not None:
        item.stash[_FAILED] = item.session.stash[_FAILED] = True
    return report


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check that a test frees its buffers, and that the GPU reports no late error.

    The traceback of a failed test keeps its arrays until the next test. Neither test fails for
    that.
    """
    if request.session.stash.get(_FAILED, False):
        request.session.stash[_FAILED] = False
        _forget_last_error()
    if "backend" not in request.fixturenames:
        yield
        return
    backend = request.getfixturevalue("backend")
    memory = backend.device.memory
    if memory.buffers:  # may belong to an earlier test and be freed during this one
        backend.synchronize()
        _forget_last_error()
    before = (memory.buffers, memory.in_use)
    yield
    backend.synchronize()
    if request.node.stash.get(_FAILED, False):
        return
    after = (memory.buffers, memory.in_use)
    if after != before:  # the traceback of a caught exception may hold buffers
        _forget_last_error()  # the page's loop holds it too
        after = (memory.buffers, memory.in_use)
    # Fewer are in use if what an earlier test left was freed in this one.
    is_kept = after[0] > before[0] or after[1] > before[1]
    assert not is_kept, f"(buffers, bytes) in use were {before} and are now {after}"


def _forget_last_error() -> None:
    """Free what the last failed test's traceback holds."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    gc.collect()
