"""How far kernels count. WebGPU allows 65,535 workgroups in a dimension, so long counts fold into
two, and a shader's u32 has 32 bits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

MAX_PER_DIMENSION = 65_535
#: The most elements that one kernel goes over, and the most bytes of a buffer. Shaders number
#: elements in u32, and those of a folded grid's last workgroups may be as many too many.
MOST_ELEMENTS = 2**32 - 2**18


def blocks(n: int, size: int) -> int:
    """How many blocks of ``size`` cover ``n``."""
    return -(-n // size)


def fold(count: int) -> tuple[int, int, int]:
    """A grid of at least ``count`` workgroups, numbered y * grid.x + x in the shader.

    A few may be too many; the shader must mask them.
    """
    if count <= MAX_PER_DIMENSION:
        return count, 1, 1
    rows = blocks(count, MAX_PER_DIMENSION)
    return blocks(count, rows), rows, 1


@lru_cache(maxsize=1024)
def cover(n: int, size: int) -> tuple[int, int, int]:
    """A grid of workgroups that cover ``n``, ``size`` each."""
    return fold(blocks(n, size))


def fits(*counts: int) -> bool:
    """Whether a grid may have such counts without folding."""
    return max(counts) <= MAX_PER_DIMENSION


def layers(count: int) -> Iterator[tuple[int, int]]:
    """(first, how many) of each dispatch that a z extent of ``count`` takes."""
    for first in range(0, count, MAX_PER_DIMENSION):
        yield first, min(MAX_PER_DIMENSION, count - first)
