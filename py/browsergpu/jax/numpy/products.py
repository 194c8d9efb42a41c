"""Products and contractions of ``jax.numpy``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.functions import elementwise as functions
from browsergpu.functions.linalg import contraction, linear
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax, unwrapped
from browsergpu.jax.arrays.operands import array, arrays
from browsergpu.jax.numpy import wrappers
from browsergpu.jax.numpy.elementwise import check_precision, in_dtype, in_wider
from browsergpu.jax.numpy.wrappers import FUNCTIONS, public, refuse


@public()
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = None, optimize: Any = "auto",
    precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return the sum of products that subscripts describe."""
    refuse("einsum", out=out, out_sharding=out_sharding)
    if isinstance(optimize, str):
        optimize = True
    if isinstance(subscripts, str):
        given = arrays("einsum", *in_wider("einsum", preferred_element_type, *operands))
        found = contraction.einsum(subscripts, *given, optimize=optimize)
    else:
        flat = (subscripts, *operands)
        count = len(flat) // 2
        given = [flat[2 * n] for n in range(count)]
        given = arrays("einsum", *in_wider("einsum", preferred_element_type, *given))
        mixed = [x for n in range(count) for x in (given[n], list(flat[2 * n + 1]))]
        rest = [list(flat[-1])] if len(flat) % 2 else []
        found = contraction.einsum(*mixed, *rest, optimize=optimize)
    return in_dtype("einsum", as_jax(found), precision, preferred_element_type)


@public()
def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> Any:
    """Return the order of the contractions of :func:`einsum`."""
    own = [np.broadcast_to(0, x.shape) if hasattr(x, "shape") else x for x in operands]
    return np.einsum_path(subscripts, *own, optimize="greedy" if optimize == "auto" else optimize)


def _of_two(name: str, function: Callable[..., Any]) -> None:
    def call(
        a: Any, b: Any, *args: Any, precision: Any = None, preferred_element_type: Any = None,
        out_sharding: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        refuse(name, out_sharding=out_sharding)
        given = arrays(name, *in_wider(name, preferred_element_type, a, b))
        found = as_jax(function(*given, *args, **options))
        return in_dtype(name, found, precision, preferred_element_type)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.{name}`` of two arrays. All precisions are those of float32."
    FUNCTIONS[name] = call


def _dot(a: Any, b: Any) -> Any:
    if not a.ndim or not b.ndim:
        return functions.multiply(a, b)
    return linear.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def _inner(a: Any, b: Any) -> Any:
    if not a.ndim or not b.ndim:
        return functions.multiply(a, b)
    return linear.tensordot(a, b, axes=((-1,), (-1,)))


def _vdot(a: Any, b: Any) -> Any:
    own = functions.conj(a) if a.dtype.kind == "c" else a
    return _dot(own.reshape(-1), b.reshape(-1))


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return linear.tensordot(a, b, axes=axes)


def _vecdot(a: Any, b: Any, /, *, axis: int = -1) -> Any:
    return linear.vecdot(a, b, axis=axis)


for _name, _function in (
    ("dot", _dot), ("inner", _inner), ("vdot", _vdot), ("tensordot", _tensordot),
    ("vecdot", _vecdot),
):  # fmt: skip
    _of_two(_name, _function)


@public()
def matvec(x1: Any, x2: Any, /) -> Any:
    """Return the products of matrices and vectors."""
    a, b = arrays("matvec", x1, x2)
    return as_jax(linear.matmul(a, b[..., None])[..., 0])


@public()
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Return the products of vectors and matrices."""
    a, b = arrays("vecmat", x1, x2)
    own = functions.conj(a) if a.dtype.kind == "c" else a
    return as_jax(linear.matmul(own[..., None, :], b)[..., 0, :])


@public()
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Return the products of all pairs of elements."""
    refuse("outer", out=out)
    one, other = arrays("outer", a, b)
    return one.reshape(-1)[:, None] * other.reshape(-1)[None, :]


@public()
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """Return the sum of a diagonal."""
    refuse("trace", out=out)
    return FUNCTIONS["sum"](diagonal(a, offset, axis1, axis2), -1, dtype)


@public()
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return a diagonal."""
    x = unwrapped(array("diagonal", a, "a"))
    return as_jax(wrappers.own("diagonal")(x, offset, axis1, axis2))


@public()
def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Return the convolution of two vectors."""
    return _convolved("convolve", a, v, mode, precision, preferred_element_type)


@public()
def correlate(
    a: Any, v: Any, mode: str = "valid", *, precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Return the cross-correlation of two vectors."""
    return _convolved("correlate", a, v, mode, precision, preferred_element_type)


def _convolved(op: str, a: Any, v: Any, mode: str, precision: Any, kind: Any) -> Any:
    check_precision(op, precision)
    one, other = [unwrapped(x) for x in arrays(op, a, v, floats=True)]
    found = as_jax(wrappers.own(op)(one, other, mode))
    return found if kind is None else found.astype(dtypes.dtype_of(op, kind))
