"""Steps of a program that compute a trace of elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.fused.assignment import assignment
from browsergpu.engine.kernels.fused.layout import Place, layout, workgroups
from browsergpu.engine.kernels.fused.source import (
    MOST_KERNELS,
    MOVED,
    OWN,
    PLACED,
    THREADS,
    TURNED,
    Source,
    computed_floats,
    source,
)


def compute(
    build: Build,
    code: Sequence[int],
    arrays: Sequence[tuple[Slot, Place]],
    y: Slot,
    shape: Shape,
    *,
    in_part: bool = False,
    open: bool = False,
) -> None:
    """Add a dispatch that writes the value of a trace's last entry to packed memory.

    Parameters
    ----------
    build : Build
        The program.
    code : sequence of int
        The trace.
    arrays : sequence of tuple
        The slot and place of each array that the trace reads, in the order of its entries. An array
        in slot ``y`` must be packed and have the result's element type and size.
    y : int
        The slot of the result.
    shape : tuple of int
        The shape of the result, which the arrays are broadcast to. It has elements.
    in_part : bool, optional
        Whether memory after the result must keep its values. Otherwise, up to three elements after
        the result are overwritten.
    open : bool, optional
        Whether the words of a number are passed when the program runs.
    """
    trace, n = tuple(code), product(shape)
    read = [(slot, place) for slot, place in arrays if slot != y]
    places = tuple([place for _, place in read])
    is_whole = not in_part or n % 4 == 0
    if is_whole:
        rank, by_fours, found, words = layout(shape, places)
        into = MOVED
    else:
        rank, by_fours, found, words = layout(shape, ((shape, None, 0), *places), written=True)
        into, found = found[0], found[1:]
    threads = THREADS if TURNED in found else build.facts.workgroup_sizes.elementwise
    groups = workgroups(n, rank, found, words, threads)
    rest = iter(found)
    modes = "".join([OWN if slot == y else next(rest) for slot, _ in arrays])
    if is_whole and len(read) == len(arrays):
        kernel = source(trace, (len(trace) - 1,), modes, rank, by_fours, threads)
    else:
        kernel = _in_place(trace, modes, rank, by_fours, into, threads)
        if is_whole:  # the offset of the result follows the extents
            at = rank - 1 if any(mode in PLACED for mode in found) else 0
            words = (*words[:at], 0, *words[at:])
    slots = (*[slot for slot, _ in read], y)
    build.generated(kernel, fold(groups), slots, n, *words, open=open)


@lru_cache(maxsize=MOST_KERNELS)
def _in_place(
    code: tuple[int, ...], modes: str, rank: int, by_fours: bool, into: str, threads: int
) -> Source:
    """Return the kernel of an assignment, with the results that ``check_nan`` must check."""
    kernel = assignment(code, modes, rank, by_fours, into, False, threads)
    floats = computed_floats(code, len(code) - 1)
    if floats is None:
        return kernel
    binding = kernel.signature.count("r")  # after the arrays that are only read
    return replace(kernel, floats=((binding, "y", floats),))
