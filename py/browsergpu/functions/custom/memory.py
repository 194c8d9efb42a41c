"""Memory of arrays for the buffers of custom kernels."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.arrays.apply import copied, packed
from browsergpu.arrays.array import Array
from browsergpu.arrays.indexing.assignment import is_own
from browsergpu.arrays.views.aliases import fills_memory


def readable(x: Array) -> Array:
    """Return the array packed in a buffer of exactly its size, as ``arrayLength`` requires."""
    found = packed(x)
    return found if fills_memory(found.node.in_memory()) else copied(found)


def writable(x: Array, arrays: Sequence[Array]) -> Array:
    """Return the array packed in a buffer that nothing else uses."""
    is_once = sum(other.node is x.node for other in arrays) == 1
    if x.node.holders == 1 and is_once:
        node = x.node.in_memory()
        if node.strides is None and node.offset == 0 and fills_memory(node) and is_own(x):
            node.storage.written()
            return x.like(node)
    return copied(x)
