"""From a tape of elementwise operations to a kernel that makes an array with a part replaced."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.kernels.fused import storage
from browsergpu.kernels.fused.source import (
    EACH,
    MOST_KERNELS,
    Body,
    Source,
    each_four,
    result_of,
)


@lru_cache(maxsize=MOST_KERNELS)
def framed(
    tape: tuple[int, ...], ways: str, rank: int, by_fours: bool, bounded: tuple[int, ...]
) -> Source:
    """The kernel that writes the value of a tape's last entry but one where all of an element's
    indices are within bounds, and else that of the last one. Of each ``bounded`` axis two
    parameters, before those of what is read, say its first index and how many."""
    new, old = len(tape) - 2, len(tape) - 1
    kind = result_of(tape[old])
    body = Body(tape, (new, old), ways, rank, by_fours, EACH)
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
