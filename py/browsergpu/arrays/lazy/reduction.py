"""Reductions of values, each step by one generated kernel that also computes the values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from browsergpu.arrays.lazy.extract import extract
from browsergpu.arrays.lazy.fusion import Kernels
from browsergpu.arrays.lazy.node import stored
from browsergpu.arrays.lazy.values import Values, Words, of_node
from browsergpu.core import shapes
from browsergpu.core.checks import product
from browsergpu.core.grids import fold
from browsergpu.core.shapes import Shape
from browsergpu.kernels.base import cuts
from browsergpu.kernels.fused.layout import Place, layout
from browsergpu.kernels.fused.operations import Overload
from browsergpu.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    reduction,
)
from browsergpu.kernels.fused.source import THREADS, Source
from browsergpu.tensors.device_array import Storage

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Reducer:
    """A reduction operation.

    Attributes
    ----------
    op
        The name of the function, for error messages.
    made
        The overload for two elements.
    nothing
        The words of the identity element.
    scale
        The word of a float that multiplies sums, or nothing.
    """

    op: str
    made: Overload
    nothing: Words
    scale: Words = ()


def folded(kernels: Kernels, how: Reducer, values: Values, axes: tuple[int, ...]) -> Storage:
    """Reduce values along ``axes``, and return the memory of the result. Raises OutOfMemory."""
    steps = _steps(values.shape, axes)
    last = len(steps) - 1
    for number, extents in enumerate(steps):
        while True:
            plan, found = _step(kernels, how, values, extents, number == last)
            values = of_node(stored(how.made.result, (plan.outputs,), found))
            if plan.chunks == 1:
                break
            extents = (extents[0], plan.chunks, extents[2])
    return found


@lru_cache(maxsize=1024)
def _steps(shape: Shape, axes: tuple[int, ...]) -> tuple[Extents, ...]:
    """Return the steps [outer, length, inner] -> [outer, inner], at least one."""
    return tuple(shapes.reduction_steps(shape, axes)) or ((product(shape), 1, 1),)


class Plan(NamedTuple):
    """One kernel of a reduction.

    Attributes
    ----------
    kernel
        The generated source.
    grid
        The workgroups.
    outputs
        The number of values that the kernel writes.
    chunks
        How many of these belong to each output.
    words
        The parameters, without the numbers of the trace.
    """

    kernel: Source
    grid: tuple[int, int, int]
    outputs: int
    chunks: int
    words: Words


@lru_cache(maxsize=1024)
def planned(
    how: Reducer,
    shape: Shape,
    code: tuple[int, ...],
    places: tuple[Place, ...],
    extents: Extents,
    is_last: bool,
) -> Plan:
    """Plan the kernel that reduces the last value of a trace, whose arrays are at ``places``."""
    part, dealt = _cut(*extents)
    rank, by_fours, modes, words = layout(shape, places)
    scale = how.scale if is_last and part.chunks == 1 else ()
    kernel = reduction(code, modes, rank, by_fours, how.made.number, dealt, bool(scale))
    parameters = (product(shape), *part.fields, *how.nothing, *scale, *words)
    return Plan(kernel, fold(part.workgroups), part.outputs, part.chunks, parameters)


def _cut(outer: int, length: int, inner: int) -> tuple[cuts.Cut, str]:
    if inner == 1:
        part = cuts.cut(outer, length, inner, THREADS)
        # A chunk is a power of two or the whole row.
        return part, ROWS if length % 4 else ALIGNED_ROWS
    if inner % 4 == 0:
        return cuts.cut(outer, length, inner, THREADS), FOUR_COLUMNS
    return cuts.cut_lanes(outer, length, inner, THREADS), COLUMNS


def _step(
    kernels: Kernels, how: Reducer, values: Values, extents: Extents, is_last: bool
) -> tuple[Plan, Storage]:
    code, leaves, words = values.code, values.leaves, values.words
    part = extract(tuple(code), (values.place,))
    plan = planned(how, values.shape, part.code, part.layout(leaves), extents, is_last)
    device = kernels.device
    buffer = device.memory.get_buffer(how.op, how.made.result.device_bytes(plan.outputs))
    storage = Storage(device, buffer)
    try:
        device.recorder.dispatch(
            kernels.pipeline(plan.kernel),
            *plan.grid,
            *part.ids(leaves),
            buffer.id,
            *plan.words,
            *part.parameters(words),
        )
    except BaseException:
        storage.release()
        raise
    return plan, storage
