"""GPU memory of the user's arrays and backends, and pending GPU work."""

import contextlib
import sys
from typing import Any


def in_use() -> dict[str, Any]:
    """Return the buffers of all open devices, their bytes, the bytes kept for reuse, and losses."""
    total = {"devices": 0, "bytes": 0, "pooled": 0, "buffers": 0, "lost": 0}
    for device in _devices():
        total["devices"] += 1
        total["lost"] += device.is_lost
        total["bytes"] += device.memory.in_use
        total["pooled"] += device.memory.pooled
        total["buffers"] += device.memory.buffers
    return total


def unfinished() -> int:
    """Return the number of unfinished dispatches, after sending recorded ones to the GPU."""
    count = 0
    for device in _devices():
        # A device's errors are raised in the user's code instead.
        with contextlib.suppress(Exception):
            if not device.recorder.is_lost:
                device.recorder.submit()
                count += device.recorder.unfinished
    return count


def _devices() -> list[Any]:
    # Only if the user's code has imported the package, and not during the import.
    package = sys.modules.get("browsergpu")
    info = getattr(package, "__array_namespace_info__", None)
    return [] if info is None else info().devices()
