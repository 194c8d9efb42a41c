"""Matrices as products of simpler ones, and eigenvalues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.core.element_types import COMPLEX64, FLOAT32
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions import creation
from browsergpu.functions.linalg import decomposition_rules as rules
from browsergpu.functions.linalg.matrices import identities, like, operand, room, stack, view
from browsergpu.tensors import factorisations


class QRResult(NamedTuple):
    """What :func:`qr` gives."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """What :func:`svd` gives."""

    U: Array
    S: Array
    Vh: Array


class EighResult(NamedTuple):
    """What :func:`eigh` gives."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """What :func:`eig` gives."""

    eigenvalues: Array
    eigenvectors: Array


@differentiable(x=rules.of_cholesky)
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The lower triangles L of positive definite Hermitian matrices x = L L^H, of which only the
    lower triangle is read; or where ``upper`` U of x = U^H U, of which the upper one is. Of a
    matrix that is not positive definite, L is NaN from the first column on that shows it, and
    the next read or wait raises LinAlgError."""
    op = "cholesky"
    a = operand(op, "x", x, square=True)
    found = room(op, a, a.shape)
    if a.size:
        factorisations.cholesky(a.device, op, view(a), view(found), stack(a), upper=bool(upper))
    return like(x, found)


@differentiable(x=rules.of_qr)
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Matrices of M rows and N columns as products of Q, of orthogonal columns of length 1, and R,
    an upper triangle, by Householder's reflections: Q has as many columns as R has rows, the
    smaller one of M and N, or M where the mode is "complete"."""
    op = "qr"
    if mode not in ("reduced", "complete"):
        raise InvalidArgument(op, "mode", mode, "'reduced' or 'complete'")
    a = operand(op, "x", x)
    *lead, rows, columns = a.shape
    width = rows if mode == "complete" else min(rows, columns)
    if a.size == 0:
        r = creation.zeros((*lead, width, columns), dtype=a.dtype, device=a.device)
        return QRResult(like(x, identities(a, rows, width)), like(x, r))
    q, r = room(op, a, (*lead, rows, width)), room(op, a, (*lead, width, columns))
    factorisations.qr(a.device, op, view(a), view(q), view(r), stack(a), width)
    return QRResult(like(x, q), like(x, r))


@differentiable(x=rules.of_svd)
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular values S of matrices of M rows and N columns, the greatest first, and their
    singular vectors, the columns of U and the rows of Vh: x = U[:, :K] * S @ Vh[:K], where K is the
    smaller one of M and N. Where ``full_matrices``, U and Vh are square; else they have K of them.
    By one-sided Jacobi rotations and Householder's reflections."""
    op = "svd"
    a = operand(op, "x", x)
    *lead, rows, columns = a.shape
    count = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (count, count)
    s = room(op, a, (*lead, count), FLOAT32)
    if a.size == 0:
        u, vh = identities(a, rows, left), identities(a, right, columns)
        return SVDResult(like(x, u), like(x, s), like(x, vh))
    u, vh = room(op, a, (*lead, rows, left)), room(op, a, (*lead, right, columns))
    factorisations.svd(
        a.device, op, view(a), view(u), view(s), view(vh), stack(a), max(left, right)
    )
    return SVDResult(like(x, u), like(x, s), like(x, vh))


def _of_singular_values(g: Array, x: Array) -> Array:
    u, _, vh = svd(x, full_matrices=False)
    return rules.of_singular_values(g, u, vh)


@differentiable(x=_of_singular_values)
def svdvals(x: Array, /) -> Array:
    """The singular values of matrices, the greatest first."""
    op = "svdvals"
    a = operand(op, "x", x)
    s = room(op, a, (*a.shape[:-2], min(a.shape[-2:])), FLOAT32)
    if a.size:
        factorisations.singular_values(a.device, op, view(a), view(s), stack(a))
    return like(x, s)


@differentiable(x=rules.of_eigh)
def eigh(x: Array, /) -> EighResult:
    """The eigenvalues of Hermitian matrices, the smallest first, and the eigenvectors, columns of
    length 1. Only the lower triangle is read. By Jacobi's rotations."""
    op = "eigh"
    a = operand(op, "x", x, square=True)
    values, vectors = room(op, a, a.shape[:-1], FLOAT32), room(op, a, a.shape)
    if a.size:
        factorisations.eigh(a.device, op, view(a), view(values), view(vectors), stack(a))
    return EighResult(like(x, values), like(x, vectors))


def _of_eigenvalues(g: Array, x: Array) -> Array:
    return rules.of_eigenvalues(g, eigh(x).eigenvectors)


@differentiable(x=_of_eigenvalues)
def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of :func:`eigh`."""
    op = "eigvalsh"
    a = operand(op, "x", x, square=True)
    values = room(op, a, a.shape[:-1], FLOAT32)
    if a.size:
        factorisations.eigh(a.device, op, view(a), view(values), None, stack(a))
    return like(x, values)


@differentiable(x=rules.of_eig)
def eig(x: Array, /) -> EigResult:
    """The eigenvalues of square matrices, in no order, and the eigenvectors, columns of length 1:
    complex64. Computed by NumPy on the host: waits. Raises NumPy's LinAlgError for matrices with
    infinities or NaN."""
    a = operand("eig", "x", x, square=True)
    values, vectors = np.linalg.eig(_wide(a))
    return EigResult(_narrow(a, values), _narrow(a, vectors))


def _of_general_eigenvalues(g: Array, x: Array) -> Array:
    return rules.of_general_eigenvalues(g, eig(x).eigenvectors)


@differentiable(x=_of_general_eigenvalues)
def eigvals(x: Array, /) -> Array:
    """The eigenvalues of :func:`eig`. Computed by NumPy on the host: waits."""
    a = operand("eigvals", "x", x, square=True)
    return _narrow(a, np.linalg.eigvals(_wide(a)))


def _wide(x: Array) -> np.ndarray:
    return x.numpy().astype(np.complex128 if x.node.kind is COMPLEX64 else np.float64)


def _narrow(x: Array, found: np.ndarray) -> Array:
    return creation.asarray(found, dtype=COMPLEX64.numpy, device=x.device)
