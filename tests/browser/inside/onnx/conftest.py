"""Fixtures of the tests of browsergpu.onnx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def bg(backend: Any) -> Iterator[Any]:
    """browsergpu, whose new arrays are on the session's backend. Nothing is left to be computed."""
    import browsergpu
    from browsergpu.arrays.lazy.trace import tracer_of

    browsergpu.use(backend)
    yield browsergpu
    tracer_of(backend.device).evaluate()
