"""Kernels that evaluate a trace and write its value into a region of an array."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.source import (
    IN_FOURS,
    MOST_KERNELS,
    THREADS,
    Body,
    Source,
    each_four,
    result_of,
)


@lru_cache(maxsize=MOST_KERNELS)
def assignment(
    trace: tuple[int, ...],
    modes: str,
    rank: int,
    by_fours: bool,
    into: str,
    twice: bool,
    threads: int = THREADS,
) -> Source:
    """Return the kernel that writes the value of a trace's last entry into a region.

    Parameters
    ----------
    trace : tuple of int
        The trace.
    modes : str
        The access mode of each leaf.
    rank : int
        Number of axes.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.
    into : str
        The access mode of the region. Elements outside the region keep their values.
    twice : bool
        Whether the kernel also writes the value to packed memory.
    threads : int, optional
        Threads of a workgroup. The default only if an access mode is TURNED.

    Notes
    -----
    The parameters are those of :class:`Source`. The region's offset and strides come before those
    of the leaves.
    """
    place = len(trace) - 1
    kind, value = result_of(trace[place]), f"v{place}"
    body = Body(trace, (place,), modes, rank, by_fours, into)
    body.coordinates()
    body.target()
    body.values()
    if into in IN_FOURS:
        body.line(storage.write_four(kind, "y", "to", value))
        words = storage.FOUR[kind.bits]
    else:
        body.line(storage.write_each(kind, "y", "to", value, storage.existing(by_fours)))
        words = storage.words_of_each(kind)
    if twice:
        body.line(storage.write_four(kind, f"y{place}", "i", value))
    kernel = body.kernel(each_four(body, threads), named="assign", words=words, results_too=twice)
    return kernel if twice else replace(kernel, traffic=body.traffic())
