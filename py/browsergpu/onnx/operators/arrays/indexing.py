"""Slices, gathers and scatters."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.functions.ordering.combinations import combined_at
from browsergpu.onnx.graph.narrow import Narrow
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import axis_of, integers, on_host, to_gpu
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _sliced(x: Any, starts: Any, ends: Any, axes: Any, steps: Any) -> Any:
    key = [slice(None)] * len(x.shape)
    used = range(len(starts)) if axes is None else axes
    for at, axis in enumerate(used):
        step = 1 if steps is None else steps[at]
        start, end = starts[at], ends[at]
        extent = x.shape[axis_of(axis, len(x.shape))]
        if start < 0:
            start += extent
        if end < 0:
            end += extent
        if step > 0:
            own = slice(min(max(start, 0), extent), min(max(end, 0), extent), step)
        else:
            start, end = min(max(start, -1), extent - 1), min(max(end, -1), extent - 1)
            own = slice(start, None if end < 0 else end, step) if start > end else slice(0, 0)
        key[axis] = own
    if isinstance(x, Narrow):
        return x.like(to_gpu(x.codes)[tuple(key)])
    return x[tuple(key)]


@operator("Slice", until=9, raw=True)
def slice_of_attributes(
    x: Any, *, starts: list[int], ends: list[int], axes: list[int] | None = None
) -> Any:
    """Take ranges of axes, which attributes name."""
    return _sliced(x, starts, ends, axes, None)


@operator("Slice", since=10, raw=True)
def slice_(
    x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None, *, node: Node
) -> Any:
    """Take ranges of axes."""
    given = (starts, ends, axes, steps)
    numbers = [None if one is None else integers(node.read(one)) for one in given]
    return _sliced(x, *numbers)


def _wrapped(index: Any, extent: int) -> Any:
    """Return indices without negative ones."""
    if on_host(index):
        low, high = (int(index.min()), int(index.max())) if index.size else (0, 0)
        if low < -extent or high >= extent:
            raise IndexError(f"indices must be from {-extent} to {extent - 1}, got {low} … {high}")
        return np.where(index < 0, index + extent, index)
    return bg.where(index < 0, index + extent, index)


@operator("Gather", raw=True)
def gather(x: Any, indices: Any, *, axis: int = 0) -> Any:
    """Take elements along an axis."""
    at = axis_of(axis, len(x.shape))
    if isinstance(x, Narrow):
        return x.like(gather(to_gpu(x.codes), indices, axis=at))
    index = _wrapped(indices, x.shape[at])
    if on_host(x, index):
        return np.asarray(np.take(x, index, at))
    x = to_gpu(x)
    if on_host(index) and index.size == 1:
        place = int(index.reshape(()))
        part = x[(*(slice(None),) * at, slice(place, place + 1))]
        return part.reshape((*x.shape[:at], *index.shape, *x.shape[at + 1 :]))
    return bg.take(x, to_gpu(index), axis=at)


@operator("GatherElements", since=11)
def gather_elements(x: Any, indices: Any, *, axis: int = 0) -> Any:
    """Take the element of each place's index along an axis."""
    at = axis_of(axis, x.ndim)
    own = tuple(slice(0, n) if one != at else slice(None) for one, n in enumerate(indices.shape))
    return bg.take_along_axis(x[own], _wrapped(indices, x.shape[at]), at)


