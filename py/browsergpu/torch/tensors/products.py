"""Products of matrices and vectors."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import contraction, equations, linear, norms, triangular
from browsergpu.torch.tensors.dtypes import operands
from browsergpu.torch.tensors.indexing import in_place
from browsergpu.torch.tensors.pointwise import factor
from browsergpu.torch.tensors.public import add_method, public

_named: Any = namedtuple
_Triangular: Any = _named("triangular_solve", ("solution", "cloned_coefficient"))


def _product(name: str, rank: int) -> None:
    def function(input: Any, mat2: Any) -> Any:
        if len(input.shape) != rank or len(mat2.shape) != rank:
            given = input if len(input.shape) != rank else mat2
            raise InvalidArgument(name, "input", given, f"have {rank} axes", "Use matmul.")
        if rank == 3 and input.shape[0] != mat2.shape[0]:
            raise InvalidArgument(name, "mat2", mat2, f"have {input.shape[0]} matrices")
        return linear.matmul(input, mat2)

    function.__name__ = name
    function.__doc__ = f"Return the product of matrices, as ``torch.{name}``."
    public(name)(function)


_product("mm", 2)
_product("bmm", 3)


@public("matmul")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of matrices, vectors or stacks of matrices."""
    return linear.matmul(input, other)


@public()
def mv(input: Any, vec: Any) -> Any:
    """Return the product of a matrix and a vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise InvalidArgument("mv", "vec", vec, "a vector, and input a matrix", "Use matmul.")
    return linear.matmul(input, vec)


@public("dot")
def dot(input: Any, tensor: Any) -> Any:
    """Return the product of two vectors."""
    return _of_vectors("dot", input, tensor, conjugate=False)


@public("vdot")
def vdot(input: Any, other: Any) -> Any:
    """Return the product of two vectors, the first one conjugated."""
    return _of_vectors("vdot", input, other, conjugate=True)


def _of_vectors(op: str, input: Any, other: Any, *, conjugate: bool) -> Any:
    for x in (input, other):
        if x.ndim != 1:
            raise InvalidArgument(op, "input", x, "have 1 axis", "Use inner or matmul.")
    is_complex = input.dtype.kind == "c"
    return linear.vecdot(elementwise.conj(input) if is_complex and not conjugate else input, other)


@public("inner")
def inner(input: Any, other: Any) -> Any:
    """Return the sum of products along the last axes."""
    return ABOVE.namespace.inner(input, other)


@public("outer", "ger")
def outer(input: Any, vec2: Any) -> Any:
    """Return the products of all pairs of elements."""
    return linear.outer(input, vec2)


def _with_product(name: str) -> None:
    def function(input: Any, first: Any, second: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        factor(name, "alpha", alpha, first, second)
        factor(name, "beta", beta, input)
        found = linear.matmul(first, second)
        if name == "addbmm":
            found = ABOVE.namespace.sum(found, axis=0)
        found = found if alpha == 1 else alpha * found
        if beta == 0:
            return found
        return (input if beta == 1 else beta * input) + found

    function.__name__ = name
    function.__doc__ = f"Return ``beta * input + alpha * (first @ second)``, as ``torch.{name}``."
    public(name)(function)

    in_place(f"{name}_", function)


for _name in ("addmm", "addmv", "baddbmm", "addbmm"):
    _with_product(_name)


@public()
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return ``beta * input + alpha * outer(vec1, vec2)``."""
    factor("addr", "alpha", alpha, vec1, vec2)
    factor("addr", "beta", beta, input)
    found = alpha * linear.outer(vec1, vec2)
    return found if beta == 0 else beta * input + found


@public(method=False)
def einsum(equation: str, *operands: Any) -> Any:
    """Sum products of elements by Einstein's convention."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], list) else operands
    return contraction.einsum(equation, *given)


@public(method=False)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sum products along several axes."""
    return linear.tensordot(a, b, axes=dims)


@public()
def kron(input: Any, other: Any) -> Any:
    """Return the Kronecker product."""
    return ABOVE.namespace.kron(input, other)


@public()
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """Return the cross product of vectors, by default along the first axis of length 3."""
    if dim is None:
        dims = [n for n, one in enumerate(input.shape) if one == 3]
        if not dims:
            raise InvalidArgument("cross", "input", input, "have an axis of length 3")
        dim = dims[0]
    return linear.cross(input, other, axis=dim)


@public(out=False)
def trace(input: Any) -> Any:
    """Return the sum of the diagonal."""
    if input.ndim != 2:
        raise InvalidArgument("trace", "input", input, "have 2 axes")
    return linear.trace(input)


@public()
def tril(input: Any, diagonal: int = 0) -> Any:
    """Return the lower triangle, and zeros above it."""
    return creation.tril(input, k=diagonal)


@public()
def triu(input: Any, diagonal: int = 0) -> Any:
    """Return the upper triangle, and zeros below it."""
    return creation.triu(input, k=diagonal)


@public(method=False, out=False)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """Return the distances between all rows of two matrices."""
    del compute_mode
    gap = manipulation.expand_dims(x1, -2) - manipulation.expand_dims(x2, -3)
    return norms.vector_norm(gap, axis=-1, ord=p)


@public("inverse")
def inverse(input: Any) -> Any:
    """Return the inverse of a matrix."""
    return equations.inv(input)


@public()
def cholesky_solve(input: Any, L: Any, upper: bool = False) -> Any:
    """Return the X of ``A @ X = input`` for the Cholesky factor of A."""
    if input.ndim < 2:
        raise InvalidArgument("cholesky_solve", "input", input, "have at least 2 axes")
    return triangular.solve_factored(L, input, upper=upper)


@public(out=False)
def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """Return the X of ``A @ X = input`` with a triangle of A, and a copy of A."""
    if input.ndim < 2:
        raise InvalidArgument("triangular_solve", "input", input, "have at least 2 axes")
    found = triangular.solve_triangular(
        A, input, upper=upper, unit_diagonal=unitriangular, transpose="T" if transpose else "N"
    )
    return _Triangular(found, A.__copy__())


@public("det")
def det(input: Any) -> Any:
    """Return the determinant of a matrix."""
    return equations.det(input)


@public("matrix_power")
def matrix_power(input: Any, n: int) -> Any:
    """Return a power of a matrix."""
    return equations.matrix_power(input, n)


def _matmul(self: Any, other: Any) -> Any:
    return matmul(*operands(self, other)) if isinstance(other, Array) else NotImplemented


def _rmatmul(self: Any, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Array) else NotImplemented


add_method("__matmul__", _matmul)
add_method("__rmatmul__", _rmatmul)


@public("renorm")
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Scale the parts along an axis whose norm is larger than ``maxnorm``."""
    if input.ndim < 2:
        raise InvalidArgument("renorm", "input", input, "have at least 2 axes")
    rest = tuple([n for n in range(input.ndim) if n != dim % input.ndim])
    size = norms.vector_norm(input, axis=rest, keepdims=True, ord=p)
    return input * elementwise.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)
