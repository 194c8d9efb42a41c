"""Regions of memory as differentiable functions, for gradients of writes through views."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.apply import copied, packed
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import MemoryPlace
from browsergpu.functions import creation, statistics


def _region_gradient(g: Array, place: MemoryPlace, memory_like: Like) -> Array:
    return put(g, place, memory_like.shape[0])


@differentiable(memory=_region_gradient)
def region(memory: Array, place: MemoryPlace, /) -> Array:
    """Return a copy of the elements at a place of memory, which has one axis."""
    shape, steps, offset = place
    return copied(strided.view(packed(memory), shape, steps, offset))


@differentiable(x=lambda g, place: region(g, place))
def put(x: Array, place: MemoryPlace, size: int, /) -> Array:
    """Return zeros of ``size`` elements with ``x`` at a place of memory.

    Elements at the same address are added.
    """
    shape, steps, offset = place
    repeated = tuple(n for n, step in enumerate(steps) if step == 0 and shape[n] > 1)
    if repeated:
        x = statistics.sum(x, axis=repeated, keepdims=True)
        shape = tuple(1 if n in repeated else extent for n, extent in enumerate(shape))
    whole = creation.zeros((size,), dtype=x.dtype, device=x.device)
    part = strided.view(whole, shape, steps, offset)
    return _written(whole, part, x)


def _without_gradient(g: Array, place: MemoryPlace) -> Array:
    return without(g, place)


@differentiable(memory=_without_gradient)
def without(memory: Array, place: MemoryPlace, /) -> Array:
    """Return a copy of memory with zeros at a place."""
    shape, steps, offset = place
    whole = copied(memory)
    return _written(whole, strided.view(whole, shape, steps, offset), 0)


def _written(whole: Array, part: Array, value: Any) -> Array:
    part.node.view_group = whole.node.view_group = object()
    assignment.write(part, None, value)
    part.node.view_group = whole.node.view_group = None
    return whole
