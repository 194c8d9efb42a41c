"""The Cholesky factorization of positive definite matrices."""

from __future__ import annotations

from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import WRITE, Binding, Kernel, KernelFamily
from browsergpu.engine.kernels.linalg import matrices, pivots
from browsergpu.engine.kernels.linalg.matrices import NUMBERS, Matrices

_BLOCK = 32  # columns that are factored before the others are updated


def cholesky(build: Build, a: Slot, faults: Slot, of: Matrices) -> None:
    """Replace the lower triangle of A = L L^H in ``a`` [n, n] by L.

    The elements above the diagonal become undefined. If A is not positive definite, L is NaN from
    the first affected column on, and the matrix is noted in ``faults``.
    """
    n = of.rows
    for first in range(0, n, _BLOCK):
        end = min(first + _BLOCK, n)
        build.dispatch("cholesky", of.numbers, fold(of.count), (a,), of.count, n, first, end)
        rest = (end, n)
        matrices.subtract_product(build, a, of, rest, rest, (first, end), adjoint=True)
    pivots.note(build, a, faults, of, of_cholesky=True)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "cholesky",
            "cholesky.wgsl",
            (Binding(0, "a", WRITE),),
            params("matrices: u32", "n: u32", "first: u32", "end: u32"),
            configurations=NUMBERS,
        ),
    )
)
