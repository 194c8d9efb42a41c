"""Where values belong among sorted elements."""

from __future__ import annotations

from browsergpu.core.dtypes import DType
from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings, by_code
from browsergpu.kernels.ordering.sort import CODES, key_of


def search(
    build: Build, ordered: Slot, values: Slot, y: Slot, dtype: DType, n: int, m: int, *, right: bool
) -> None:
    """y[i] = the number of the n ordered elements that are less than values[i], for i < m, or where
    ``right`` at most values[i]; y is neither of the others, m is not 0. NaN are equal and larger
    than all else. Elements are words, as ``sort.key_of`` says; y has whole numbers."""
    grid = fold(blocks(m, build.facts.workgroup_sizes.elementwise))
    build.dispatch("search", key_of(dtype), grid, (ordered, values, y), n, m, right)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "search",
            "search.wgsl",
            bindings("ordered", "values", "y"),
            params("n: u32", "m: u32", "right: u32"),
            configurations=by_code(CODES, "KIND"),
            family="elementwise",
        ),
    )
)
