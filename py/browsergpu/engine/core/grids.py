"""Limits of kernel grids.

WebGPU allows 65,535 workgroups in a dimension, so larger counts are folded into two dimensions.
Shaders count in u32.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

MAX_PER_DIMENSION = 65_535
#: Maximum elements of a kernel, and maximum bytes of a buffer. Shaders number elements in u32, and
#: the last workgroups of a folded grid may exceed the count by up to 2**18.
MOST_ELEMENTS = 2**32 - 2**18


def blocks(n: int, size: int) -> int:
    """Return the number of blocks of ``size`` that cover ``n``."""
    return -(-n // size)


def fold(count: int) -> tuple[int, int, int]:
    """Return a grid of at least ``count`` workgroups, numbered y * grid.x + x in the shader.

    The grid may have a few too many, which the shader must mask.
    """
    if count <= MAX_PER_DIMENSION:
        return count, 1, 1
    rows = blocks(count, MAX_PER_DIMENSION)
    return blocks(count, rows), rows, 1


@lru_cache(maxsize=1024)
def cover(n: int, size: int) -> tuple[int, int, int]:
    """Return a grid of workgroups that cover ``n`` elements, ``size`` each."""
    return fold(blocks(n, size))


def fits(*counts: int) -> bool:
    """Return whether a grid may have these counts without folding."""
    return max(counts) <= MAX_PER_DIMENSION


def layers(count: int) -> Iterator[tuple[int, int]]:
    """Iterate over the dispatches that a z extent of ``count`` needs, as (first, number)."""
    for first in range(0, count, MAX_PER_DIMENSION):
        yield first, min(MAX_PER_DIMENSION, count - first)
