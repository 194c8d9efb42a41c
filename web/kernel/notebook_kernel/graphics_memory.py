"""GPU memory of the user's arrays and backends."""

from typing import Any

from . import gpu_work


def in_use() -> dict[str, Any]:
    """Return the buffers of all open devices, their bytes, the bytes kept for reuse, and losses."""
    total = {"devices": 0, "bytes": 0, "pooled": 0, "buffers": 0, "lost": 0}
    for device in gpu_work.open_devices():
        total["devices"] += 1
        total["lost"] += device.is_lost
        total["bytes"] += device.memory.in_use
        total["pooled"] += device.memory.pooled
        total["buffers"] += device.memory.buffers
    return total
