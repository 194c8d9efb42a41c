"""Norms, ranks and pseudoinverses."""

from __future__ import annotations

from math import inf
from typing import Any

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.precision import autocast, widened
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import real
from browsergpu.engine.core.element_types import BOOL, DEFAULTS, FLOAT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions import statistics as over
from browsergpu.functions.linalg.decompositions import svd, svdvals
from browsergpu.functions.linalg.linear import adjoint, matmul
from browsergpu.functions.linalg.matrices import checked, computed, like, operand, wide

_ULP = 2.0**-23  # of float32, at 1
_MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, inf, -inf)


def _vector_norm_gradient(
    g: Array, y: Array, x: Array, x_like: Like, axis: Any, keepdims: bool, ord: float
) -> Any:
    """Return the gradient for ``x``. Where it is not unique, return a subgradient."""
    if ord == 0:
        return 0
    slope, norm = (over.spread(one, x_like, axis, keepdims) for one in (g, y))
    if ord == 1:
        return slope * elementwise.sign(x)
    if ord in (inf, -inf):
        ones = elementwise.equal(elementwise.abs(x), norm).astype(g.dtype)
        return slope * elementwise.sign(x) * ones / over.sum(ones, axis=axis, keepdims=True)
    is_zero = elementwise.equal(norm, 0)
    own = elementwise.where(is_zero, 1, norm)
    if ord == 2:
        return elementwise.where(is_zero, 0, slope * x / own)
    share = (elementwise.abs(x) / own) ** (ord - 1)
    return elementwise.where(is_zero, 0, slope * share) * elementwise.sign(x)


@widened("x")
@differentiable(x=_vector_norm_gradient)
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Array:
    """Return the norms of vectors.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes of a vector. By default, all elements are one vector.
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.
    ord : float, optional
        The order of the norm:

        - inf: the largest absolute value.
        - -inf: the smallest absolute value.
        - 0: the number of nonzero elements.
        - other numbers: ``sum(abs(x) ** ord) ** (1 / ord)``.

    Returns
    -------
    Array
        float16 for float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    InvalidType
        If ``x`` is not an array.
    """
    op = "vector_norm"
    if not isinstance(x, Array):
        raise InvalidType(op, "x", x, "an array (asarray makes one)")
    power = ord if ord in (inf, -inf) else real(op, "ord", ord)
    chosen = shapes.axes(op, "axis", axis, x.ndim)
    own = apply.cast_to(op, x, computed(x.node.kind), copy=False)
    where: dict[str, Any] = {"axis": chosen, "keepdims": keepdims}
    if power == 0:
        count = over.sum(apply.cast_to(op, apply.cast_to(op, own, BOOL), FLOAT32), **where)
        return like(x, count)
    if power == 2 and own.node.kind is FLOAT32:
        return like(x, elementwise.sqrt(over.sum(own * own, **where)))
    sizes = elementwise.abs(own)
    if power == inf:
        return like(x, over.max(sizes, **where))
    if power == -inf:
        return like(x, over.min(sizes, **where))
    if power == 1:
        return like(x, over.sum(sizes, **where))
    if power == 2:
        return like(x, elementwise.sqrt(over.sum(sizes * sizes, **where)))
    return like(x, over.sum(sizes**power, **where) ** (1 / power))


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return the norms of matrices.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].
    keepdims : bool, optional
        Whether the reduced axes stay, with extent 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, optional
        The order of the norm:

        - "fro": the square root of the sum of squares.
        - "nuc": the sum of the singular values.
        - 2, -2: the largest and the smallest singular value.
        - 1, -1: the largest and the smallest sum of a column's absolute values.
        - inf, -inf: the largest and the smallest sum of a row's absolute values.

    Returns
    -------
    Array
        Shape [...]. float16 for float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes, or ``ord`` has another value.
    InvalidType
        If ``x`` is not an array.
    """
    op = "matrix_norm"
    a = wide(checked(op, "x", x))
    if ord not in _MATRIX_ORDERS:
        raise InvalidArgument(op, "ord", ord, "'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    if ord == "fro":
        return like(x, vector_norm(a, axis=(-2, -1), keepdims=keepdims))
    if ord in ("nuc", 2, -2):
        values = svdvals(a)
        function = {"nuc": over.sum, 2: over.max, -2: over.min}[ord]
        found = function(values, axis=-1)
    else:
        sums = over.sum(elementwise.abs(a), axis=-2 if ord in (1, -1) else -1)
        found = (over.max if ord in (1, inf) else over.min)(sums, axis=-1)
    return like(x, manipulation.reshape(found, (*a.shape[:-2], 1, 1)) if keepdims else found)


def _threshold(values: Array, a: Array, rtol: Any) -> Array:
    """Return the threshold for singular values: their largest times a tolerance.

    The tolerance is a number, or has the leading axes of the matrices.
    """
    largest = over.max(values, axis=-1, keepdims=True)
    if isinstance(rtol, Array):
        found: Array = largest * manipulation.expand_dims(rtol, axis=-1)
        return found
    found = largest * (max(a.shape[-2:]) * _ULP if rtol is None else rtol)
    return found


@constant
def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Return the ranks of matrices.

    The rank is the number of singular values that are greater than ``rtol`` times the largest one.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].
    rtol : float or Array, optional
        The tolerance, or one for each matrix. ``max(M, N) * 2**-23`` by default.

    Returns
    -------
    Array
        Integers of shape [...].

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    InvalidType
        If ``x`` is not an array.
    """
    a = operand("matrix_rank", "x", x)
    if a.shape[-1] == 0 or a.shape[-2] == 0:
        return creation.zeros(a.shape[:-2], dtype=DEFAULTS[int].numpy, device=a.device)
    values = svdvals(a)
    return over.count_nonzero(values > _threshold(values, a, rtol), axis=-1)


def _pinv_gradient(g: Array, y: Array, x: Array) -> Any:
    """Return the gradient for matrices whose rank does not change.

    Source: Golub and Pereyra, The Differentiation of Pseudo-Inverses and Nonlinear Least Squares
    Problems Whose Variables Separate, 1973, equation 4.12.
    """
    back, slope = adjoint(y), adjoint(g)
    left = slope - matmul(x, matmul(y, slope))
    right = slope - matmul(matmul(slope, y), x)
    found = matmul(left, matmul(y, back)) + matmul(matmul(back, y), right)
    return found - matmul(matmul(back, g), back)


@differentiable(x=_pinv_gradient)
@autocast(enabled=False)
def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Return the Moore-Penrose pseudoinverses of matrices.

    Parameters
    ----------
    x : Array
        Shape [..., M, N].
    rtol : float or Array, optional
        Singular values up to ``rtol`` times the largest one count as 0. The default is that of
        :func:`matrix_rank`.

    Returns
    -------
    Array
        Shape [..., N, M], of the dtype of ``x``. Integers and bools give float32.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    InvalidType
        If ``x`` is not an array.
    """
    op = "pinv"
    a = operand(op, "x", x)
    if a.size == 0:
        shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
        return like(x, creation.zeros(shape, dtype=a.dtype, device=a.device))
    u, s, vh = svd(a, full_matrices=False)
    inverses = elementwise.where(s > _threshold(s, a, rtol), 1.0 / s, 0.0)
    return like(x, matmul(adjoint(vh) * inverses[..., None, :], adjoint(u)))
