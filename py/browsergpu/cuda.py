"""``cupy.cuda`` for programs ported from CuPy: devices, streams, events and memory pools.

WebGPU has one queue per device, so all streams run in the order of the calls. Names that do less
than in CUDA warn once. Names without a meaning in WebGPU raise Unsupported.
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
from browsergpu.engine.core.errors import UnknownName

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
    raise UnknownName(f"browsergpu.cuda.{name}", "WebGPU has no such feature.")
