"""Which of those that name a place comes last."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.build import Build
from browsergpu.kernels.family import Kernel, KernelFamily, bindings


def latest(build: Build, places: Slot, owners: Slot, n: int) -> None:
    """owners[places[j]] = the largest j + 1 of those j < n, where that is more than what is there.
    Words; n is not 0, and no place is outside of owners."""
    grid = fold(blocks(n, build.facts.workgroup_sizes.elementwise))
    build.dispatch("latest", "", grid, (places, owners), n)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "latest",
            "latest.wgsl",
            bindings("places", "owners"),
            params("n: u32"),
            family="elementwise",
        ),
    )
)
