"""Householder's QR factorization."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import WRITE, Binding, Kernel, KernelFamily
from browsergpu.engine.kernels.linalg import matrices
from browsergpu.engine.kernels.linalg.matrices import NUMBERS, THREADS, Matrices

_BLOCK = 16  # reflections per dispatch
_LANES = 16  # columns per workgroup


def qr(build: Build, w: Slot, of: Matrices, width: int, *, positive: bool = False) -> None:
    """Factor the matrices in the first ``width`` columns of w.

    R replaces them on and above the diagonal. The columns that follow receive the first columns of
    Q. With ``positive``, Q is the one whose R has no negative number on the diagonal.
    """
    factors = factor(build, w, of, width)
    matrices.put_identity(build, w, of, width, of.columns - width)
    if positive:
        count = min(of.rows, width)
        workgroups = blocks(of.count * count, THREADS)
        _dispatch(build, "qr_signs", of, workgroups, (w,), 0, 0, width, 0, count, False)
    multiply(build, w, factors, of, width)
    build.release(factors)


def factor(build: Build, w: Slot, of: Matrices, width: int) -> Slot:
    """Replace the first ``width`` columns of w by R, with the reflections below the diagonal.

    Return a temporary with the rest of the reflections.
    """
    count = min(of.rows, width)
    factors = build.temporary(of.bytes_of(of.count * count))
    both = w, factors
    for first, end in _blocks_of(count):
        _dispatch(build, "qr_panel", of, of.count, both, first, end, 0, 0, count, False)
        if end < width:
            _apply(build, both, of, first, end, end, width, count, False)
    return factors


def multiply(build: Build, w: Slot, factors: Slot, of: Matrices, width: int) -> None:
    """Multiply the columns of w after the first ``width`` by Q, as :func:`factor` left it."""
    count = min(of.rows, width)
    for first, end in reversed(_blocks_of(count)):
        _apply(build, (w, factors), of, first, end, width, of.columns, count, True)


def _blocks_of(count: int) -> list[tuple[int, int]]:
    return [(first, min(first + _BLOCK, count)) for first in range(0, count, _BLOCK)]


def _apply(
    build: Build, both: tuple[Slot, Slot], of: Matrices,
    first: int, end: int, left: int, right: int, count: int, backwards: bool,
) -> None:  # fmt: skip
    workgroups = of.count * blocks(right - left, _LANES)
    _dispatch(build, "qr_apply", of, workgroups, both, first, end, left, right, count, backwards)


def _dispatch(
    build: Build, kernel: str, of: Matrices, workgroups: int, slots: tuple[Slot, ...], *fields: int
) -> None:
    fields = (of.count, of.rows, of.columns, *fields)
    build.dispatch(kernel, of.numbers, fold(workgroups), slots, *fields)


_PARAMS = params(
    *("matrices: u32", "rows: u32", "columns: u32", "first: u32", "end: u32", "left: u32"),
    *("right: u32", "reflections: u32", "backwards: u32"),
)
_A = Binding(0, "a", WRITE)
_BOTH = (_A, Binding(1, "factors", WRITE))

FAMILY = KernelFamily(
    kernels=(
        Kernel("qr_panel", "qr.wgsl", _BOTH, _PARAMS, "main_panel", NUMBERS),
        Kernel("qr_apply", "qr.wgsl", _BOTH, _PARAMS, "main_apply", NUMBERS),
        Kernel("qr_signs", "qr.wgsl", (_A,), _PARAMS, "main_signs", NUMBERS),
    )
)
