"""Positions of the true elements of a mask."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Kernel,
    KernelFamily,
    bindings,
)
from browsergpu.engine.kernels.ordering.scan import scan

_TILE = 2048  # words of the mask per workgroup


def true_places(build: Build, mask: Slot, indices: Slot, count: Slot, n: int) -> None:
    """Write the ascending positions i < n of nonzero words of a mask, and their count.

    The positions are the first words of ``indices``; its other words keep their values. ``count``
    has one word. ``indices`` must have room for n words and be a different buffer from the others.
    n must not be 0.
    """
    tiles = blocks(n, _TILE)
    counts, before = build.temporary(4 * tiles), build.temporary(4 * tiles)
    build.dispatch("compact_counts", "", fold(tiles), (mask, counts), n, tiles)
    scan(build, counts, before, "whole_sum", (1, tiles, 1), exclusive=True)
    build.release(counts)
    build.dispatch("compact", "", fold(tiles), (mask, before, indices, count), n, tiles)
    build.release(before)


_PARAMS = params("n: u32", "tiles: u32")

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "compact_counts",
            "compact.wgsl",
            (Binding(0, "mask", READ), Binding(2, "indices", WRITE)),
            _PARAMS,
            "main_counts",
            cost=lambda f: (0.0, 4 * (f["n"] + f["tiles"])),
        ),
        Kernel(
            "compact",
            "compact.wgsl",
            bindings("mask", "before", "indices", "count", written=2),
            _PARAMS,
            # Only the GPU knows how many indices it writes, so they do not count.
            cost=lambda f: (0.0, 4 * (f["n"] + f["tiles"])),
        ),
    )
)
