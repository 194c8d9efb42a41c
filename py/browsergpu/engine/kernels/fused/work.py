"""The work of generated elementwise kernels, for profiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from browsergpu.engine.kernels.fused.source import MOVED, PLACED, SAME, Traffic


def work(traffic: Traffic, parameters: Sequence[float]) -> tuple[float, float]:
    """Return the operations and the bytes of one dispatch.

    Each element of a broadcast array counts once.

    Parameters
    ----------
    traffic : Traffic
        The work per element.
    parameters : sequence of float
        The parameters of the dispatch.
    """
    given = iter(parameters)
    n = int(next(given))
    written = n
    for _ in range(traffic.skipped):
        next(given)
    if traffic.reduction:
        outer, _, inner, _, chunks, *_ = [int(next(given)) for _ in range(traffic.reduction)]
        written = outer * inner * chunks
    extents = [n]
    if any(mode in PLACED for mode in (traffic.into, *(mode for mode, _ in traffic.reads))):
        extents = [int(next(given)) for _ in range(traffic.rank - 1)]
        extents.insert(0, n // max(1, prod(extents)))

    def elements(mode: str) -> int:
        """Consume an array's parameters and return the number of its elements that are read."""
        if mode in PLACED:
            next(given)  # the offset
            strides = [next(given) for _ in extents]
            return prod(extent for extent, stride in zip(extents, strides, strict=True) if stride)
        if mode in (MOVED, SAME):
            next(given)
        return 1 if mode == SAME else n

    elements(traffic.into)
    nbytes = written * traffic.bits / 8
    for mode, bits in traffic.reads:
        nbytes += elements(mode) * bits / 8
    return float(traffic.operations * n), nbytes
