"""How much GPU memory the user's arrays and backends hold, and how much work waits for the GPU."""

import contextlib
import sys
from typing import Any


def in_use() -> dict[str, Any]:
    """What all open devices hold: buffers, bytes in them, and bytes kept for reuse."""
    total = {"devices": 0, "bytes": 0, "pooled": 0, "buffers": 0}
    for device in _devices():
        total["devices"] += 1
        total["bytes"] += device.memory.in_use
        total["pooled"] += device.memory.pooled
        total["buffers"] += device.memory.buffers
    return total


def unfinished() -> int:
    """Dispatches that no GPU is known to have done; what was only recorded is sent to it now."""
    count = 0
    for device in _devices():
        # What is wrong with a device is raised where the user's code meets it.
        with contextlib.suppress(Exception):
            if not device.recorder.is_lost:
                device.recorder.submit()
                count += device.recorder.unfinished
    return count


def _devices() -> list[Any]:
    # Once the user's code has imported it, and not while it is being imported.
    package = sys.modules.get("browsergpu")
    info = getattr(package, "__array_namespace_info__", None)
    return [] if info is None else info().devices()
