"""Fixtures of the tests of gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def bg(backend: Any) -> Iterator[Any]:
    """browsergpu with new arrays on the session's backend, and without pending work."""
    import browsergpu
    from browsergpu.arrays.lazy.trace import tracer_of

    browsergpu.use(backend)
    yield browsergpu
    tracer_of(backend.device).evaluate()
