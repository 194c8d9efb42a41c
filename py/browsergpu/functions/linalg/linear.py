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
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import alias
from browsergpu.arrays.x64 import check_x64_pair
from browsergpu.core import shapes
from browsergpu.core.checks import choice, is_several, product
from browsergpu.core.element_types import COMPLEX64, FLOAT16, FLOAT32, INT8, promoted
from browsergpu.core.enums import Precision
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, operands
from browsergpu.functions.statistics import sum as total
from browsergpu.tensors import matmul as products


def adjoint(x: Array) -> Array:
    """Conjugated matrices with rows and columns exchanged."""
    found = manipulation.matrix_transpose(x)
    return elementwise.conj(found) if x.dtype.kind == "c" else found


def _of_left(g: Array, x2: Array, x1_like: Like, precision: Any) -> Any:
    own = adjoint(x2) if x2.ndim > 1 else elementwise.conj(x2)
    if x2.ndim == 1:
        return g[..., None] * own
    if x1_like.ndim == 1:
        return matmul(g[..., None, :], own, precision=precision)[..., 0, :]
    return matmul(g, own, precision=precision)


def _of_right(g: Array, x1: Array, x2_like: Like, precision: Any) -> Any:
    own = adjoint(x1) if x1.ndim > 1 else elementwise.conj(x1)
    if x1.ndim == 1:
        return own[:, None] * g[..., None, :] if x2_like.ndim > 1 else own * g
    if x2_like.ndim == 1:
        return matmul(own, g[..., None], precision=precision)[..., 0]
    if x2_like.ndim == 2 and x1.ndim > 2:  # one product, where the others would be added up
        number = product(x1.shape[:-1])
        rows, own = (manipulation.reshape(x, (number, x.shape[-1])) for x in (x1, g))
        return matmul(adjoint(rows), own, precision=precision)
    return matmul(own, g, precision=precision)


@narrowed("x1", "x2")
@differentiable(x1=_of_left, x2=_of_right)
def matmul(x1: Array, x2: Array, /, *, precision: str = "highest") -> Array:
    """The product of matrices: leading axes are broadcast; a vector is a row on the left, a column
    on the right. Floats are summed in float32.

    ``precision``, by JAX's names, is that of products of float32 and complex64, and of their
    gradients. "highest" multiplies in float32. "high" does as "highest" but for large matrices on
    GPUs that are quicker at products of float16 (with subgroup matrices, on NVIDIA, or where
    ``tune`` finds it): there an operand is split into two float16, of which three products are
    summed in float32 (H. Ootomo, R. Yokota, 2022, https://arxiv.org/abs/2203.03341). Of K products

        |error| <= (6 + 1.3 K) 2^-23 sum |x1| |x2| + K 2^-27 max |x1| max |x2|,

    with the largest magnitudes in the row and in the column that are multiplied: the sums are as
    good as float32's, and numbers far smaller than another in their row or column count less.
    Infinities and NaN are where "highest" has them; elements that depend on a row or a column with
    such, or of which sums might overflow, are slow. Takes memory for 6 bytes an element of the
    operands and 4 of the result.

    Raises InvalidArgument where the columns of x1 are not as many as the rows of x2, or
    ``precision`` is another.
    """
    op = "matmul"
    chosen = choice(op, "precision", precision, Precision)
    for name, x in (("x1", x1), ("x2", x2)):
        if operands.array(op, name, x).ndim == 0:
            raise InvalidArgument(op, name, x, "have an axis")
    apply.same_device(op, x1, x2)
    check_x64_pair(op, (x1.node.kind, x2.node.kind))
    kind = promoted(x1.node.kind, x2.node.kind)
    if kind in (FLOAT16, FLOAT32):
        a, b = (apply.cast_to(op, x, kind, copy=False) for x in (x1, x2))
        return _of_floats(op, a, b, chosen)
    if kind is COMPLEX64:
        a, b = (apply.cast_to(op, x, kind, copy=False) for x in (x1, x2))
        re = _of_floats(op, a.real, b.real, chosen) - _of_floats(op, a.imag, b.imag, chosen)
        im = _of_floats(op, a.real, b.imag, chosen) + _of_floats(op, a.imag, b.real, chosen)
        found: Array = re + im * 1j
        return found
    return _of_whole_numbers(op, x1, x2)


