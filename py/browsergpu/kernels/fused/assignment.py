"""From a tape of elementwise operations to a kernel that writes into a part of an array."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from browsergpu.kernels.fused import storage
from browsergpu.kernels.fused.source import (
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
    tape: tuple[int, ...],
    ways: str,
    rank: int,
    by_fours: bool,
    into: str,
    twice: bool,
    threads: int = THREADS,
) -> Source:
    """The kernel that writes the values of a tape's last entry into memory where other elements
    stay as they are. ``into`` says how they lie there. Where they are written ``twice``, they
    also go to packed memory of their own. The parameters are those of :class:`Source`, with the
    offset and the strides of what is written before those of what is read."""
    place = len(tape) - 1
    kind, value = result_of(tape[place]), f"v{place}"
    body = Body(tape, (place,), ways, rank, by_fours, into)
    body.coordinates()
    body.target()
    body.values()
    if into in IN_FOURS:
        body.line(storage.write_four(kind, "y", "to", value))
        words = storage.FOUR[kind.bits]
    else:
        behind = [f"4u * i + {n}u < params.n" for n in (1, 2, 3)]
        inside = ["", *([""] * 3 if by_fours else behind)]
        body.line(storage.write_each(kind, "y", "to", value, inside))
        words = "u32" if kind.bits >= storage.WORD else "atomic<u32>"
    if twice:
        body.line(storage.write_four(kind, f"y{place}", "i", value))
    kernel = body.kernel(each_four(body, threads), named="assign", words=words, results_too=twice)
    return kernel if twice else replace(kernel, traffic=body.traffic())
