"""The work of generated elementwise kernels, for profiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

#: Access modes by what their parameters are: one offset, or an offset and strides.
_BY_OFFSET, _BY_STRIDES = "MS", "RFET"
_SAME = "S"


class Traffic(NamedTuple):
    """What a kernel computes, reads and writes for each element.

    Attributes
    ----------
    operations : int
        The number of operations.
    reads : tuple of tuple
        The access mode and the bits of each array, in the order of their parameters.
    into : str
        The access mode of what is written; empty for packed memory of its own.
    bits : int
        The bits that are written.
    rank : int
        The number of axes.
    """

    operations: int
    reads: tuple[tuple[str, int], ...]
    into: str
    bits: int
    rank: int


def work(traffic: Traffic, parameters: Sequence[float]) -> tuple[float, float]:
    """Return the operations and the bytes of one dispatch.

    An element of a broadcast array counts once.
    """
    given = iter(parameters)
    n = int(next(given))
    modes = (traffic.into, *(mode for mode, _ in traffic.reads))
    extents = [n]
    if any(mode and mode in _BY_STRIDES for mode in modes):
        extents = [int(next(given)) for _ in range(traffic.rank - 1)]
        extents.insert(0, n // max(1, prod(extents)))

    def elements(mode: str) -> int:
        if mode and mode in _BY_OFFSET:
            next(given)
            return 1 if mode == _SAME else n
        if not mode or mode not in _BY_STRIDES:
            return n
        next(given)
        strides = [next(given) for _ in range(traffic.rank)]
        return prod(extent for extent, stride in zip(extents, strides, strict=True) if stride)

    elements(traffic.into)
    nbytes = n * traffic.bits / 8
    for mode, bits in traffic.reads:
        nbytes += elements(mode) * bits / 8
    return float(traffic.operations * n), nbytes
