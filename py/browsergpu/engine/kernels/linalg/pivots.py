"""Detection of failed factorizations by their pivots."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import READ, WRITE, Binding, Kernel, KernelFamily
from browsergpu.engine.kernels.linalg.matrices import NUMBERS, THREADS, Matrices


def note(build: Build, a: Slot, faults: Slot, of: Matrices, *, of_cholesky: bool) -> None:
    """Note in ``faults`` a matrix with a 0 on the diagonal of a, or a NaN if ``of_cholesky``.

    The number of the check is passed when the program runs.
    """
    build.dispatch(
        "pivots", of.numbers, fold(blocks(of.count * of.rows, THREADS)), (a, faults),
        of.count, of.rows, of.columns, of_cholesky, open=True,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "pivots",
            "pivots.wgsl",
            (Binding(0, "a", READ), Binding(1, "faults", WRITE)),
            params("matrices: u32", "n: u32", "columns: u32", "of_cholesky: u32", "check: u32"),
            configurations=NUMBERS,
        ),
    )
)