@operator("GatherND", since=11)
def gather_nd(x: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    """Take the parts that the last axis of indices names."""
    depth = indices.shape[-1]
    lead = x.shape[:batch_dims]
    key = []
    for at, extent in enumerate(lead):
        shape = (*(1,) * at, extent, *(1,) * (indices.ndim - 2 - at))
        key.append(bg.asarray(np.arange(extent).reshape(shape)))
    for at in range(depth):
        key.append(_wrapped(indices[..., at], x.shape[batch_dims + at]))
    return _taken(x, key, indices.shape[:-1])


def _flat_index(key: Any, shape: Any) -> Any:
    index: Any = 0
    for place, extent in zip(key, shape, strict=False):
        index = index * extent + place
    return index


def _taken(x: Any, key: Any, lead: Any) -> Any:
    depth = len(key)
    if not depth:
        return bg.broadcast_to(x, (*lead, *x.shape))
    flat = x.reshape((int(np.prod(x.shape[:depth])), *x.shape[depth:]))
    index = bg.broadcast_to(_flat_index(key, x.shape), lead)
    return bg.take(flat, index, axis=0)


def _combined(target: Any, index: Any, updates: Any, reduction: str) -> Any:
    """Return rows of a matrix, with updates at an index of rows. Repeated indices add up."""
    x = bg.array(target)
    if reduction == "none":
        x[index] = updates
    elif reduction == "add":
        bg.add.at(x, index, updates)
    elif reduction in _COMBINATIONS:
        return combined_at(x, index, updates, getattr(bg, _COMBINATIONS[reduction]))
    else:
        raise ValueError(f"reduction must be none, add, mul, max or min, got {reduction!r}")
    return x


_COMBINATIONS = {"mul": "multiply", "max": "maximum", "min": "minimum"}


@operator("ScatterElements", since=11)
def scatter_elements(
    x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none"
) -> Any:
    """Assign or combine the element of each place's index along an axis."""
    at = axis_of(axis, x.ndim)
    if not indices.size:
        return x
    key = []
    for one, n in enumerate(indices.shape):
        if one == at:
            key.append(_wrapped(indices, x.shape[at]))
        else:
            shape = (n, *(1,) * (x.ndim - 1 - one))
            key.append(bg.asarray(np.arange(n).reshape(shape)))
    index = bg.broadcast_to(_flat_index(key, x.shape), indices.shape).reshape(-1)
    flat = _combined(x.reshape(-1), index, updates.reshape(-1), reduction)
    return flat.reshape(x.shape)


@operator("Scatter", since=9)
def scatter(x: Any, indices: Any, updates: Any, *, axis: int = 0) -> Any:
    """Assign the element of each place's index along an axis."""
    return scatter_elements(x, indices, updates, axis=axis)


@operator("ScatterND", since=11)
def scatter_nd(x: Any, indices: Any, updates: Any, *, reduction: str = "none") -> Any:
    """Assign or combine the parts that the last axis of indices names."""
    depth = indices.shape[-1]
    if not indices.size:
        return x
    key = [_wrapped(indices[..., at], x.shape[at]) for at in range(depth)]
    rest = x.shape[depth:]
    index = _flat_index(key, x.shape).reshape(-1)
    flat = x.reshape((int(np.prod(x.shape[:depth])), *rest))
    return _combined(flat, index, updates.reshape((-1, *rest)), reduction).reshape(x.shape)


@operator("TensorScatter", since=24)
def tensor_scatter(
    past: Any, update: Any, write_indices: Any = None, *, axis: int = -2, mode: str = "linear"
) -> Any:
    """Write new elements into a cache, for each example from its own index on."""
    at = axis_of(axis, past.ndim)
    batch, count, extent = past.shape[0], update.shape[at], past.shape[at]
    first = bg.zeros(batch, dtype="int64") if write_indices is None else write_indices
    places = first.reshape((-1, 1)) + bg.arange(count)
    if mode == "circular":
        places = places % extent
    elif mode != "linear":
        raise ValueError(f"mode must be linear or circular, got {mode!r}")
    moved = bg.moveaxis(past, at, 1)
    new = bg.moveaxis(update, at, 1)
    index = (bg.arange(batch).reshape((-1, 1)) * extent + places).reshape(-1)
    flat = moved.reshape((batch * extent, *moved.shape[2:]))
    found = _combined(flat, index, new.reshape((batch * count, *new.shape[2:])), "none")
    return bg.moveaxis(found.reshape(moved.shape), 1, at)


@operator("Compress", since=9)
def compress(x: Any, condition: Any, *, axis: int | None = None) -> Any:
    """Keep the slices for which a condition holds. It reads the number of them."""
    flat = x.reshape(-1) if axis is None else x
    at = 0 if axis is None else axis_of(axis, x.ndim)
    places = bg.nonzero(condition)[0]
    return bg.take(flat, places, axis=at)


@operator("OneHot", since=9, host=("depth",))
def one_hot(indices: Any, depth: Any, values: Any, *, axis: int = -1) -> Any:
    """Return one value at an index along a new axis, another elsewhere."""
    count = int(np.asarray(depth).reshape(-1)[0])
    at = axis_of(axis, indices.ndim + 1)
    own = indices.astype("int64", copy=False)
    own = bg.where(own < 0, own + count, own)
    places = bg.arange(count).reshape((-1, *(1,) * (indices.ndim - at)))
    there = bg.expand_dims(own, at) == places
    return bg.where(there, values[1], values[0])


@operator("ReverseSequence", since=10, host=("sequence_lens",))
def reverse_sequence(x: Any, sequence_lens: Any, *, batch_axis: int = 1, time_axis: int = 0) -> Any:
    """Reverse the first elements of each sequence."""
    lengths = np.asarray(sequence_lens).reshape(-1, 1)
    places = np.arange(x.shape[time_axis])
    index = np.where(places < lengths, lengths - 1 - places, places)
    moved = bg.moveaxis(x, (batch_axis, time_axis), (0, 1))
    whole = bg.asarray(index).reshape((*index.shape, *(1,) * (x.ndim - 2)))
    found = bg.take_along_axis(moved, bg.broadcast_to(whole, moved.shape), 1)
    return bg.moveaxis(found, (0, 1), (batch_axis, time_axis))
