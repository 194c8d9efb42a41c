"""Where a mask is true."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import READ, WRITE, Binding, Kernel, KernelFamily, bindings
from browsergpu.kernels.ordering.scan import scan

_TILE = 2048  # words of the mask that a workgroup takes


def true_places(build: Build, mask: Slot, indices: Slot, count: Slot, n: int) -> None:
    """The first words of indices = the i < n of which word i of the mask is not 0, in their order;
    count, one word, = how many. The words of indices behind them stay. indices has room for n, is
    neither of the others, and n is not 0."""
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
            # Of the indices, which are at most as many, only the GPU knows how many there are.
            cost=lambda f: (0.0, 4 * (f["n"] + f["tiles"])),
        ),
    )
)
