"""``cupy.cuda`` for programs that are moved from CuPy: devices, streams, events, memory pools.

WebGPU has one queue for each device, so streams and events keep order, and add none. What does less
than CUDA's warns once; what has no meaning raises.
"""

from typing import Any

from browsergpu.compat.cupy.cuda import (
    Device,
    Event,
    MemoryPool,
    PinnedMemoryPool,
    Stream,
    alloc_pinned_memory,
    get_current_stream,
    get_elapsed_time,
    is_available,
    runtime,
    set_allocator,
    set_pinned_memory_allocator,
    stream,
)
from browsergpu.core.errors import UnknownName

__all__ = [
    "Device",
    "Event",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "alloc_pinned_memory",
    "get_current_stream",
    "get_elapsed_time",
    "is_available",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"browsergpu.cuda.{name}", "WebGPU has nothing of the kind.")
