"""``jax.scipy.linalg``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import decompositions, equations, triangular
from browsergpu.functions.linalg.exponential import exponential
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.arrays.operands import array, arrays, inexact
from browsergpu.jax.numpy import linalg as _numpys
from browsergpu.jax.numpy.wrappers import FUNCTIONS as NUMPY
from browsergpu.jax.scipy.absent import unknown

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "det", "eigh", "expm", "inv", "qr",
    "solve", "solve_triangular", "svd", "toeplitz",
]  # fmt: skip


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
             ) -> Any:  # fmt: skip
    """Return the Cholesky factor, by default the upper one."""
    del overwrite_a, check_finite  # arrays are not overwritten, and nothing is read
    whole = _mirrored(inexact("cholesky", a), lower)
    return _numpys.cholesky(whole, upper=not lower, symmetrize_input=False)


def _mirrored(x: Any, lower: bool) -> Any:
    """Return the symmetric or Hermitian matrix of which a triangle is given."""
    part = as_jax(creation.tril(x) if lower else creation.triu(x))
    diagonal = as_jax(creation.tril(creation.triu(x)))
    return part + as_jax(elementwise.conj(part.mT)) - diagonal


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
               ) -> Any:  # fmt: skip
    """Return the Cholesky factor, and ``lower``, for :func:`cho_solve`."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
              ) -> Any:  # fmt: skip
    """Return the solution of equations with a factored matrix."""
    del overwrite_b, check_finite
    c, lower = c_and_lower
    factor, right = arrays("cho_solve", c, b, floats=True)
    return as_jax(triangular.solve_factored(factor, right, upper=not lower))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the determinant."""
    return as_jax(equations.det(inexact("det", a)))


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the inverse."""
    return as_jax(equations.inv(inexact("inv", a)))


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    debug: bool = False, check_finite: bool = True, assume_a: str = "gen",
) -> Any:  # fmt: skip
    """Return the solution of linear equations.

    ``assume_a`` is "gen", or "sym", "her" or "pos" for a matrix of which a triangle counts.
    """
    del overwrite_a, overwrite_b, debug, check_finite
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise InvalidArgument("solve", "assume_a", assume_a, "'gen', 'sym', 'her' or 'pos'")
    matrix, right = arrays("solve", a, b, floats=True)
    if assume_a != "gen":
        matrix = _mirrored(matrix, lower)
    return as_jax(equations.solve(matrix, right))


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, debug: Any = None, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Return the solution of equations with a triangular matrix.

    ``trans`` is 0 or "N", 1 or "T" for the transposed matrix, and 2 or "C" for its conjugate.
    """
    del overwrite_b, debug, check_finite
    matrix, right = arrays("solve_triangular", a, b, floats=True)
    way = {0: "N", 1: "T", 2: "C"}.get(trans, trans)
    if way not in ("N", "T", "C"):
        raise InvalidArgument("solve_triangular", "trans", trans, "0, 1, 2, 'N', 'T' or 'C'")
    found = triangular.solve_triangular(
        matrix, right, upper=not lower, unit_diagonal=unit_diagonal, transpose=way
    )
    return as_jax(found)


def eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False,
    overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: Any = None,
    type: int = 1, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Return the eigenvalues and eigenvectors of a symmetric matrix."""
    del overwrite_a, overwrite_b, turbo, check_finite
    for name, given in (("b", b), ("eigvals", eigvals), ("type", None if type == 1 else type)):
        if given is not None:
            raise InvalidArgument("eigh", name, given, "the default")
    found = _numpys.eigh(a, UPLO="L" if lower else "U", symmetrize_input=False)
    return found[0] if eigvals_only else tuple(found)


def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full",
    pivoting: bool = False, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Return the QR decomposition. ``mode`` is "full", "economic" or "r"."""
    del overwrite_a, lwork, check_finite
    if pivoting or mode not in ("full", "economic", "r"):
        raise InvalidArgument("qr", "mode", mode, "'full', 'economic' or 'r', without pivoting")
    x = inexact("qr", a)
    own = {"full": "complete", "economic": "reduced", "r": "complete"}[mode]
    found = decompositions.qr(x, mode=own)
    return (as_jax(found[1]),) if mode == "r" else tuple(as_jax(found))


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
    check_finite: bool = True, lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """Return the singular value decomposition."""
    del overwrite_a, check_finite, lapack_driver
    x = inexact("svd", a)
    if not compute_uv:
        return as_jax(decompositions.svdvals(x))
    return tuple(as_jax(decompositions.svd(x, full_matrices=full_matrices)))


def block_diag(*arrs: Any) -> Any:
    """Return a matrix with blocks on its diagonal."""
    none = (creation.zeros((1, 0)),)
    given = [NUMPY["atleast_2d"](x) for x in arrays("block_diag", *(arrs or none))]
    columns = sum(x.shape[1] for x in given)
    rows, start = [], 0
    for x in given:
        rows.append(NUMPY["pad"](x, ((0, 0), (start, columns - start - x.shape[1]))))
        start += x.shape[1]
    return as_jax(manipulation.concat(rows, axis=0))


def toeplitz(c: Any, r: Any = None) -> Any:
    """Return the matrix with constant diagonals for its first column and row."""
    for name, x in (("c", c), ("r", c if r is None else r)):
        if array("toeplitz", x).ndim > 1:
            raise InvalidArgument("toeplitz", name, x, "a vector")
    column = array("toeplitz", c).reshape(-1)
    row = as_jax(elementwise.conj(column)) if r is None and column.dtype.kind == "c" else column
    row = row if r is None else array("toeplitz", r).reshape(-1)
    both = as_jax(manipulation.concat([as_jax(manipulation.flip(row[1:])), column]))
    places = NUMPY["arange"](column.shape[0])[:, None] - NUMPY["arange"](row.shape[0])[None, :]
    return both[places + (row.shape[0] - 1)]


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """Return the exponential of a matrix. Waits for the GPU, to choose the number of squarings."""
    x = inexact("expm", A)
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise InvalidArgument("expm", "A", x, "a square matrix")
    found = as_jax(exponential(x, max_squarings))
    return as_jax(creation.triu(found)) if upper_triangular else found


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.scipy.linalg' has no attribute {name!r}")
    raise unknown("linalg", name)
