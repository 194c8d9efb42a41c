"""Sums of rows with the same destination."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

#: Rows that one thread adds per dispatch.
_AT_ONCE = 64


def segment_sum(build: Build, places: Slot, values: Slot, y: Slot, n: int, width: int) -> None:
    """Add y[places[r]] += values[r] for r < n rows of ``width`` float32, in a fixed order.

    The uint32 places must be sorted. The values are overwritten. Neither size may be 0.
    """
    grid = fold(blocks(n * width, build.facts.workgroup_sizes.elementwise))
    inner = 1
    while True:
        outer = inner * _AT_ONCE if inner * _AT_ONCE < n else 0
        build.dispatch("segment_sum", "", grid, (places, values, y), n, width, inner, outer)
        if not outer:
            return
        inner = outer


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "segment_sum",
            "segment_sum.wgsl",
            bindings("places", "values", "y", written=2),
            params("n: u32", "width: u32", "inner: u32", "outer: u32"),
            family="elementwise",
            cost=lambda f: (f["n"] * f["width"], 4 * (f["n"] + 3 * f["n"] * f["width"])),
        ),
    )
)
