"""Matrix functions, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import on_one_device, write_out
from browsergpu.engine.core.checks import is_several
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, manipulation, statistics
from browsergpu.functions.linalg import decompositions, equations, linear, norms


def _svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Return the singular value decomposition, as ``numpy.linalg.svd``.

    ``hermitian`` has no effect. It only selects NumPy's algorithm.
    """
    del hermitian
    if compute_uv:
        return decompositions.svd(a, full_matrices=full_matrices)
    return decompositions.svdvals(a)


def _with_uplo(function: Callable[[Array], Any]) -> Callable[..., Any]:
    def call(a: Array, UPLO: str = "L") -> Any:
        if UPLO not in ("L", "U"):
            raise InvalidArgument(function.__name__, "UPLO", UPLO, "'L' or 'U'")
        return function(a if UPLO == "L" else linear.adjoint(a))

    return call


def _cross(
    a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Return the cross products of vectors of 2 or 3 elements, as ``numpy.cross``."""
    if axis is not None:
        axisa = axisb = axisc = axis
    own = [manipulation.moveaxis(x, n, -1) for x, n in ((a, axisa), (b, axisb))]
    sizes = [x.shape[-1] for x in own]
    for name, size, x in zip("ab", sizes, own, strict=True):
        if size not in (2, 3):
            raise InvalidArgument("cross", name, x, "have 2 or 3 elements along the axis")
    if sizes == [2, 2]:
        (x0, y0), (x1, y1) = ((x[..., 0], x[..., 1]) for x in own)
        flat: Array = x0 * y1 - y0 * x1
        return flat
    whole = [
        manipulation.concat([x, creation.zeros_like(x[..., :1])], axis=-1) if size == 2 else x
        for x, size in zip(own, sizes, strict=True)
    ]
    shape = manipulation.broadcast_shapes(*(x.shape for x in whole))
    found = linear.cross(*(manipulation.broadcast_to(x, shape) for x in whole), axis=-1)
    return manipulation.moveaxis(found, -1, axisc)


def _norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Return a vector or matrix norm, as ``numpy.linalg.norm``.

    One axis gives vector norms, two axes give matrix norms.
    """
    if axis is None and (ord is None or x.ndim == 1):
        order = 2 if ord is None else ord
        return norms.vector_norm(x, ord=order, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis
    if not is_several(axes) or len(axes) == 1:
        order = 2 if ord is None else ord
        return norms.vector_norm(x, ord=order, axis=axes, keepdims=keepdims)
    if len(axes) != 2:
        raise InvalidArgument("norm", "axis", axis, "one axis or two")
    moved = manipulation.moveaxis(x, axes, (-2, -1))
    found = norms.matrix_norm(moved, ord="fro" if ord is None else ord, keepdims=keepdims)
    return manipulation.moveaxis(found, (-2, -1), axes) if keepdims else found


def _diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return linear.diagonal(manipulation.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def _trace(
    a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Array:
    moved = manipulation.moveaxis(a, (axis1, axis2), (-2, -1))
    return write_out(out, linear.trace(moved, offset=offset, dtype=dtype))


def _matrix_rank(A: Array, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return the rank of matrices, as ``numpy.linalg.matrix_rank``.

    ``hermitian`` has no effect. It only selects NumPy's algorithm.
    """
    del hermitian
    if tol is None:
        return norms.matrix_rank(A, rtol=rtol)
    if rtol is not None:
        raise InvalidArgument("matrix_rank", "rtol", rtol, "None if tol is given")
    least = on_one_device((A, tol))[1]
    values: Any = decompositions.svdvals(A)
    bound = manipulation.expand_dims(least, axis=-1) if isinstance(least, Array) else least
    return statistics.count_nonzero(values > bound, axis=-1)


def _pinv(a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return the pseudo-inverse of matrices, as ``numpy.linalg.pinv``.

    ``hermitian`` has no effect. It only selects NumPy's algorithm.
    """
    del hermitian
    if rcond is not None and rtol is not None:
        raise InvalidArgument("pinv", "rtol", rtol, "None if rcond is given")
    return norms.pinv(a, rtol=rcond if rtol is None else rtol)


#: Functions of one array.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.diagonal: _diagonal,
    np.trace: _trace,
    np.linalg.cholesky: decompositions.cholesky,
    np.linalg.det: equations.det,
    np.linalg.diagonal: linear.diagonal,
    np.linalg.eig: decompositions.eig,
    np.linalg.eigh: _with_uplo(decompositions.eigh),
    np.linalg.eigvals: decompositions.eigvals,
    np.linalg.eigvalsh: _with_uplo(decompositions.eigvalsh),
    np.linalg.inv: equations.inv,
    np.linalg.matmul: linear.matmul,
    np.linalg.matrix_norm: norms.matrix_norm,
    np.linalg.matrix_power: equations.matrix_power,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.matrix_transpose: manipulation.matrix_transpose,
    np.linalg.norm: _norm,
    np.linalg.pinv: _pinv,
    np.linalg.qr: lambda a, mode="reduced": decompositions.qr(a, mode=mode),
    np.linalg.slogdet: equations.slogdet,
    np.linalg.svd: _svd,
    np.linalg.svdvals: decompositions.svdvals,
    np.linalg.trace: linear.trace,
    np.linalg.vector_norm: norms.vector_norm,
}
#: Functions of two arrays. One of them may be a NumPy array.
BINARY_FUNCTIONS: dict[Any, Callable[..., Array]] = {
    np.cross: _cross,
    np.linalg.cross: linear.cross,
    np.linalg.outer: linear.outer,
    np.linalg.solve: equations.solve,
    np.linalg.tensordot: linear.tensordot,
    np.linalg.vecdot: linear.vecdot,
}
