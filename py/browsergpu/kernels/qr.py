"""Householder's QR factorisation."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels import matrices
from browsergpu.kernels.build import Build
from browsergpu.kernels.family import WRITE, Binding, Kernel, KernelFamily
from browsergpu.kernels.matrices import NUMBERS, THREADS, Matrices

_BLOCK = 16  # reflections of a dispatch
_LANES = 16  # columns of a workgroup


def qr(build: Build, w: Slot, of: Matrices, width: int, *, positive: bool = False) -> None:
    """w has matrices in its first ``width`` columns, of which R comes on and above the diagonal.
    The columns behind these come to be the first ones of Q; where ``positive``, of the Q whose R
    would have no negative number on the diagonal."""
    count = min(of.rows, width)
    factors = build.temporary(of.bytes_of(of.count * count))
    blocks_of = [(first, min(first + _BLOCK, count)) for first in range(0, count, _BLOCK)]

    def dispatch(kernel: str, workgroups: int, slots: tuple[Slot, ...], *fields: int) -> None:
        fields = (of.count, of.rows, of.columns, *fields[:4], count, *fields[4:])
        build.dispatch(kernel, of.numbers, fold(workgroups), slots, *fields)

    def apply(first: int, end: int, begin: int, to: int, backwards: bool) -> None:
        workgroups = of.count * blocks(to - begin, _LANES)
        dispatch("qr_apply", workgroups, (w, factors), first, end, begin, to, backwards)

    for first, end in blocks_of:
        dispatch("qr_panel", of.count, (w, factors), first, end, 0, 0, False)
        if end < width:
            apply(first, end, end, width, False)
    matrices.put_identity(build, w, of, width, of.columns - width)
    if positive:
        workgroups = blocks(of.count * count, THREADS)
        dispatch("qr_signs", workgroups, (w,), 0, 0, width, 0, False)
    for first, end in reversed(blocks_of):
        apply(first, end, width, of.columns, True)
    build.release(factors)


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
