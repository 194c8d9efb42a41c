"""Kernels that write values at indices that a trace computes."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.engine.kernels.fused import storage
from browsergpu.engine.kernels.fused.source import (
    MOST_KERNELS,
    NOWHERE,
    Body,
    Source,
    each_four,
    result_of,
)

_LANES = "xyzw"


@lru_cache(maxsize=MOST_KERNELS)
def scatter_source(
    trace: tuple[int, ...], results: tuple[int, ...], modes: str, rank: int, by_fours: bool
) -> Source:
    """Return the kernel that writes values at computed indices.

    Parameters
    ----------
    trace : tuple of int
        The trace.
    results : tuple of int
        The entries of the indices into the memory, the values and, optionally, conditions. The
        kernel writes only values whose conditions are all true.
    modes : str
        The access mode of each leaf.
    rank : int
        Number of axes.
    by_fours : bool
        Whether the extent of the last axis is a multiple of 4.

    Notes
    -----
    All indices must be inside the array, except for NOWHERE, which writes nothing. The values of
    equal indices must be equal.
    """
    at, value, *conditions = results
    kind = result_of(trace[value])
    body = Body(trace, results, modes, rank, by_fours)
    body.coordinates()
    body.values()
    inside = [
        " && ".join(
            filter(
                None,
                [*(f"v{one}.{lane}" for one in conditions), exists, f"v{at}.{lane} != {NOWHERE}u"],
            )
        )
        for lane, exists in zip(_LANES, storage.existing(by_fours), strict=True)
    ]
    body.line(storage.write_each(kind, "y", f"v{at}", f"v{value}", inside))
    words = storage.words_of_each(kind)
    return body.kernel(each_four(body), named="scatter", words=words)


@lru_cache(maxsize=MOST_KERNELS)
def claim_source(
    trace: tuple[int, ...], results: tuple[int, ...], modes: str, rank: int, by_fours: bool
) -> Source:
    """Return the kernel that computes ``y[index[j]] = max(y[index[j]], j + 1)``.

    The maximum does not depend on the order, so all devices give the same result. The parameters
    are those of :func:`scatter_source`, with the entry of the indices as the only result.

    Notes
    -----
    Each layer of the grid reads all indices and writes only its part of the memory. Random writes
    are slow in memory that exceeds the cache, and layers start one after the other.
    """
    (place,) = results
    body = Body(trace, results, modes, rank, by_fours)
    body.coordinates()
    body.values()
    body.line("let part = (arrayLength(&y) + groups.z - 1u) / groups.z;")
    for n, (lane, exists) in enumerate(zip(_LANES, storage.existing(by_fours), strict=True)):
        at = f"u32(v{place}.{lane})"
        inside = " && ".join(filter(None, [exists, f"{at} - id.z * part < part"]))
        body.line(f"if ({inside}) {{ atomicMax(&y[{at}], 4u * i + {n + 1}u); }}")
    return body.kernel(each_four(body), named="claim", words="atomic<u32>")
