"""Pairwise combinations of parameters, for tests that would take long with all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import TypeVar

Row = TypeVar("Row", bound=tuple[Hashable, ...])


def pairwise(rows: Iterable[Row]) -> list[Row]:
    """Few of the rows, in which each pair of values occurs that occurs in any of them.

    Nearly all faults need one value or two together, not three. A pair is two values with their
    places in a row; rows are combinations that can be tested, often ``itertools.product(…)``.
    The choice is the same each time.
    """
    left = {row: _pairs(row) for row in rows}
    chosen: list[Row] = []
    missing = set[object]().union(*left.values())
    while missing:
        best = max(left, key=lambda row: len(left[row] & missing))
        missing -= left.pop(best)
        chosen.append(best)
    return chosen


def _pairs(row: tuple[Hashable, ...]) -> set[object]:
    return set(combinations(enumerate(row), 2))
