"""Linear equations with a triangular matrix."""

from __future__ import annotations

from typing import Any

from browsergpu.functions import creation, elementwise
from browsergpu.functions.linalg.equations import solve
from browsergpu.functions.linalg.linear import adjoint
from browsergpu.functions.manipulation import matrix_transpose


def solve_triangular(
    a: Any, b: Any, *, upper: bool, unit_diagonal: bool = False, transpose: str = "N"
) -> Any:
    """Return the solution of equations with a triangle of ``a``. The other triangle is not read.

    Parameters
    ----------
    a : Array
        Matrices [..., n, n], float32 or complex64.
    b : Array
        Matrices [..., n, k], or a vector [n].
    upper : bool
        Whether the upper triangle counts.
    unit_diagonal : bool
        Whether the diagonal counts as ones.
    transpose : {"N", "T", "C"}
        "T" solves the equations with the transposed matrix, and "C" with its conjugate.
    """
    own = creation.triu(a) if upper else creation.tril(a)
    if unit_diagonal:
        eye = creation.eye(own.shape[-1], dtype=own.dtype, device=own.device)
        own = elementwise.where(eye.astype(bool), eye, own)
    if transpose == "T":
        own = matrix_transpose(own)
    elif transpose == "C":
        own = adjoint(own)
    return solve(own, b)


def solve_factored(factor: Any, b: Any, *, upper: bool) -> Any:
    """Return the solution of equations with the matrix of a Cholesky factor."""
    ways = ("C", "N") if upper else ("N", "C")
    for way in ways:
        b = solve_triangular(factor, b, upper=upper, transpose=way)
    return b
