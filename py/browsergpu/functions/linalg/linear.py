"""Products of matrices and vectors, adjoint matrices, and diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.precision import narrowed
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import gather
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import alias
from browsergpu.arrays.x64 import check_x64_pair
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import choice, is_several, product
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT16, FLOAT32, INT32, promoted
from browsergpu.engine.core.enums import Precision
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors.matmul import planned
from browsergpu.functions import creation, elementwise, manipulation, operands
from browsergpu.functions.products.matrices import multiplied
from browsergpu.functions.statistics import sum as total


def adjoint(x: Array) -> Array:
    """Return the conjugate transposes of matrices."""
    found = manipulation.matrix_transpose(x)
    return elementwise.conj(found) if x.dtype.kind == "c" else found


def _matmul_left_gradient(g: Array, x2: Array, x1_like: Like, precision: Any) -> Any:
    own = adjoint(x2) if x2.ndim > 1 else elementwise.conj(x2)
    if x2.ndim == 1:
        return g[..., None] * own
    if x1_like.ndim == 1:
        return matmul(g[..., None, :], own, precision=precision)[..., 0, :]
    return matmul(g, own, precision=precision)


def _matmul_right_gradient(g: Array, x1: Array, x2_like: Like, precision: Any) -> Any:
    own = adjoint(x1) if x1.ndim > 1 else elementwise.conj(x1)
    if x1.ndim == 1:
        return own[:, None] * g[..., None, :] if x2_like.ndim > 1 else own * g
    if x2_like.ndim == 1:
        return matmul(own, g[..., None], precision=precision)[..., 0]
    if x2_like.ndim == 2 and x1.ndim > 2:  # one product instead of a sum of products
        number = product(x1.shape[:-1])
        rows, own = (manipulation.reshape(x, (number, x.shape[-1])) for x in (x1, g))
        return matmul(adjoint(rows), own, precision=precision)
    return matmul(own, g, precision=precision)


@narrowed("x1", "x2")
@differentiable(x1=_matmul_left_gradient, x2=_matmul_right_gradient)
def matmul(x1: Array, x2: Array, /, *, precision: str = "highest") -> Array:
    """Multiply matrices. Leading axes broadcast.

    Parameters
    ----------
    x1 : Array
        Shape [..., M, K]. A vector [K] is a row.
    x2 : Array
        Shape [..., K, N]. A vector [K] is a column.
    precision : {"highest", "high"}, optional
        JAX's names, for products of float32 and complex64 and their gradients. "highest" multiplies
        in float32. "high" is faster for large matrices on some GPUs, see Notes.

    Returns
    -------
    Array
        Shape [..., M, N] without the axes of vectors, of the promoted dtype. Floats are summed in
        float32. The product of bools is bool, as in NumPy.

    Raises
    ------
    InvalidArgument
        If the columns of ``x1`` do not match the rows of ``x2``, or the leading axes do not
        broadcast. Also if an operand has no axes, or ``precision`` has another value.
    InvalidType
        If an operand is not an array, or the arrays are on two devices.

    Notes
    -----
    "high" differs from "highest" only for large matrices on GPUs with subgroup matrices: by default
    on NVIDIA, and elsewhere if ``tune`` finds it faster. Each operand is split into two float16
    matrices, and three of their products are summed in float32 (H. Ootomo, R. Yokota, 2022,
    https://arxiv.org/abs/2203.03341). For sums of K products, the error is bounded by

        |error| <= (6 + 1.3 K) 2^-23 sum |x1| |x2| + K 2^-27 max |x1| max |x2|,

    with the largest magnitudes in the row of ``x1`` and the column of ``x2``. The sums are as
    accurate as in float32, but numbers far smaller than others in their row or column lose
    accuracy. Infinities and NaN are at the same places as with "highest". Elements are slow to
    compute if their row or column contains infinities or NaN, or if their sum might overflow. The
    method takes 6 bytes of memory per operand element and 4 per result element.
    """
    op = "matmul"
    chosen = choice(op, "precision", precision, Precision)
    for name, x in (("x1", x1), ("x2", x2)):
        if operands.array(op, name, x).ndim == 0:
            raise InvalidArgument(op, name, x, "have an axis")
    apply.same_device(op, x1, x2)
    left, right = x1.node.kind, x2.node.kind
    if left is right is FLOAT32:
        return _matmul_floats(op, x1, x2, chosen)
    check_x64_pair(op, (left, right))
    kind = promoted(left, right)
    if kind in (FLOAT16, FLOAT32):
        a, b = (apply.cast_to(op, x, kind, copy=False) for x in (x1, x2))
        return _matmul_floats(op, a, b, chosen)
    if kind is COMPLEX64:
        a, b = (apply.cast_to(op, x, kind, copy=False) for x in (x1, x2))
        re = _matmul_floats(op, a.real, b.real, chosen) - _matmul_floats(op, a.imag, b.imag, chosen)
        im = _matmul_floats(op, a.real, b.imag, chosen) + _matmul_floats(op, a.imag, b.real, chosen)
        found: Array = re + im * 1j
        return found
    return _matmul_integers(op, x1, x2)


def _matmul_floats(op: str, x1: Array, x2: Array, precision: Precision) -> Array:
    a, b, tracer = x1.node, x2.node, x1.tracer
    if a.trace is not None:
        a.in_memory()
    if b.trace is not None:
        b.in_memory()
    ready = planned(op, reduce.memory_view(a), reduce.memory_view(b))
    shape = ready[0].shape
    if 0 in shape or a.shape[-1] == 0:
        return x1.like(apply.full_node(tracer, shape, a.kind, 0))
    made = room(tracer.device, op, a.kind, shape)
    return x1.like(multiplied(tracer, op, a, b, made, ready, precision=precision))


def _matmul_integers(op: str, x1: Array, x2: Array) -> Array:
    """Multiply matrices of integers. The products of elements are not stored."""
    left = x1[None, :] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgument(op, "x2", x2, f"have {left.shape[-1]} rows, as x1 has columns")
    kind = promoted(x1.node.kind, x2.node.kind)
    spread = left[..., :, :, None] * right[..., None, :, :]
    found = total(spread, axis=-2, dtype=(INT32 if kind.kind == "b" else kind).numpy)
    if kind.kind == "b":
        found = found.astype(kind.numpy)
    if x1.ndim == 1:
        found = found[..., 0, :]
    return found[..., 0] if x2.ndim == 1 else found


def _cross(x1: Array, x2: Array, axis: int) -> Array:
    return cross(x1, x2, axis=axis)


def outer(x1: Array, x2: Array, /) -> Array:
    """Return the outer product of two vectors.

    Parameters
    ----------
    x1 : Array
        Shape [M].
    x2 : Array
        Shape [N].

    Returns
    -------
    Array
        Shape [M, N], of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If an operand is not a vector.
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1:
            raise InvalidArgument("outer", name, x, "a vector")
    found: Array = x1[:, None] * x2[None, :]
    return found


@differentiable(
    x1=lambda g, x2, axis: _cross(elementwise.conj(x2), g, axis),
    x2=lambda g, x1, axis: _cross(g, elementwise.conj(x1), axis),
)
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the cross products of vectors of 3 elements along an axis.

    Parameters
    ----------
    x1, x2 : Array
        Numbers. The other axes broadcast.
    axis : int, optional
        The axis of the vectors. An axis from 0 on requires equal numbers of axes.

    Returns
    -------
    Array
        The broadcast shape, of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If the axis does not have extent 3, is out of range, or is not negative for different
        numbers of axes.
    """
    op = "cross"
    for name, x in (("x1", x1), ("x2", x2)):
        if x.shape[shapes.axis(op, "axis", axis, x.ndim)] != 3:
            raise InvalidArgument(op, name, x, f"have 3 indices on axis {axis}")
    if axis >= 0 and x1.ndim != x2.ndim:
        raise InvalidArgument(
            op, "axis", axis, "negative, as the arrays have different numbers of axes"
        )
    at = [axis % x.ndim for x in (x1, x2)]
    following, others = np.array([1, 2, 0]), np.array([2, 0, 1])

    def chosen(x: Array, n: int, places: np.ndarray) -> Array:
        return gather.by_arrays(x, [n], [places], False)

    ahead = chosen(x1, at[0], following) * chosen(x2, at[1], others)
    found: Array = ahead - chosen(x1, at[0], others) * chosen(x2, at[1], following)
    return found


def _diagonal_gradient(g: Array, x_like: Like, offset: int) -> Array:
    places = np.arange(g.shape[-1], dtype=np.int32)
    whole = creation.zeros(x_like.shape, dtype=g.dtype, device=g.device)
    whole[..., places + max(-offset, 0), places + max(offset, 0)] = g
    return whole


@differentiable(x=_diagonal_gradient)
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Return a read-only view of the diagonals of matrices.

    Parameters
    ----------
    x : Array
        Shape [..., M, N], of any dtype.
    offset : int, optional
        The diagonal. Positive numbers are above the main diagonal.

    Returns
    -------
    Array
        Shape [..., K], a view of the same memory.

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    """
    if x.ndim < 2:
        raise InvalidArgument("diagonal", "x", x, "have at least 2 axes")
    by = int(offset)
    *lead, rows, columns = x.shape
    length = max(min(rows + min(by, 0), columns - max(by, 0)), 0)
    x.node.in_memory()
    *steps, down, right = strided.strides_of(x)
    begin = (by * right if by > 0 else -by * down) if length else 0
    return alias(x, strided.view(x, (*lead, length), (*steps, down + right), begin), read_only=True)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Return the sums of the diagonals of matrices.

    Parameters
    ----------
    x : Array
        Shape [..., M, N], of any dtype.
    offset : int, optional
        The diagonal. Positive numbers are above the main diagonal.
    dtype : dtype, optional
        The dtype of the result. The default is that of ``sum``.

    Returns
    -------
    Array
        Shape [...].

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    """
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def _vecdot_gradient(g: Array, x: Array, axis: int) -> Any:
    return manipulation.expand_dims(g, axis=axis) * x


@differentiable(
    x1=lambda g, x2, axis: _vecdot_gradient(elementwise.conj(g), x2, axis),
    x2=lambda g, x1, axis: _vecdot_gradient(g, x1, axis),
)
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return the sums of ``conj(x1) * x2`` along an axis.

    Parameters
    ----------
    x1, x2 : Array
        Arrays with equal extents along ``axis``. The other axes broadcast.
    axis : int, optional
        The axis to sum over.

    Returns
    -------
    Array
        The broadcast shape without ``axis``, of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If the extents along ``axis`` differ, or the axis is out of range.
    """
    shapes.axis("vecdot", "axis", axis, min(x1.ndim, x2.ndim))
    if x1.shape[axis] != x2.shape[axis]:
        raise InvalidArgument("vecdot", "x2", x2, f"have {x1.shape[axis]} indices on axis {axis}")
    own = apply.unary("conj", x1) if x1.node.kind is COMPLEX64 else x1
    kind = promoted(x1.node.kind, x2.node.kind)
    return total(own * x2, axis=axis, dtype=kind.numpy)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Return the sums of products over some axes of two arrays.

    Parameters
    ----------
    x1, x2 : Array
        Numbers.
    axes : int or pair of sequences of int, optional
        With a number, the sum is over the last axes of ``x1`` and the first of ``x2``. A pair names
        the axes of ``x1`` and of ``x2``.

    Returns
    -------
    Array
        The remaining axes of ``x1``, followed by those of ``x2``.

    Raises
    ------
    InvalidArgument
        If the extents of the axes differ, or an axis is out of range.
    """
    op = "tensordot"
    if isinstance(axes, int):
        own: Sequence[int] = range(x1.ndim - axes, x1.ndim)
        other: Sequence[int] = range(axes)
    else:
        if not is_several(axes) or len(axes) != 2:
            raise InvalidArgument(op, "axes", axes, "a number of axes, or two sequences of axes")
        own, other = ([*given] if is_several(given) else [given] for given in axes)
    own = [shapes.axis(op, "axes", n, x1.ndim) for n in own]
    other = [shapes.axis(op, "axes", n, x2.ndim) for n in other]
    if [x1.shape[n] for n in own] != [x2.shape[n] for n in other]:
        raise InvalidArgument(op, "axes", axes, "axes of the same extents")
    rest, left = (
        [n for n in range(x.ndim) if n not in used] for x, used in ((x1, own), (x2, other))
    )
    length = product([x1.shape[n] for n in own])
    a = manipulation.permute_dims(x1, (*rest, *own)).reshape(
        (-1, length) if length else (_element_count(x1, rest), 0)
    )
    b = manipulation.permute_dims(x2, (*other, *left)).reshape((length, _element_count(x2, left)))
    shape = (*(x1.shape[n] for n in rest), *(x2.shape[n] for n in left))
    return matmul(a, b).reshape(shape)


def _element_count(x: Array, axes: Sequence[int]) -> int:
    return product([x.shape[n] for n in axes])
