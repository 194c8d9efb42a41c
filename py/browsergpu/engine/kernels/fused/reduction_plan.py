"""Plans of reductions. One generated kernel per step computes the values and reduces them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.gpu.program import Grid, Slot
from browsergpu.engine.kernels.base import cuts
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.fused.layout import Place, layout
from browsergpu.engine.kernels.fused.operations import Overload
from browsergpu.engine.kernels.fused.reduction import (
    ALIGNED_ROWS,
    COLUMNS,
    FOUR_COLUMNS,
    ROWS,
    reduction,
)
from browsergpu.engine.kernels.fused.source import THREADS, Source, leaf

#: [outer, length, inner] of a reduction of the middle axis.
Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Reducer:
    """A reduction operation.

    Attributes
    ----------
    op
        The name of the function, for error messages.
    overload
        The overload for two elements.
    identity
        The words of the identity element.
    scale
        The word of a float that multiplies sums, or an empty tuple.
    """

    op: str
    overload: Overload
    identity: tuple[int, ...]
    scale: tuple[int, ...] = ()


class Plan(NamedTuple):
    """One kernel of a reduction.

    Attributes
    ----------
    kernel
        The generated kernel.
    grid
        The grid of workgroups.
    outputs
        The number of values that the kernel writes.
    chunks
        The number of these values per output.
    words
        The parameters, without the words of the trace's numbers.
    """

    kernel: Source
    grid: Grid
    outputs: int
    chunks: int
    words: tuple[int, ...]


@lru_cache(maxsize=1024)
def plan_kernel(
    how: Reducer,
    shape: Shape,
    code: tuple[int, ...],
    places: tuple[Place, ...],
    extents: Extents,
    is_last: bool,
    threads: int = THREADS,
) -> Plan:
    """Plan the kernel that reduces the value of a trace's last entry.

    Parameters
    ----------
    how : Reducer
        The operation.
    shape : tuple of int
        The shape of the value.
    code : tuple of int
        The trace.
    places : tuple of Place
        The shape, strides and offset of each array that the trace reads.
    extents : tuple of int
        The extents [outer, length, inner] of the value, all positive.
    is_last : bool
        Whether to multiply by ``how.scale`` if this kernel completes the reduction.
    threads : int, optional
        Threads of a workgroup.
    """
    part, division = _cut(*extents, threads)
    rank, by_fours, modes, words = layout(shape, places)
    scale = how.scale if is_last and part.chunks == 1 else ()
    kernel = reduction(
        code, modes, rank, by_fours, how.overload.number, division, bool(scale), threads
    )
    parameters = (product(shape), *part.fields, *how.identity, *scale, *words)
    return Plan(kernel, fold(part.workgroups), part.outputs, part.chunks, parameters)


def _cut(outer: int, length: int, inner: int, threads: int) -> tuple[cuts.Cut, str]:
    if inner == 1:
        part = cuts.cut(outer, length, inner, threads)
        # A chunk is a power of two or the whole row.
        return part, ROWS if length % 4 else ALIGNED_ROWS
    if inner % 4 == 0:
        return cuts.cut(outer, length, inner, threads), FOUR_COLUMNS
    return cuts.cut_lanes(outer, length, inner, threads), COLUMNS


def reduce(
    build: Build, how: Reducer, x: Slot, kind: ElementType, y: Slot, extents: Extents
) -> None:
    """Add dispatches that reduce the middle axis of packed elements.

    Parameters
    ----------
    build : Build
        The program.
    how : Reducer
        The operation.
    x : int
        The slot of the elements.
    kind : ElementType
        The type of the elements.
    y : int
        The slot of the result, which has the type of the operation's result. It is not ``x``.
    extents : tuple of int
        The extents [outer, length, inner], all positive.
    """
    source, (outer, length, inner) = x, extents
    threads = build.facts.workgroup_sizes.reduction
    while True:
        shape = (outer * length * inner,)
        place, cut = (shape, None, 0), (outer, length, inner)
        plan = plan_kernel(how, shape, (leaf(kind),), (place,), cut, True, threads)
        is_last = plan.chunks == 1
        kind = how.overload.result
        target = y if is_last else build.temporary(kind.device_bytes(plan.outputs))
        build.generated(plan.kernel, plan.grid, (source, target), *plan.words)
        if source != x:
            build.release(source)
        if is_last:
            return
        source, length = target, plan.chunks
