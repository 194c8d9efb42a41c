"""Linear algebra, as ``torch.linalg``."""

from __future__ import annotations

from typing import Any

from browsergpu import linalg as _own
from browsergpu.engine.core.errors import InvalidArgument, InvalidType, UnknownName
from browsergpu.functions import manipulation
from browsergpu.functions.linalg import decompositions, equations, linear, norms, triangular
from browsergpu.functions.linalg.exponential import exponential
from browsergpu.torch.tensors.products import matrix_power
from browsergpu.torch.tensors.public import returning_tensors
from browsergpu.torch.tensors.reductions import axes

for _name in ("det", "slogdet", "inv", "eigh", "eigvalsh", "eig", "eigvals", "svdvals",
              "cond", "matrix_rank", "pinv", "multi_dot", "lstsq"):  # fmt: skip
    globals()[_name] = returning_tensors(getattr(_own, _name))

__all__ = ["matrix_power"]


@returning_tensors
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the cross product of vectors with three elements."""
    return linear.cross(input, other, axis=dim)


@returning_tensors
def cholesky(A: Any, *, upper: bool = False) -> Any:
    """Return the Cholesky factor."""
    return decompositions.cholesky(A, upper=upper)


@returning_tensors
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return the X of ``A @ X = B``, or of ``X @ A = B``. B may be a vector for each matrix."""
    is_vector = B.ndim == 1 or tuple(B.shape) == tuple(A.shape[:-1])
    if not left:
        if is_vector:
            raise InvalidArgument("solve", "B", B, "matrices beside left=False")
        found = equations.solve(*(manipulation.matrix_transpose(x) for x in (A, B)))
        return manipulation.matrix_transpose(found)
    if not is_vector:
        return equations.solve(A, B)
    return manipulation.squeeze(equations.solve(A, manipulation.expand_dims(B, -1)), -1)


@returning_tensors
def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """Return the X of ``A @ X = B``, or of ``X @ A = B``, with a triangle of A."""
    if B.ndim < 2:
        raise InvalidArgument("solve_triangular", "B", B, "have at least 2 axes", "Use B[:, None].")
    found = triangular.solve_triangular(
        A, B if left else manipulation.matrix_transpose(B), upper=upper,
        unit_diagonal=unitriangular, transpose="N" if left else "T",
    )  # fmt: skip
    return found if left else manipulation.matrix_transpose(found)


@returning_tensors
def matrix_exp(A: Any) -> Any:
    """Return the exponential of matrices. Waits for the GPU."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise InvalidArgument("matrix_exp", "A", A, "square matrices")
    if A.dtype.kind not in "fc":
        raise InvalidType("matrix_exp", "A", A.dtype, "a float or complex dtype", "Use A.float().")
    return exponential(A)


@returning_tensors
def qr(A: Any, mode: str = "reduced") -> Any:
    """Return an orthogonal and a triangular factor."""
    return decompositions.qr(A, mode=mode)


@returning_tensors
def svd(A: Any, full_matrices: bool = True) -> Any:
    """Return the singular value decomposition U, S, Vh."""
    return decompositions.svd(A, full_matrices=full_matrices)


@returning_tensors
def vector_norm(
    x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Return the norm of vectors."""
    x = x if dtype is None else x.to(dtype)
    return norms.vector_norm(x, axis=axes("vector_norm", x, dim), keepdims=keepdim, ord=ord)


@returning_tensors
def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """Return the norm of matrices."""
    own = manipulation.moveaxis(A, dim, (-2, -1))
    found = norms.matrix_norm(own, ord=ord, keepdims=keepdim)
    return manipulation.moveaxis(found, (-2, -1), dim) if keepdim else found


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the norm of vectors or matrices."""
    is_matrix = isinstance(dim, tuple | list) and len(dim) == 2
    if is_matrix and ord is not None:
        return globals()["matrix_norm"](A, ord, dim, keepdim)
    if ord is not None and dim is None and A.ndim == 2:
        return globals()["matrix_norm"](A, ord, (-2, -1), keepdim)
    if ord is not None and dim is None and A.ndim != 1:
        raise InvalidArgument("linalg.norm", "A", A, "have 1 or 2 axes, or dim be given")
    return globals()["vector_norm"](A, 2 if ord is None else ord, dim, keepdim)


@returning_tensors
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Return the products of vectors."""
    return linear.vecdot(x, y, axis=dim)


@returning_tensors
def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of matrices."""
    return linear.diagonal(manipulation.moveaxis(A, (dim1, dim2), (-2, -1)), offset=offset)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.linalg.{name}", "it is not available.")
