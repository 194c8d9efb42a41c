"""Kernels that copy an array with a region replaced by the value of a trace."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.source import (
    EACH,
    MOST_KERNELS,
    Body,
    Source,
    each_four,
    result_of,
)


@lru_cache(maxsize=MOST_KERNELS)
def rebuild(
    trace: tuple[int, ...], modes: str, rank: int, by_fours: bool, bounded: tuple[int, ...]
) -> Source:
    """Return the kernel that copies an array with a region replaced.

    Parameters
    ----------
    trace : tuple of int
        The trace. Its last two entries are the new value and the array.
    modes : str
        The access mode of each leaf.
    rank : int
        Number of axes of the array.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    bounded : tuple of int
        The axes that the region does not cover completely.

    Notes
    -----
    The parameters are those of :class:`Source`. Two parameters for each bounded axis come before
    those of the leaves: the region's first index and its extent.
    """
    new, old = len(trace) - 2, len(trace) - 1
    kind = result_of(trace[old])
    body = Body(trace, (new, old), modes, rank, by_fours, EACH)
    body.coordinates()
    inside = []
    for axis in bounded:
        low, count = body.parameter(), body.parameter()
        lanes = " + vec4u(0u, 1u, 2u, 3u)" if by_fours and axis == rank - 1 else ""
        inside.append(f"((vec4u(c{axis}){lanes}) - vec4u({low}) < vec4u({count}))")
    body.values()
    select = storage.select_of(kind)
    body.line(f"let v = {select}(v{old}, v{new}, {' & '.join(inside)});")
    body.line(storage.write_four(kind, "y", "i", "v"))
    return body.kernel(each_four(body), named="assign", words=storage.FOUR[kind.bits])
