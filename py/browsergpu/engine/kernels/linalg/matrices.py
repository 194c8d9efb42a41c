"""Operations on parts of dense matrices, shared by lu, cholesky, qr, svd and eigh.

A slot holds ``count`` row-major matrices of float32, or of complex64 as float32 pairs.
Factorizations work in place. The matrix is wide enough for an identity or for right-hand sides
beside it. No size may be 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Work,
)

#: Bits of how :func:`put` and :func:`take` transform a part.
TRANSPOSED, CONJUGATED, LOWER, UPPER, _SCALED = 1, 2, 4, 8, 16

#: Configurations of all matrix kernels: real and complex.
NUMBERS: Configurations = {
    "real": {"REAL": 1, "COMPLEX": 0},
    "complex": {"REAL": 0, "COMPLEX": 1},
}
THREADS = 256
_TILE = 32  # rows and columns of a workgroup of matrix_update


@dataclass(frozen=True, slots=True)
class Matrices:
    """Matrices of the same shape. ``columns`` counts all columns of a row in memory."""

    count: int
    rows: int
    columns: int
    is_complex: bool

    @property
    def numbers(self) -> str:
        """The configuration of kernels for these matrices."""
        return "complex" if self.is_complex else "real"

    @property
    def nbytes(self) -> int:
        """Bytes of the matrices."""
        return self.bytes_of(self.count * self.rows * self.columns)

    def wider(self, columns: int) -> Matrices:
        """Return matrices with this many more columns."""
        return replace(self, columns=self.columns + columns)

    def bytes_of(self, n: int) -> int:
        """Return the bytes of n numbers of this type."""
        return (8 if self.is_complex else 4) * n


def put(
    build: Build,
    x: Slot,
    y: Slot,
    to: Matrices,
    first: int,
    width: int,
    way: int = 0,
    scales: Slot | None = None,
    height: int | None = None,
) -> None:
    """Copy x into ``width`` columns of y from ``first`` on, of all rows or the first ``height``.

    ``way`` has bits: TRANSPOSED, CONJUGATED, or LOWER for the Hermitian matrix whose lower triangle
    is x. The numbers are divided by ``scales``, if given.
    """
    rows = to.rows if height is None else height
    n = to.count * rows * width
    _part(build, "matrix_copy", to, first, width, rows, way, n, x, y, scales)


def take(
    build: Build,
    x: Slot,
    of: Matrices,
    first: int,
    width: int,
    height: int,
    y: Slot,
    way: int = 0,
    scales: Slot | None = None,
) -> None:
    """Copy the first ``height`` rows of ``width`` columns of x, from ``first`` on, into y.

    ``way`` has bits: TRANSPOSED, CONJUGATED, and LOWER or UPPER for a triangle with zeros
    elsewhere. The numbers are multiplied by ``scales``, if given.
    """
    n = of.count * height * width
    _part(build, "matrix_take", of, first, width, height, way, n, x, y, scales)


def _part(
    build: Build, kernel: str, of: Matrices, first: int, width: int, height: int, way: int, n: int,
    x: Slot, y: Slot, scales: Slot | None,
) -> None:  # fmt: skip
    way |= 0 if scales is None else _SCALED
    # An operand that is not read may be any buffer.
    slots = (x, x if scales is None else scales, y)
    fields = (of.count, of.rows, of.columns, first, width, height, way)
    build.dispatch(kernel, of.numbers, fold(blocks(n, THREADS)), slots, *fields)


def put_identity(build: Build, y: Slot, to: Matrices, first: int, width: int) -> None:
    """Write an identity to the columns of y from ``first`` on."""
    grid = fold(blocks(to.count * to.rows * width, THREADS))
    fields = (to.count, to.rows, to.columns, first, width, 0, 0)
    build.dispatch("matrix_identity", to.numbers, grid, (y,), *fields)


def scale(build: Build, x: Slot, of: Matrices, scales: Slot) -> None:
    """Write for each matrix of x a power of two near its largest absolute value, as float32."""
    fields = (of.count, of.rows, of.columns, 0, 0, 0, 0)
    build.dispatch("matrix_scales", of.numbers, fold(of.count), (x, scales), *fields)


def subtract_product(
    build: Build,
    a: Slot,
    of: Matrices,
    rows: tuple[int, int],
    columns: tuple[int, int],
    inner: tuple[int, int],
    *,
    adjoint: bool = False,
) -> None:
    """Subtract from a part of a the product of two other parts of a.

    The part has the given rows and columns. The factors are the same rows of the inner columns, and
    the inner rows of the same columns. With ``adjoint``, the second factor is the adjoint of the
    first, and the upper triangle of the Hermitian part may stay unchanged.
    """
    height, width, depth = (last - first for first, last in (rows, columns, inner))
    if not height or not width:
        return
    for first, count in layers(of.count):
        build.dispatch(
            "matrix_update", of.numbers, (blocks(width, _TILE), blocks(height, _TILE), count),
            (a,), first, of.rows, of.columns, rows[0], height, columns[0], width, inner[0], depth,
            adjoint,
        )  # fmt: skip


def _update_work(f: Fields) -> Work:
    written = f["height"] * f["width"]
    read = written + f["depth"] * (f["height"] + f["width"])
    return 2 * written * f["depth"], 4 * (read + written)


_PART = params(
    *("matrices: u32", "rows: u32", "columns: u32", "first: u32", "width: u32", "height: u32"),
    "way: u32",
)
_X, _SCALES, _Y = Binding(0, "x", READ), Binding(1, "scales", READ), Binding(2, "y", WRITE)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "matrix_copy", "matrix_part.wgsl", (_X, _SCALES, _Y), _PART, "main_copy", NUMBERS
        ),
        Kernel(
            "matrix_take", "matrix_part.wgsl", (_X, _SCALES, _Y), _PART, "main_take", NUMBERS
        ),
        Kernel(
            "matrix_identity", "matrix_part.wgsl", (_Y,), _PART, "main_identity", NUMBERS
        ),
        Kernel(
            "matrix_scales", "matrix_part.wgsl", (_X, Binding(3, "found", WRITE)), _PART,
            "main_scales", NUMBERS,
        ),
        Kernel(
            "matrix_update",
            "matrix_update.wgsl",
            (Binding(0, "a", WRITE),),
            params(
                *("first: u32", "rows: u32", "columns: u32", "row: u32", "height: u32"),
                *("column: u32", "width: u32", "inner: u32", "depth: u32", "adjoint: u32"),
            ),
            configurations=NUMBERS,
            cost=_update_work,
        ),
    )
)  # fmt: skip
