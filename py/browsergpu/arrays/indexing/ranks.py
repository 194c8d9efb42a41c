"""Sorted order of elements."""

from __future__ import annotations

from typing import TypeVar

from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.reduce import memory_view
from browsergpu.arrays.value import Value
from browsergpu.engine.core.element_types import INT32
from browsergpu.engine.tensors import ordering

V = TypeVar("V", bound=Value)


def argsorted(op: str, x: V, axis: int, *, descending: bool = False) -> V:
    """Return the indices that sort an array along an axis, as int32. The sort is stable."""
    device = x.tracer.device
    found = room(device, op, INT32, x.node.shape)
    source = memory_view(x.node.in_memory())
    ordering.argsort(device, op, source, memory_view(found), axis, descending=descending)
    return x.like(found)


def searched(op: str, ordered: V, values: V, *, right: bool) -> V:
    """Return the indices at which values would be inserted into a sorted vector, as int32.

    With ``right``, the indices are after equal elements. Both arrays have one dtype.
    """
    device = ordered.tracer.device
    found = room(device, op, INT32, values.node.shape)
    one, other = (memory_view(x.node.in_memory()) for x in (ordered, values))
    ordering.searchsorted(device, op, one, other, memory_view(found), right=right)
    return ordered.like(found)
