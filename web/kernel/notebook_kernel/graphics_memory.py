"""How much GPU memory the user's arrays and backends hold, and how much work waits for the GPU."""

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
    """Dispatches that were recorded and that no GPU is known to have done."""
    recorders = [device.recorder for device in _devices()]
    return sum(recorder.unfinished for recorder in recorders if not recorder.is_lost)


def _devices() -> list[Any]:
    # Once the user's code has imported it, and not while it is being imported.
    package = sys.modules.get("browsergpu")
    info = getattr(package, "__array_namespace_info__", None)
    return [] if info is None else info().devices()
