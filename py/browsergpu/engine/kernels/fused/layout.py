"""The access mode of each array that a fused kernel reads, and the layout parameters."""

from __future__ import annotations

from functools import lru_cache

from browsergpu.engine.core import grids
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import OutOfMemory
from browsergpu.engine.core.grids import blocks
from browsergpu.engine.core.shapes import (
    Shape,
    broadcast_strides,
    contiguous_strides,
    merged,
)
from browsergpu.engine.kernels.fused.source import (
    EACH,
    FLAT,
    IN_FOURS,
    MOVED,
    PLACED,
    ROWS,
    SAME,
    THREADS,
    TILE,
    TURNED,
    WHOLE,
)

#: An array's shape, strides and offset, in elements. Without strides the array is packed.
Place = tuple[Shape, Shape | None, int]
#: The number of axes after merging, whether the last extent is divisible by 4, the access mode of
#: each array, and the layout parameters.
Layout = tuple[int, bool, str, tuple[int, ...]]

WORD = 0xFFFFFFFF  # negative strides wrap around, like the sums in the shader


@lru_cache(maxsize=1024)
def layout(shape: Shape, places: tuple[Place, ...], *, written: bool = False) -> Layout:
    """Choose the access modes of arrays that broadcast to ``shape``.

    Parameters
    ----------
    shape : tuple of int
        The shape of the result.
    places : tuple of Place
        The shape, strides and offset of each array.
    written : bool, optional
        Whether the first place is the region that the kernel writes. Its shape is then ``shape``.

    Raises
    ------
    OutOfMemory
        If ``shape`` has more elements than a kernel counts.
    """
    check_count(product(shape))
    steps = [
        None
        if strides is None and offset == 0 and own == shape and (at or not written)
        else broadcast_strides(own, shape, strides)
        for at, (own, strides, offset) in enumerate(places)
    ]
    extents, *strided = merged(shape, *(given for given in steps if given is not None))
    if not extents:
        extents, strided = (1,), [(0,) for _ in strided]
    by_fours = extents[-1] % 4 == 0
    packed = contiguous_strides(extents)
    rest = iter(strided)
    modes, words = "", []
    for given, (_, _, offset) in zip(steps, places, strict=True):
        if given is None:
            modes += WHOLE
            continue
        own = next(rest)
        mode = access_mode(own, offset, packed, extents)
        if written and not modes and not (mode in IN_FOURS and by_fours):
            mode = EACH
        modes += mode
        if mode == MOVED:
            words.append(offset // 4)
        elif mode == SAME:
            words.append(offset)
        else:
            words += [offset, *(step & WORD for step in own)]
    if any(mode in PLACED for mode in modes):
        words = [*extents[1:], *words]
    return len(extents), by_fours, modes, tuple(words)


def check_count(n: int) -> None:
    """Raise OutOfMemory for more elements than a kernel counts.

    No computed array has more. The sizes, strides and offsets of smaller arrays fit in words.
    """
    most = grids.MOST_ELEMENTS
    if n > most:
        raise OutOfMemory(
            "array", f"an array must have at most {most} elements, got {n}. Work in smaller pieces."
        )


def workgroups(
    n: int, rank: int, modes: str, words: tuple[int, ...], threads: int = THREADS
) -> int:
    """Return the number of workgroups for ``n`` elements with these access modes."""
    if TURNED not in modes:
        return blocks(n, 4 * threads)
    columns = words[rank - 2]
    rows = words[rank - 3] if rank > 2 else n // columns
    return n // (rows * columns) * blocks(rows, TILE) * blocks(columns, TILE)


def access_mode(steps: Shape, offset: int, packed: Shape, extents: Shape) -> str:
    """Return the access mode of an array with these strides and this offset."""
    if not any(steps):
        return SAME
    if steps == packed and offset % 4 == 0:
        return MOVED
    if extents[-1] % 4:
        return EACH
    if steps[-1] == 0:
        return FLAT
    if steps[-1] == 1 and offset % 4 == 0 and all(step % 4 == 0 for step in steps[:-1]):
        return ROWS
    is_turned = len(steps) > 1 and abs(steps[-2]) == 1 and min(extents[-2:]) >= TILE
    return TURNED if is_turned else EACH
