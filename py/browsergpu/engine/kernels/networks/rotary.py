"""Rotary position embeddings, and writes of keys and values to a cache."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

_THREADS = 64
#: Elements of a head that share a factor in a cache of 8 bits.
BLOCK = 32


def row_words(width: int) -> int:
    """Return the words of a head of keys in a cache of 8 bits."""
    return width // 4 + blocks(width, BLOCK)


def rotate(
    build: Build, x: Slot, angles: Slot, position: Slot, slots: Slot, y: Slot,
    shape: tuple[int, int, int], rotated: int, adjacent: bool, entries: int, sequences: int,
    capacity: int = 0,
) -> None:  # fmt: skip
    """Add y = x [tokens, heads, width] rotated at the positions of its tokens.

    Parameters
    ----------
    angles
        Cosines and sines, float32 of shape [entries, rotated / 2, 2].
    position, slots
        Of each sequence, the position of its first token, and its slot of a cache. int32.
    rotated
        How many elements of each head turn.
    adjacent
        Whether neighbors are a pair, or elements rotated / 2 apart.
    sequences
        A divisor of the tokens.
    capacity
        y is a cache [slots, heads, capacity, width] if not 0. Positions beyond it are not written.
    """
    tokens, heads, width = shape
    grid = fold(blocks(tokens * heads * width, _THREADS))
    build.dispatch(
        "rotary", "", grid, (x, angles, position, slots, y), tokens, heads, width, rotated,
        int(adjacent), capacity, entries, tokens // sequences,
    )  # fmt: skip


def quantize(
    build: Build, x: Slot, angles: Slot, position: Slot, slots: Slot, cache: Slot,
    shape: tuple[int, int, int], rotated: int, adjacent: bool, entries: int, sequences: int,
    capacity: int,
) -> None:  # fmt: skip
    """Write x, rotated as by :func:`rotate`, to a cache of 8 bits.

    The cache is uint32 of shape [slots, heads, capacity, row_words(width)].
    """
    tokens, heads, width = shape
    grid = fold(blocks(tokens * heads * blocks(width, BLOCK), _THREADS))
    build.dispatch(
        "cache_int8", "", grid, (x, angles, position, slots, cache), tokens, heads, width, rotated,
        int(adjacent), capacity, entries, tokens // sequences,
    )  # fmt: skip


_BINDINGS = bindings("x", "angles", "position", "slots", "y")
_PARAMS = params(
    "tokens: u32", "heads: u32", "width: u32", "rotated: u32", "adjacent: u32", "capacity: u32",
    "entries: u32", "each: u32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel("rotary", "rotary.wgsl", _BINDINGS, _PARAMS),
        Kernel("cache_int8", "cache_int8.wgsl", _BINDINGS, _PARAMS),
    )
)
