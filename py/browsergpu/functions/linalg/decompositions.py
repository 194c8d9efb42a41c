"""Matrix decompositions and eigenvalues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors import factorisations
from browsergpu.functions import creation
from browsergpu.functions.linalg import decomposition_gradients as gradients
from browsergpu.functions.linalg.matrices import identities, like, operand, room, stack, view


class QRResult(NamedTuple):
    """Result of :func:`qr`."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Result of :func:`svd`."""

    U: Array
    S: Array
    Vh: Array


class EighResult(NamedTuple):
    """Result of :func:`eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Result of :func:`eig`."""

    eigenvalues: Array
    eigenvectors: Array


@differentiable(x=gradients.of_cholesky)
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return the Cholesky factors of positive definite Hermitian matrices.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].
    upper : bool, optional
        False reads only the lower triangle, and returns L with ``x = L L^H``. True reads only the
        upper triangle, and returns U with ``x = U^H U``.

    Returns
    -------
    Array
        Triangles of shape [..., N, N], of the dtype of ``x``. Integers and bools give float32.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    InvalidMatrix
        At the next read or wait, if a matrix is not positive definite. Its factor is NaN from the
        first column that shows it. The class is a LinAlgError.
    """
    op = "cholesky"
    a = operand(op, "x", x, square=True)
    found = room(op, a, a.shape)
    if a.size:
        factorisations.cholesky(a.device, op, view(a), view(found), stack(a), upper=bool(upper))
    return like(x, found)


@differentiable(x=gradients.of_qr)
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Return the QR decompositions of matrices, by Householder reflections.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].
    mode : {"reduced", "complete"}, optional
        K is ``min(M, N)`` for "reduced", and M for "complete".

    Returns
    -------
    Q : Array
        Orthonormal columns, of shape [..., M, K].
    R : Array
        Upper triangles, of shape [..., K, N].

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes, or ``mode`` has another value.
    InvalidType
        If ``x`` is not an array.
    """
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


@differentiable(x=gradients.of_svd)
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decompositions of matrices.

    The method is one-sided Jacobi rotations and Householder reflections. With ``K = min(M, N)``,
    ``x = U[:, :K] * S @ Vh[:K]``.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].
    full_matrices : bool, optional
        Whether ``U`` and ``Vh`` are square. Otherwise, they have K singular vectors.

    Returns
    -------
    U : Array
        Left singular vectors as columns, of shape [..., M, M] or [..., M, K].
    S : Array
        Singular values in descending order, of shape [..., K]. Real floats.
    Vh : Array
        Right singular vectors as rows, of shape [..., N, N] or [..., K, N].

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    InvalidType
        If ``x`` is not an array.
    """
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


def _svdvals_gradient(g: Array, x: Array) -> Array:
    u, _, vh = svd(x, full_matrices=False)
    return gradients.of_singular_values(g, u, vh)


@differentiable(x=_svdvals_gradient)
def svdvals(x: Array, /) -> Array:
    """Return the singular values of matrices, in descending order.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].

    Returns
    -------
    Array
        Shape [..., min(M, N)]. float16 for float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    InvalidType
        If ``x`` is not an array.
    """
    op = "svdvals"
    a = operand(op, "x", x)
    s = room(op, a, (*a.shape[:-2], min(a.shape[-2:])), FLOAT32)
    if a.size:
        factorisations.singular_values(a.device, op, view(a), view(s), stack(a))
    return like(x, s)


@differentiable(x=gradients.of_eigh)
def eigh(x: Array, /) -> EighResult:
    """Return eigenvalues and eigenvectors of Hermitian matrices, by Jacobi rotations.

    Parameters
    ----------
    x : Array
        Shape [..., N, N]. Only the lower triangle is read.

    Returns
    -------
    eigenvalues : Array
        Ascending order, shape [..., N]. Real floats.
    eigenvectors : Array
        Columns of length 1, shape [..., N, N].

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    """
    op = "eigh"
    a = operand(op, "x", x, square=True)
    values, vectors = room(op, a, a.shape[:-1], FLOAT32), room(op, a, a.shape)
    if a.size:
        factorisations.eigh(a.device, op, view(a), view(values), view(vectors), stack(a))
    return EighResult(like(x, values), like(x, vectors))


def _eigvalsh_gradient(g: Array, x: Array) -> Array:
    return gradients.of_eigenvalues(g, eigh(x).eigenvectors)


@differentiable(x=_eigvalsh_gradient)
def eigvalsh(x: Array, /) -> Array:
    """Return the eigenvalues of Hermitian matrices, in ascending order.

    Parameters
    ----------
    x : Array
        Shape [..., N, N]. Only the lower triangle is read.

    Returns
    -------
    Array
        Shape [..., N]. float16 for float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    """
    op = "eigvalsh"
    a = operand(op, "x", x, square=True)
    values = room(op, a, a.shape[:-1], FLOAT32)
    if a.size:
        factorisations.eigh(a.device, op, view(a), view(values), None, stack(a))
    return like(x, values)


@differentiable(x=gradients.of_eig)
def eig(x: Array, /) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices.

    NumPy computes them on the host, so the function waits.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].

    Returns
    -------
    eigenvalues : Array
        Unordered, shape [..., N], complex64.
    eigenvectors : Array
        Columns of length 1, shape [..., N, N], complex64.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    LinAlgError
        If a matrix contains infinities or NaN.
    """
    a = operand("eig", "x", x, square=True)
    values, vectors = np.linalg.eig(_wide(a))
    return EigResult(_narrow(a, values), _narrow(a, vectors))


def _eigvals_gradient(g: Array, x: Array) -> Array:
    return gradients.of_general_eigenvalues(g, eig(x).eigenvectors)


@differentiable(x=_eigvals_gradient)
def eigvals(x: Array, /) -> Array:
    """Return the eigenvalues of square matrices, in no order.

    NumPy computes them on the host, so the function waits.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].

    Returns
    -------
    Array
        Shape [..., N], complex64.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    LinAlgError
        If a matrix contains infinities or NaN.
    """
    a = operand("eigvals", "x", x, square=True)
    return _narrow(a, np.linalg.eigvals(_wide(a)))


def _wide(x: Array) -> np.ndarray:
    return x.numpy().astype(np.complex128 if x.node.kind is COMPLEX64 else np.float64)


def _narrow(x: Array, found: np.ndarray) -> Array:
    return creation.asarray(found, dtype=COMPLEX64.numpy, device=x.device)
