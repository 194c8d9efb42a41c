"""Linear equations, inverses and determinants, by Gaussian elimination with partial pivoting.

Source of the gradients: Giles, Collected Matrix Derivative Results for Forward and Reverse Mode
Algorithmic Differentiation, 2008, section 2. For singular matrices, the gradients of inverses and
determinants are infinite or NaN, without an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.views import strided
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import FLOAT32, promoted
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.tensors import factorisations
from browsergpu.functions import creation, elementwise
from browsergpu.functions.linalg.linear import adjoint, matmul
from browsergpu.functions.linalg.matrices import (
    checked,
    identities,
    like,
    operand,
    ready,
    room,
    stack,
    view,
    wide,
)


class SlogdetResult(NamedTuple):
    """Result of :func:`slogdet`."""

    sign: Array
    logabsdet: Array


def _solve_gradients(
    g: Array, y: Array, x1: Array, x2_like: Like, needs: Sequence[bool]
) -> tuple[Any, Any]:
    """Return the gradients for ``x1`` and ``x2``: ``-(x1^-H g) y^H`` and ``x1^-H g``."""
    of_vectors = x2_like.ndim == 1
    column = g[..., None] if of_vectors else g
    right = solve(adjoint(x1), column)
    left = -matmul(right, adjoint(y[..., None] if of_vectors else y)) if needs[0] else None
    return left, right[..., 0] if of_vectors else right


@differentiable(joint=(("x1", "x2"), _solve_gradients))
def solve(x1: Array, x2: Array, /) -> Array:
    """Solve the linear equations ``x1 @ x = x2``.

    Parameters
    ----------
    x1 : Array
        Square matrices [..., N, N].
    x2 : Array
        A vector [N] or matrices [..., N, K]. Leading axes broadcast.

    Returns
    -------
    Array
        The solutions, of shape [..., N] or [..., N, K]. complex64 for complex operands, float16 if
        both operands are float16, and float32 otherwise.

    Raises
    ------
    InvalidArgument
        If ``x1`` is not square, or the rows of ``x2`` do not match.
    InvalidType
        If an operand is not an array, or the arrays are on two devices.
    InvalidMatrix
        At the next read or wait, if a matrix is singular. Its solution is infinite or NaN. The
        class is a LinAlgError.
    """
    op = "solve"
    a = operand(op, "x1", x1, square=True)
    if not isinstance(x2, Array):
        raise InvalidType(op, "x2", x2, "an array (asarray makes one)")
    apply.same_device(op, x1, x2)
    b = operand(op, "x2", strided.reshaped(op, x2, (-1, 1)) if x2.ndim == 1 else x2)
    n, width = b.shape[-2:]
    if n != a.shape[-1]:
        raise InvalidArgument(op, "x2", x2, f"have {a.shape[-1]} rows, as x1 has")
    kind = promoted(a.node.kind, b.node.kind)
    lead = shapes.broadcast(op, a.shape[:-2], b.shape[:-2])
    a, b = (ready(op, strided.spread(x, (*lead, *x.shape[-2:])), kind) for x in (a, b))
    found = room(op, a, (*lead, n, width))
    if found.size:
        factorisations.solve(
            a.device, op, view(a), view(b), view(found), stack(a), width, argument="x1"
        )
    wanted = promoted(x1.node.kind, x2.node.kind)
    if wanted.kind == "f":
        found = apply.cast_to(op, found, wanted, copy=False)
    return strided.reshaped(op, found, found.shape[:-1]) if x2.ndim == 1 else found


def _inv_gradient(g: Array, y: Array) -> Any:
    turned = adjoint(y)
    return -matmul(matmul(turned, g), turned)


@differentiable(x=_inv_gradient)
def inv(x: Array, /) -> Array:
    """Return the inverses of square matrices.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].

    Returns
    -------
    Array
        Shape [..., N, N], of the dtype of ``x``. Integers and bools give float32.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    InvalidMatrix
        At the next read or wait, if a matrix is singular. Its inverse is infinite or NaN. The class
        is a LinAlgError.
    """
    return _inverse(x, "x")


@differentiable(x=_inv_gradient)
def inverse(x: Array, /) -> Array:
    """Return the inverses of matrices as :func:`inv`, without an error for singular ones."""
    return _inverse(x, "")


def _inverse(x: Array, argument: str) -> Array:
    op = "inv"
    a = operand(op, "x", x, square=True)
    found = room(op, a, a.shape)
    if a.size:
        n = a.shape[-1]
        factorisations.solve(
            a.device, op, view(a), None, view(found), stack(a), n, argument=argument
        )
    return like(x, found)


def _det_gradient(g: Array, y: Array, x: Array) -> Any:
    factor = g * (elementwise.conj(y) if y.dtype.kind == "c" else y)
    return factor[..., None, None] * adjoint(inverse(x))


@differentiable(x=_det_gradient)
def det(x: Array, /) -> Array:
    """Return the determinants of square matrices.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].

    Returns
    -------
    Array
        Shape [...], of the dtype of ``x``. Integers and bools give float32.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    """
    op = "det"
    a = operand(op, "x", x, square=True)
    lead = a.shape[:-2]
    if a.size == 0:
        return creation.ones(lead, dtype=like(x, a).dtype, device=x.device)
    found = room(op, a, lead)
    factorisations.determinant(a.device, op, view(a), view(found), None, stack(a))
    return like(x, found)


def _slogdet_gradient(g: tuple[Array, Array], y: tuple[Array, Array], x: Array) -> Any:
    """Return the gradient for ``x``. Only the sign of a complex determinant has a gradient."""
    factor: Any = g[1]
    if x.dtype.kind == "c":
        factor = factor + 1j * (g[0] * elementwise.conj(y[0])).imag
    return factor[..., None, None] * adjoint(inverse(x))


@differentiable(x=_slogdet_gradient)
def slogdet(x: Array, /) -> SlogdetResult:
    """Return the signs and logarithms of the determinants of square matrices.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].

    Returns
    -------
    sign : Array
        Shape [...]. Complex numbers of magnitude 1 for complex matrices. 0 if the determinant is 0.
    logabsdet : Array
        Shape [...]. The logarithms of the absolute values, as real floats.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square.
    InvalidType
        If ``x`` is not an array.
    """
    op = "slogdet"
    a = operand(op, "x", x, square=True)
    lead = a.shape[:-2]
    if a.size == 0:
        ones = creation.ones(lead, dtype=like(x, a).dtype, device=x.device)
        return SlogdetResult(ones, creation.zeros_like(ones.real))
    signs, logarithms = room(op, a, lead), room(op, a, lead, FLOAT32)
    factorisations.determinant(a.device, op, view(a), view(signs), view(logarithms), stack(a))
    return SlogdetResult(like(x, signs), like(x, logarithms))


def matrix_power(x: Array, n: int, /) -> Array:
    """Raise square matrices to an integer power, by repeated squaring.

    Parameters
    ----------
    x : Array
        Shape [..., N, N].
    n : int
        The exponent. 0 gives identities, and negative numbers use the inverses.

    Returns
    -------
    Array
        Shape [..., N, N], of the dtype of ``x``. Integers give float32 if ``n`` is negative.

    Raises
    ------
    InvalidArgument
        If ``x`` is not square, or ``n`` is not an integer.
    InvalidMatrix
        At the next read or wait, if ``n`` is negative and a matrix is singular.
    """
    op = "matrix_power"
    a = checked(op, "x", x, square=True)
    exponent = checks.integer(op, "n", n, -checks.LARGEST)
    a = a if a.dtype.kind in "iu" and exponent >= 0 else wide(a)
    if exponent < 0:
        a = inv(a)
    left, found = abs(exponent), None
    while left:
        if left % 2:
            found = a if found is None else matmul(found, a)
        left //= 2
        if left:
            a = matmul(a, a)
    extent = x.shape[-1]
    return like(x, identities(a, extent, extent) if found is None else found)
