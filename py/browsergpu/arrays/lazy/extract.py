"""The part of a trace that one kernel computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from browsergpu.arrays.lazy.node import Node
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.engine.kernels.fused.source import (
    is_leaf,
    is_loaded,
    is_number,
    needed,
    operands_of,
    with_operands,
)


class Extract(NamedTuple):
    """The entries of a trace that some values depend on.

    Equal computations have equal extracts, whatever else their traces record.

    Attributes
    ----------
    code
        The entries, as a trace of their own.
    results
        The places of the values in ``code``.
    arrays
        The places of the arrays in the whole trace.
    laid_out
        The arrays that the kernel reads in the result's order.
    numbers
        The places of the numbers in the whole trace.
    """

    code: tuple[int, ...]
    results: tuple[int, ...]
    arrays: tuple[int, ...]
    laid_out: tuple[int, ...]
    numbers: tuple[int, ...]

    def layout(self, leaves: Mapping[int, Node]) -> tuple[Place, ...]:
        """Return the memory places of the arrays that the kernel reads in the result's order."""
        found = [leaves[place] for place in self.laid_out]
        return tuple([(node.shape, node.strides, node.offset) for node in found])

    def ids(self, leaves: Mapping[int, Node]) -> list[int]:
        """Return the buffer ids of the arrays."""
        return [leaves[place].storage.buffer.id for place in self.arrays]

    def parameters(self, words: Mapping[int, tuple[int, ...]]) -> list[int]:
        """Return the words of the numbers."""
        return [word for place in self.numbers for word in words[place]]


@lru_cache(maxsize=1024)
def extract(code: tuple[int, ...], places: tuple[int, ...]) -> Extract:
    """Extract the entries that the values at ``places`` depend on."""
    kept, new, entries = pruned(code, places)
    arrays = tuple(place for place in kept if is_leaf(code[place]))
    laid_out = tuple(place for place in arrays if not is_loaded(code[place]))
    numbers = tuple(place for place in kept if is_number(code[place]))
    return Extract(entries, tuple(new[place] for place in places), arrays, laid_out, numbers)


@lru_cache(maxsize=1024)
def pruned(
    code: tuple[int, ...], places: tuple[int, ...]
) -> tuple[Sequence[int], Mapping[int, int], tuple[int, ...]]:
    """Prune a trace to the entries that the values at ``places`` depend on.

    Returns the places of these entries, the place of each in the pruned trace, and that trace.
    """
    kept = needed(code, places)
    new = {place: at for at, place in enumerate(kept)}
    entries = [
        with_operands(code[place], [new[at] for at in operands_of(code[place])]) for place in kept
    ]
    return kept, new, tuple(entries)
