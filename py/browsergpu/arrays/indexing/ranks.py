"""Where elements stand among others."""

from __future__ import annotations

from typing import TypeVar

from browsergpu.arrays.reduce import memory_view, room
from browsergpu.arrays.value import Value
from browsergpu.core.element_types import INT32
from browsergpu.tensors import ordering

V = TypeVar("V", bound=Value)


def argsorted(op: str, x: V, axis: int, *, descending: bool = False) -> V:
    """Where along an axis each element of the sorted array is, of equals in their order: int32."""
    device = x.tracer.device
    found = room(device, op, INT32, x.node.shape)
    source = memory_view(x.node.in_memory())
    ordering.argsort(device, op, source, memory_view(found), axis, descending=descending)
    return x.like(found)


def searched(op: str, ordered: V, values: V, *, right: bool) -> V:
    """Before which element of a sorted vector each value belongs, or behind those that are equal to
    it: int32. Both are of one dtype."""
    device = ordered.tracer.device
    found = room(device, op, INT32, values.node.shape)
    one, other = (memory_view(x.node.in_memory()) for x in (ordered, values))
    ordering.searchsorted(device, op, one, other, memory_view(found), right=right)
    return ordered.like(found)
