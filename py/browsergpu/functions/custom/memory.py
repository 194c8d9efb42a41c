"""Memory of arrays for the buffers of custom kernels."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.arrays.apply import copied, packed
from browsergpu.arrays.array import Array
from browsergpu.arrays.indexing.assignment import is_own
from browsergpu.arrays.lazy.node import Node
from browsergpu.core.checks import product


def readable(x: Array) -> Array:
    """Return the array packed in a buffer of exactly its size, as ``arrayLength`` requires."""
    found = packed(x)
    return found if _is_whole(found.node.in_memory()) else copied(found)


def _is_whole(node: Node) -> bool:
    return node.storage.buffer.nbytes == node.kind.device_bytes(product(node.shape))


def writable(x: Array, arrays: Sequence[Array]) -> Array:
    """Return the array packed in a buffer that nothing else uses."""
    is_once = sum(other.node is x.node for other in arrays) == 1
    if x.node.holders == 1 and is_once:
        node = x.node.in_memory()
        if node.strides is None and node.offset == 0 and _is_whole(node) and is_own(x):
            node.storage.version += 1
            return x.like(node)
    return copied(x)
