"""Sets of characters as ranges of code points, and as ranges of UTF-8's bytes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache

Ranges = tuple[tuple[int, int], ...]

LAST = sys.maxunicode
_SURROGATES = (0xD800, 0xDFFF)
#: The last code points of one to three bytes.
_LENGTHS = (0x7F, 0x7FF, 0xFFFF)

_KINDS: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdecimal,
    "SPACE": str.isspace,
    "WORD": lambda one: one.isalnum() or one == "_",
}


@cache
def category(name: str, *, is_ascii: bool) -> Ranges:
    """Return the ranges of DIGIT, SPACE or WORD, as ``re`` defines them."""
    is_in = _KINDS[name]
    last = 0x7F if is_ascii else LAST
    found: list[tuple[int, int]] = []
    for point in range(last + 1):
        # chr(28) to chr(31) are spaces of str, and of re for texts too.
        if is_in(chr(point)):
            if found and found[-1][1] == point - 1:
                found[-1] = found[-1][0], point
            else:
                found.append((point, point))
    return tuple(found)


def union(parts: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges in order, without overlaps."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """Return the code points that are not in ordered ranges."""
    found, begin = [], 0
    for low, high in ranges:
        if low > begin:
            found.append((begin, low - 1))
        begin = high + 1
    if begin <= LAST:
        found.append((begin, LAST))
    return tuple(found)


def byte_ranges(low: int, high: int) -> Iterator[list[tuple[int, int]]]:
    """Yield sequences of byte ranges, whose products are the UTF-8 of the code points.

    Surrogates have no UTF-8 and are left out.
    """
    begin, end = _SURROGATES
    if low <= end and high >= begin:
        if low < begin:
            yield from byte_ranges(low, begin - 1)
        if high > end:
            yield from byte_ranges(end + 1, high)
        return
    for last in _LENGTHS:
        if low <= last < high:
            yield from byte_ranges(low, last)
            yield from byte_ranges(last + 1, high)
            return
    if high > _LENGTHS[0]:
        for count in range(1, len(chr(high).encode())):
            mask = (1 << 6 * count) - 1
            if low & ~mask == high & ~mask:
                continue
            if low & mask:
                yield from byte_ranges(low, low | mask)
                yield from byte_ranges((low | mask) + 1, high)
                return
            if high & mask != mask:
                yield from byte_ranges(low, (high & ~mask) - 1)
                yield from byte_ranges(high & ~mask, high)
                return
    yield list(zip(chr(low).encode(), chr(high).encode(), strict=True))