def _of_floats(op: str, x1: Array, x2: Array, precision: Precision) -> Array:
    a, b = (reduce.memory_view(x.node.in_memory()) for x in (x1, x2))
    plan, left, right = products.planned(op, a, b)
    if product(plan.shape) == 0 or x1.shape[-1] == 0:
        return x1.like(apply.full_node(x1.tracer, plan.shape, x1.node.kind, 0))
    result = reduce.room(x1.device, op, x1.node.kind, plan.shape)
    products.multiply(
        x1.device, op, plan, left, right, reduce.memory_view(result), precision=precision
    )
    return x1.like(result)


def _of_whole_numbers(op: str, x1: Array, x2: Array) -> Array:
    """The sums of the products of rows and columns, which get no memory."""
    left = x1[None, :] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgument(op, "x2", x2, f"have {left.shape[-1]} rows, as x1 has columns")
    kind = promoted(x1.node.kind, x2.node.kind)
    spread = left[..., :, :, None] * right[..., None, :, :]
    found = total(spread, axis=-2, dtype=(INT8 if kind.kind == "b" else kind).numpy)
    if x1.ndim == 1:
        found = found[..., 0, :]
    return found[..., 0] if x2.ndim == 1 else found


def _product_across(x1: Array, x2: Array, axis: int) -> Array:
    return cross(x1, x2, axis=axis)


def outer(x1: Array, x2: Array, /) -> Array:
    """All products of an element of one vector, the same in a row, and one of another."""
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1:
            raise InvalidArgument("outer", name, x, "a vector")
    found: Array = x1[:, None] * x2[None, :]
    return found


@differentiable(
    x1=lambda g, x2, axis: _product_across(elementwise.conj(x2), g, axis),
    x2=lambda g, x1, axis: _product_across(g, elementwise.conj(x1), axis),
)
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three numbers along an axis, after broadcasting of the
    others. An axis counted from the first one needs arrays of as many axes."""
    op = "cross"
    for name, x in (("x1", x1), ("x2", x2)):
        if x.shape[shapes.axis(op, "axis", axis, x.ndim)] != 3:
            raise InvalidArgument(op, name, x, f"have 3 indices on axis {axis}")
    if axis >= 0 and x1.ndim != x2.ndim:
        raise InvalidArgument(
            op, "axis", axis, "below 0, as the arrays have different numbers of axes"
        )
    at = [axis % x.ndim for x in (x1, x2)]
    following, others = np.array([1, 2, 0]), np.array([2, 0, 1])

    def chosen(x: Array, n: int, places: np.ndarray) -> Array:
        return gather.by_arrays(x, [n], [places], False)

    ahead = chosen(x1, at[0], following) * chosen(x2, at[1], others)
    found: Array = ahead - chosen(x1, at[0], others) * chosen(x2, at[1], following)
    return found


def _put_on_diagonals(g: Array, x_like: Like, offset: int) -> Array:
    places = np.arange(g.shape[-1], dtype=np.int32)
    whole = creation.zeros(x_like.shape, dtype=g.dtype, device=g.device)
    whole[..., places + max(-offset, 0), places + max(offset, 0)] = g
    return whole


@differentiable(x=_put_on_diagonals)
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices, the last two axes, in the same memory: the ``offset``-th above the
    main one, or below it where that is negative."""
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
    """The sums of the diagonals of matrices, in the dtypes of ``sum``."""
    return total(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def _along(g: Array, x: Array, axis: int) -> Any:
    return manipulation.expand_dims(g, axis=axis) * x


@differentiable(
    x1=lambda g, x2, axis: _along(elementwise.conj(g), x2, axis),
    x2=lambda g, x1, axis: _along(g, x1, axis),
)
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of conj(x1) x2 along an axis, after broadcasting."""
    shapes.axis("vecdot", "axis", axis, min(x1.ndim, x2.ndim))
    if x1.shape[axis] != x2.shape[axis]:
        raise InvalidArgument("vecdot", "x2", x2, f"have {x1.shape[axis]} indices on axis {axis}")
    own = apply.unary("conj", x1) if x1.node.kind is COMPLEX64 else x1
    kind = promoted(x1.node.kind, x2.node.kind)
    return total(own * x2, axis=axis, dtype=kind.numpy)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """The sums of products over some axes of each: the last ``axes`` of x1 with the first of x2, or
    two sequences of axes."""
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
        (-1, length) if length else (_n(x1, rest), 0)
    )
    b = manipulation.permute_dims(x2, (*other, *left)).reshape((length, _n(x2, left)))
    shape = (*(x1.shape[n] for n in rest), *(x2.shape[n] for n in left))
    return matmul(a, b).reshape(shape)


def _n(x: Array, axes: Sequence[int]) -> int:
    return product([x.shape[n] for n in axes])
