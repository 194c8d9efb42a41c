"""The session's tensor backend."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def tensors(backend: Any) -> Any:
    """A TensorBackend on the session's WasmBackend."""
    from browsergpu import TensorBackend

    return TensorBackend(backend)
