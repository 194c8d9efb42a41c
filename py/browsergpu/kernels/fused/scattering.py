"""From a tape of elementwise operations to kernels that write at places which it computes."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.kernels.fused import storage
from browsergpu.kernels.fused.source import (
    MOST_KERNELS,
    NOWHERE,
    Body,
    Source,
    each_four,
    result_of,
)

_LANES = "xyzw"


@lru_cache(maxsize=MOST_KERNELS)
def scattered(
    tape: tuple[int, ...], results: tuple[int, ...], ways: str, rank: int, by_fours: bool
) -> Source:
    """The kernel that writes a value at a place, where a condition is true, if there is one: the
    places, the values and the conditions are entries of a tape. None of the places may be outside
    of what is written; where some are equal, the values must be, too."""
    at, value, *conditions = results
    kind = result_of(tape[value])
    body = Body(tape, results, ways, rank, by_fours)
    body.coordinates()
    body.values()
    inside = [
        " && ".join(
            [*(f"v{one}.{lane}" for one in conditions), *there, f"v{at}.{lane} != {NOWHERE}u"]
        )
        for lane, there in zip(_LANES, _are_there(by_fours), strict=True)
    ]
    body.line(storage.write_each(kind, "y", f"v{at}", f"v{value}", inside))
    words = "u32" if kind.bits >= storage.WORD else "atomic<u32>"
    return body.kernel(each_four(body), named="scatter", words=words)


@lru_cache(maxsize=MOST_KERNELS)
def claimed(
    tape: tuple[int, ...], results: tuple[int, ...], ways: str, rank: int, by_fours: bool
) -> Source:
    """The kernel that writes at each place that an entry of a tape says the largest j + 1 of those
    j whose place it is, where that is more than what is there. The largest is the same in whatever
    order they come, so that no device differs.

    A grid of several layers goes over the places once a layer, which writes its part of the memory
    alone: memory written at random is slow beyond what a cache holds, and layers begin one after
    the other."""
    (place,) = results
    body = Body(tape, results, ways, rank, by_fours)
    body.coordinates()
    body.values()
    body.line("let part = (arrayLength(&y) + groups.z - 1u) / groups.z;")
    for n, (lane, there) in enumerate(zip(_LANES, _are_there(by_fours), strict=True)):
        at = f"u32(v{place}.{lane})"
        inside = " && ".join([*there, f"{at} - id.z * part < part"])
        body.line(f"if ({inside}) {{ atomicMax(&y[{at}], 4u * i + {n + 1}u); }}")
    return body.kernel(each_four(body), named="claim", words="atomic<u32>")


def _are_there(by_fours: bool) -> list[list[str]]:
    """What must be true for each of four elements to be one: nothing of the first."""
    return [[] if by_fours or not n else [f"4u * i + {n}u < params.n"] for n in range(4)]
