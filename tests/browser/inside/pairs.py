"""Pairwise combinations of parameters, for tests that would take too long with all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import TypeVar

Row = TypeVar("Row", bound=tuple[Hashable, ...])


def pairwise(rows: Iterable[Row]) -> list[Row]:
    """Return a few of the rows that contain every pair of values in all the rows.

    Nearly all faults need one value or two values together, not three. A pair is two values with
    their positions in a row. Rows are possible combinations, often ``itertools.product(…)``. The
    selection is deterministic.
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
