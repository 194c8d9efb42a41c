"""Smoke tests, on the worker and on the main thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits

pytestmark = [pytest.mark.fast, pytest.mark.kernels("worker", "main"), pytest.mark.firefox]


def test_device_is_real(backend: Any) -> None:
    info = backend.device.info
    assert info["vendor"]
    assert backend.device.limits["maxStorageBufferBindingSize"] >= 2**27
    assert isinstance(backend.device.features, frozenset)


def test_round_trip(backend: Any) -> None:
    data = np.arange(1000, dtype=np.float32)
    pointer = backend.alloc(data.nbytes)
    backend.copy_htod(pointer, data)
    result = np.full_like(data, np.nan)
    backend.copy_dtoh(result, pointer)
    backend.free(pointer)
    assert_same_bits(result, data, "round trip")
