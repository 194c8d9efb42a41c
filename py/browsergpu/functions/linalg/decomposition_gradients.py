"""Gradient rules of matrix decompositions.

Functions of Hermitian matrices read only one triangle. Their gradient is that of a Hermitian
matrix, with half in each triangle. Vectors of equal or zero singular values or eigenvalues have no
derivative, and quotients with a divisor of 0 count as 0.

Sources: Murray, Differentiation of the Cholesky decomposition, 2016; Roberts and Roberts, QR and LQ
Decomposition Matrix Backpropagation Algorithms for Square, Wide, and Deep Matrices, 2020; Giles,
Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation, 2008;
Wan and Zhang, Automatic Differentiation for Complex Valued SVD, 2019; Boeddeker et al., On the
Computation of Complex-valued Gradients with Application to Statistically Optimum Beamforming, 2017.
"""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.engine.core.errors import NotDifferentiable
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg.equations import solve
from browsergpu.functions.linalg.linear import adjoint, diagonal, matmul


def _identity(x: Array) -> Array:
    return creation.eye(x.shape[-2], x.shape[-1], dtype=x.dtype, device=x.device)


def _halved(x: Array) -> Any:
    """Halve the diagonals."""
    return x * (1 - 0.5 * _identity(x))


def _hermitian(x: Array) -> Any:
    return (x + adjoint(x)) * 0.5


def _over(x: Array, by: Array) -> Array:
    """Return ``x / by``, or 0 for a divisor of 0."""
    is_zero = elementwise.equal(by, 0)
    return elementwise.where(is_zero, 0, x / elementwise.where(is_zero, 1, by))


def _diagonal_matrices(x: Array) -> Any:
    """Return diagonal matrices of vectors."""
    n = x.shape[-1]
    return x[..., None] * creation.eye(n, n, dtype=x.dtype, device=x.device)


def _gaps(values: Array) -> Any:
    """Return ``values[j] - values[i]`` for each pair of values."""
    return values[..., None, :] - values[..., :, None]


def of_cholesky(g: Array, y: Array, upper: bool) -> Any:
    """Return the gradient for the matrix. Murray 2016, section 3."""
    lower, slope = (adjoint(y), adjoint(g)) if upper else (y, g)
    turned = adjoint(lower)
    inner = _halved(creation.tril(matmul(turned, slope)))
    return _hermitian(adjoint(solve(turned, adjoint(solve(turned, inner)))))


def of_qr(g: tuple[Array, Array], y: tuple[Array, Array], x: Array, mode: str) -> Any:
    """Return the gradient for the matrix. Roberts and Roberts 2020, equations 3 and 13."""
    q, r = y
    of_q, of_r = g
    rows, columns = x.shape[-2:]
    if mode == "complete" and rows > columns:
        what = (
            "the matrix does not determine all columns of Q in mode 'complete'. Use mode 'reduced'."
        )
        raise NotDifferentiable("qr", what)
    if rows >= columns:
        return _of_tall_qr(of_q, of_r, q, r)
    behind = of_r[..., rows:]
    of_q = of_q + matmul(x[..., rows:], adjoint(behind))
    ahead = _of_tall_qr(of_q, of_r[..., :rows], q, r[..., :rows])
    return manipulation.concat([ahead, matmul(q, behind)], axis=-1)


def _of_tall_qr(of_q: Array, of_r: Array, q: Array, r: Array) -> Array:
    inner = creation.triu(matmul(of_r, adjoint(r)) - matmul(adjoint(q), of_q))
    whole = of_q + matmul(q, _halved(inner + adjoint(inner)))
    return adjoint(solve(r, adjoint(whole)))


def of_eigenvalues(g: Array, vectors: Array) -> Array:
    """Return the gradient for Hermitian matrices. Giles 2008, section 3.1."""
    return matmul(vectors * g[..., None, :], adjoint(vectors))


def of_eigh(g: tuple[Array, Array], y: tuple[Array, Array]) -> Any:
    """Return the gradient for the matrix. Giles 2008, section 3.1; complex: Wan and Zhang 2019."""
    values, vectors = y
    turned = adjoint(vectors)
    inner = _over(matmul(turned, g[1]), _gaps(values)) + _diagonal_matrices(g[0])
    return _hermitian(matmul(vectors, matmul(inner, turned)))


def of_general_eigenvalues(g: Array, vectors: Array) -> Array:
    """Return the gradient for the matrix. Boeddeker et al. 2017, section 4.2."""
    turned = adjoint(vectors)
    return solve(turned, g[..., :, None] * turned)


def of_eig(g: tuple[Array, Array], y: tuple[Array, Array]) -> Array:
    """Return the gradient for the matrix. Boeddeker et al. 2017, section 4.2.

    The eigenvectors keep length 1.
    """
    values, vectors = y
    turned = adjoint(vectors)
    slopes = matmul(turned, g[1])
    slopes = slopes - matmul(turned, vectors) * diagonal(slopes).real[..., None, :]
    inner = _over(slopes, elementwise.conj(_gaps(values)))
    return solve(turned, matmul(inner + _diagonal_matrices(g[0]), turned))


def of_singular_values(g: Array, u: Array, vh: Array) -> Array:
    """Return the gradient for the matrix. Giles 2008, section 3.2."""
    return matmul(u * g[..., None, :], vh)


def of_svd(g: tuple[Array, Array, Array], y: tuple[Array, Array, Array], x_like: Like) -> Any:
    """Return the gradient for the matrix. Wan and Zhang 2019, equations 18 to 21.

    The vectors that ``full_matrices`` adds have no gradient, as the matrix does not determine them.
    """
    count = min(x_like.shape[-2:])
    u, s, vh = y[0][..., :count], y[1], y[2][..., :count, :]
    of_u, of_v = g[0][..., :count], adjoint(g[2][..., :count, :])
    v = adjoint(vh)
    along, across = matmul(adjoint(u), of_u), matmul(vh, of_v)
    apart = _gaps(s * s)
    inner = _over(along - adjoint(along), apart) * s[..., None, :]
    inner = inner + s[..., :, None] * _over(across - adjoint(across), apart)
    of_s = _diagonal_matrices(g[1])
    if u.dtype.kind == "c":  # u has a phase, v has none
        of_s = of_s + _diagonal_matrices(_over(diagonal(along).imag, s)) * 1j
    found = matmul(matmul(u, inner + of_s), vh)
    inverses = _over(creation.ones_like(s), s)
    if x_like.shape[-2] > count:
        beside = (of_u - matmul(u, along)) * inverses[..., None, :]
        found = found + matmul(beside, vh)
    if x_like.shape[-1] > count:
        beside = (of_v - matmul(v, across)) * inverses[..., None, :]
        found = found + matmul(u, adjoint(beside))
    return found
