"""Factorizations of float32 and complex64 matrices.

Complex numbers are pairs: the real and imaginary parts are a last axis of length 2. Operands are
batches of matrices that a :class:`Matrices` describes. No axis is empty, and no result is an
operand.
"""

from __future__ import annotations

from functools import partial

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidMatrix
from browsergpu.engine.device.device import Device
from browsergpu.engine.device.faults import Tell
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.linalg import cholesky as cholesky_kernels
from browsergpu.engine.kernels.linalg import jacobi, lu, matrices
from browsergpu.engine.kernels.linalg import qr as qr_kernels
from browsergpu.engine.kernels.linalg.matrices import (
    CONJUGATED,
    LOWER,
    TRANSPOSED,
    UPPER,
    Matrices,
)
from browsergpu.engine.tensors.staging import Operand, launch, of_operands
from browsergpu.engine.tensors.view import View

_ADJOINT = TRANSPOSED | CONJUGATED


def solve(
    device: Device, op: str, a: View, b: View | None, x: View, of: Matrices, width: int,
    *, argument: str,
) -> None:  # fmt: skip
    """Solve a x = b for ``width`` columns, or invert the matrices.

    Singular matrices give infinities or NaN. If ``argument`` is named, the next wait also raises
    InvalidMatrix.
    """
    if not argument:
        launch(device, op, _solve, (a, b, x, None), of, width)
        return
    tell = partial(_invalid, op, argument, of, "invertible", "a singular matrix")
    faults, number = _fault_record(device, tell)
    launch(device, op, _solve, (a, b, x, faults), of, width, late=number)


def _fault_record(device: Device, tell: Tell) -> tuple[View, tuple[int, ...]]:
    """Return the buffer for fault reports, and the number of a new report."""
    faults = device.faults
    faults.is_armed = True
    return View(faults.buffer, (4,), DType.U32), (faults.number(tell),)


def _invalid(
    op: str, argument: str, of: Matrices, expected: str, actual: str, matrix: int, place: str
) -> InvalidMatrix:
    which = f" at place {matrix} of {of.count}" if of.count > 1 else ""
    where = f" in {place}" if place else ""
    return InvalidMatrix(op, argument, f"{actual}{which}{where}", expected)


def determinant(
    device: Device, op: str, a: View, signs: View, logarithms: View | None, of: Matrices
) -> None:
    """Compute determinants.

    With ``logarithms``, ``signs`` are the determinants divided by their absolute values, and
    ``logarithms`` are the float32 logarithms of the absolute values. A zero determinant gives 0 and
    -inf.
    """
    launch(device, op, _determinant, (a, signs, logarithms), of)


def cholesky(device: Device, op: str, a: View, y: View, of: Matrices, *, upper: bool) -> None:
    """Compute L of A = L L^H, or its adjoint if ``upper``.

    a holds the lower triangle of A, or the upper one. If A is not positive definite, L is NaN from
    the column on that shows it, and the next wait raises InvalidMatrix.
    """
    tell = partial(_invalid, op, "x", of, "positive definite", "a matrix that is not")
    faults, number = _fault_record(device, tell)
    launch(device, op, _cholesky, (a, y, faults), of, upper, late=number)


def qr(device: Device, op: str, a: View, q: View, r: View, of: Matrices, width: int) -> None:
    """Compute the QR factorization.

    q has ``width`` orthonormal columns, and r has as many rows.
    """
    launch(device, op, _qr, (a, q, r), of, width)


def svd(
    device: Device, op: str, a: View, u: View, s: View, vh: View, of: Matrices, width: int
) -> None:
    """Compute the singular value decomposition.

    The columns of u are left singular vectors, and the rows of vh right ones. s is sorted in
    descending order. There are ``width`` vectors along a's longer side.
    """
    launch(device, op, _svd, (a, u, s, vh), of, width)


def singular_values(device: Device, op: str, a: View, s: View, of: Matrices) -> None:
    """Compute the singular values, in descending order."""
    launch(device, op, _singular_values, (a, s), of)


def eigh(
    device: Device, op: str, a: View, values: View, vectors: View | None, of: Matrices
) -> None:
    """Compute the eigenvalues, in ascending order, and the eigenvectors as columns.

    a holds the lower triangles of Hermitian matrices.
    """
    launch(device, op, _eigh, (a, values, vectors), of)


@of_operands
def _solve(
    build: Build, a: Operand, b: Operand | None, x: Operand, faults: Operand | None, of: Matrices,
    width: int,
) -> None:  # fmt: skip
    n = of.rows
    wide = of.wider(width)
    w = build.temporary(wide.nbytes)
    right, noted = (None if one is None else one.slot for one in (b, faults))
    lu.solve(build, a.slot, right, w, noted, wide)
    matrices.take(build, w, wide, n, width, n, x.slot)
    build.release(w)


@of_operands
def _determinant(
    build: Build, a: Operand, signs: Operand, logarithms: Operand | None, of: Matrices
) -> None:
    sizes = None if logarithms is None else logarithms.slot
    lu.determinant(build, a.slot, signs.slot, sizes, of)


@of_operands
def _cholesky(
    build: Build, a: Operand, y: Operand, faults: Operand, of: Matrices, upper: bool
) -> None:
    n = of.rows
    w = build.temporary(of.nbytes)
    flags = _ADJOINT if upper else 0
    matrices.put(build, a.slot, w, of, 0, n, flags)
    cholesky_kernels.cholesky(build, w, faults.slot, of)
    matrices.take(build, w, of, 0, n, n, y.slot, LOWER | flags)
    build.release(w)


