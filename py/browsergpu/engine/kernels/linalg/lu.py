"""Gaussian elimination with partial pivoting: linear equations, inverses, determinants."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import WRITE, Binding, Kernel, KernelFamily
from browsergpu.engine.kernels.linalg import matrices, pivots
from browsergpu.engine.kernels.linalg.matrices import NUMBERS, THREADS, Matrices

_BLOCK = 32  # columns that are eliminated before the others are updated


def solve(
    build: Build, a: Slot, b: Slot | None, w: Slot, faults: Slot | None, of: Matrices
) -> None:
    """Solve a x = b, or invert a [n, n] if b is None, with n = ``of.rows``.

    The result is in the columns of w after the first n. The first n columns are overwritten.
    Singular matrices are noted in ``faults``.
    """
    n, width = of.rows, of.columns - of.rows
    matrices.put(build, a, w, of, 0, n)
    if b is None:
        matrices.put_identity(build, w, of, n, width)
    else:
        matrices.put(build, b, w, of, n, width)
    exchanges = _eliminate(build, w, of)
    if faults is not None:
        pivots.note(build, w, faults, of, of_cholesky=False)
    for first in reversed(range(0, n, _BLOCK)):
        end = min(first + _BLOCK, n)
        grid = fold(blocks(of.count * width, THREADS))
        fields = (of.count, n, of.columns, first, end, n, 0)
        build.dispatch("lu_back", of.numbers, grid, (w,), *fields)
        matrices.subtract_product(build, w, of, (0, first), (n, of.columns), (first, end))
    build.release(exchanges)


def determinant(build: Build, a: Slot, signs: Slot, sizes: Slot | None, of: Matrices) -> None:
    """Compute the determinants of a.

    With ``sizes``, ``signs`` receives the determinant divided by its absolute value (0 for 0), and
    ``sizes`` the float32 logarithm of the absolute value.
    """
    w = build.temporary(of.nbytes)
    build.copy(a, w, of.nbytes)
    exchanges = _eliminate(build, w, of)
    logarithms = build.temporary(4 * of.count) if sizes is None else sizes
    build.dispatch(
        "lu_determinant", of.numbers, fold(blocks(of.count, THREADS)),
        (w, exchanges, signs, logarithms),
        of.count, of.rows, of.columns, 0, 0, 0, sizes is None,
    )  # fmt: skip
    build.release(w, exchanges, logarithms)


def _eliminate(build: Build, w: Slot, of: Matrices) -> Slot:
    """Eliminate below the diagonal of the first ``of.rows`` columns.

    Return a temporary with the exchanged rows.
    """
    n = of.rows
    exchanges = build.temporary(4 * of.count * (n + 1))
    for first in range(0, n, _BLOCK):
        end = min(first + _BLOCK, n)
        fields = (of.count, n, of.columns, first, end, end, 0)
        build.dispatch("lu_panel", of.numbers, fold(of.count), (w, exchanges), *fields)
        if end < of.columns:
            grid = fold(blocks(of.count * (of.columns - end), THREADS))
            build.dispatch("lu_rows", of.numbers, grid, (w, exchanges), *fields)
        matrices.subtract_product(build, w, of, (end, n), (end, of.columns), (first, end))
    return exchanges


_PARAMS = params(
    *("matrices: u32", "n: u32", "columns: u32", "first: u32", "end: u32", "left: u32"),
    "whole: u32",
)
_A, _EXCHANGES = Binding(0, "a", WRITE), Binding(1, "exchanges", WRITE)

FAMILY = KernelFamily(
    kernels=(
        Kernel("lu_panel", "lu.wgsl", (_A, _EXCHANGES), _PARAMS, "main_panel", NUMBERS),
        Kernel("lu_rows", "lu.wgsl", (_A, _EXCHANGES), _PARAMS, "main_rows", NUMBERS),
        Kernel("lu_back", "lu.wgsl", (_A,), _PARAMS, "main_back", NUMBERS),
        Kernel(
            "lu_determinant",
            "lu.wgsl",
            (_A, _EXCHANGES, Binding(2, "signs", WRITE), Binding(3, "logarithms", WRITE)),
            _PARAMS,
            "main_determinant",
            NUMBERS,
        ),
    )
)
