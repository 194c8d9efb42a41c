"""Backends shared by the test files of one page, so that each kernel compiles once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_open: dict[bool, Any] = {}


def close_without_immediates() -> None:
    """Close the backend without immediates that some test files share."""
    other = _open.pop(False, None)
    if other is not None:
        other.close()


@contextmanager
def shared_backend(*, immediates: bool = True) -> Iterator[Any]:
    """Return an initialised WasmBackend without buffers, but with compiled kernels."""
    from browsergpu import WasmBackend

    if immediates not in _open or _open[immediates].device.is_lost:
        _open[immediates] = WasmBackend(immediates=immediates)
        _open[immediates].init()
    device = _open[immediates].device
    try:
        yield _open[immediates]
    finally:
        # Setting the sizes clears all programs, which a test may have made with lower limits.
        device.workgroup_sizes = device.workgroup_sizes
        device.memory.trim()
