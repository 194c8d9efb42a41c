"""Rotary position embeddings, and writes of keys and values to a cache."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings

_THREADS = 64


def rotate(
    build: Build, x: Slot, angles: Slot, position: Slot, y: Slot, shape: tuple[int, int, int],
    rotated: int, adjacent: bool, entries: int, capacity: int = 0,
) -> None:  # fmt: skip
    """Add y = x [tokens, heads, width] rotated at the positions from ``position`` on.

    Parameters
    ----------
    angles
        Cosines and sines, float32 of shape [entries, rotated / 2, 2].
    rotated
        How many elements of each head turn.
    adjacent
        Whether neighbors are a pair, or elements rotated / 2 apart.
    capacity
        y is a cache [heads, capacity, width] if not 0. Positions beyond it are not written.
    """
    tokens, heads, width = shape
    grid = fold(blocks(tokens * heads * width, _THREADS))
    build.dispatch(
        "rotary", "", grid, (x, angles, position, y), tokens, heads, width, rotated,
        int(adjacent), capacity, entries,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "rotary", "rotary.wgsl", bindings("x", "angles", "position", "y"),
            params(
                "tokens: u32", "heads: u32", "width: u32", "rotated: u32", "adjacent: u32",
                "capacity: u32", "entries: u32",
            ),
        ),
    )
)  # fmt: skip