@of_operands
def _qr(build: Build, a: Operand, q: Operand, r: Operand, of: Matrices, width: int) -> None:
    wide = of.wider(width)
    scales, w = _scaled(build, a.slot, of, wide)
    qr_kernels.qr(build, w, wide, of.columns)
    matrices.take(build, w, wide, of.columns, width, of.rows, q.slot)
    matrices.take(build, w, wide, 0, of.columns, width, r.slot, UPPER, scales)
    build.release(w, scales)


@of_operands
def _svd(
    build: Build, a: Operand, u: Operand, s: Operand, vh: Operand, of: Matrices, width: int
) -> None:
    """Factorize A = Q R, or A^H if that has more rows, and rotate R^H = X S Y^H.

    Then A = Q Y S X^H. This takes fewer sweeps than A itself. X comes from another factorization:
    vectors of singular values near 0 are not orthogonal enough, and those of 0 do not exist.
    """
    is_tall = of.rows >= of.columns
    length, count = (of.rows, of.columns) if is_tall else (of.columns, of.rows)
    tall = Matrices(of.count, length, count + width, of.is_complex)
    scales, w, factors, rows = _rotated(build, a.slot, of, tall, True)
    square = Matrices(of.count, count, count, of.is_complex)
    wide = square.wider(count)
    products, adjoint = build.temporary(square.nbytes), build.temporary(square.nbytes)
    jacobi.order_vectors(build, rows, wide, count, scales, s.slot, products, adjoint)
    matrices.put_identity(build, w, tall, count, width)
    matrices.put(build, adjoint, w, tall, count, count, _ADJOINT, height=count)
    qr_kernels.multiply(build, w, factors, tall, count)
    long, short = (u, vh) if is_tall else (vh, u)
    flags = 0 if is_tall else _ADJOINT
    matrices.take(build, w, tall, count, width, length, long.slot, flags)
    matrices.put(build, products, rows, wide, 0, count, TRANSPOSED)
    qr_kernels.qr(build, rows, wide, count, positive=True)
    matrices.take(build, rows, wide, count, count, count, short.slot, _ADJOINT - flags)
    build.release(scales, w, factors, rows, products, adjoint)


@of_operands
def _singular_values(build: Build, a: Operand, s: Operand, of: Matrices) -> None:
    length, count = max(of.rows, of.columns), min(of.rows, of.columns)
    tall = Matrices(of.count, length, count, of.is_complex)
    scales, w, factors, rows = _rotated(build, a.slot, of, tall, False)
    square = Matrices(of.count, count, count, of.is_complex)
    products, nothing = build.temporary(square.nbytes), build.temporary(8)
    jacobi.order_vectors(build, rows, square, count, scales, s.slot, products, nothing)
    build.release(scales, w, factors, rows, products, nothing)


@of_operands
def _eigh(build: Build, a: Operand, values: Operand, vectors: Operand | None, of: Matrices) -> None:
    n = of.rows
    wide = of if vectors is None else of.wider(n)
    scales, w = _scaled(build, a.slot, of, wide, LOWER)
    if vectors is not None:
        matrices.put_identity(build, w, wide, n, n)
    rows = build.temporary(8 if vectors is None else of.nbytes)
    jacobi.diagonalise(build, w, wide, scales, values.slot, rows)
    if vectors is not None:
        matrices.take(build, rows, of, 0, n, n, vectors.slot, TRANSPOSED)
    build.release(scales, w, rows)


def _scaled(
    build: Build, a: Slot, of: Matrices, wide: Matrices, flags: int = 0
) -> tuple[Slot, Slot]:
    """Return temporaries with the scales and the scaled matrices.

    The scaled matrices are the first columns of wider ones.
    """
    scales, w = build.temporary(4 * of.count), build.temporary(wide.nbytes)
    matrices.scale(build, a, of, scales)
    matrices.put(build, a, w, wide, 0, of.columns, flags, scales)
    return scales, w


def _rotated(
    build: Build, a: Slot, of: Matrices, tall: Matrices, beside: bool
) -> tuple[Slot, Slot, Slot, Slot]:
    """Return temporaries: the scales, the QR factorization (two), the rotated columns of R^H.

    The scaled matrices, or their adjoints, are factorized. The columns are stored as rows, with an
    identity next to them if ``beside``, and rotated until they are orthogonal.
    """
    count = min(of.rows, of.columns)
    scales, w = build.temporary(4 * of.count), build.temporary(tall.nbytes)
    matrices.scale(build, a, of, scales)
    flags = 0 if of.rows >= of.columns else _ADJOINT
    matrices.put(build, a, w, tall, 0, count, flags, scales)
    factors = qr_kernels.factor(build, w, tall, count)
    square = Matrices(of.count, count, count, of.is_complex)
    wide = square.wider(count if beside else 0)
    triangle, rows = build.temporary(square.nbytes), build.temporary(wide.nbytes)
    matrices.take(build, w, tall, 0, count, count, triangle, UPPER | CONJUGATED)
    matrices.put(build, triangle, rows, wide, 0, count)
    build.release(triangle)
    if beside:
        matrices.put_identity(build, rows, wide, count, count)
    jacobi.turn_vectors(build, rows, wide, count)
    return scales, w, factors, rows
