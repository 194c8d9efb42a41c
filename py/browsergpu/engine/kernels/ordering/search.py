"""Insertion points of values among sorted elements."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings, by_code
from browsergpu.engine.kernels.ordering.sort import CODES, key_of


def search(
    build: Build, ordered: Slot, values: Slot, y: Slot, dtype: DType, n: int, m: int, *, right: bool
) -> None:
    """Add y[i] = the number of the n sorted elements that are less than values[i], for i < m.

    With ``right``, elements equal to values[i] count too. NaN are equal to each other and larger
    than all else. Elements are words with the type of ``sort.key_of(dtype)``, and y has integers. m
    must not be 0. y must be a different buffer from the others.
    """
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
