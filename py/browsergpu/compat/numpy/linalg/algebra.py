"""Matrix products, solvers and covariances that are composed of other functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.compat.numpy.operands import as_floats, write_out
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.linalg import decompositions, equations, linear, norms


def inner(a: Any, b: Any, /) -> Any:
    """Return the inner product over the last axes, as ``numpy.inner``."""
    if not (isinstance(a, Array) and isinstance(b, Array) and a.ndim and b.ndim):
        return elementwise.multiply(a, b)
    return linear.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def vdot(a: Any, b: Any, /) -> Any:
    """Return the dot product of flattened arrays, with the first conjugated, as ``numpy.vdot``."""
    first, last = (manipulation.reshape(x, (-1,)) for x in (a, b))
    if first.dtype.kind == "c":
        first = elementwise.conj(first)
    return linear.tensordot(first, last, axes=((0,), (0,)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Return the outer product of flattened arrays, as ``numpy.outer``."""
    return write_out(out, linear.outer(*(manipulation.reshape(x, (-1,)) for x in (a, b))))


def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product, as ``numpy.kron``."""
    rank = max(a.ndim, b.ndim)
    first, last = (manipulation.reshape(x, (1,) * (rank - x.ndim) + x.shape) for x in (a, b))
    wide = tuple(n for extent in first.shape for n in (extent, 1))
    tight = tuple(n for extent in last.shape for n in (1, extent))
    found: Any = manipulation.reshape(first, wide) * manipulation.reshape(last, tight)
    shape = tuple(m * n for m, n in zip(first.shape, last.shape, strict=True))
    return manipulation.reshape(found, shape)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Return the matrix product of several arrays, as ``numpy.linalg.multi_dot``."""
    if len(arrays) < 2:
        raise InvalidArgument("linalg.multi_dot", "arrays", len(arrays), "at least 2 arrays")
    own = list(arrays)
    while len(own) > 2:
        # Multiply the pair with the largest common dimension first.
        at = max(range(len(own) - 1), key=lambda n: own[n].shape[-1])
        own[at : at + 2] = [linear.matmul(own[at], own[at + 1])]
    return write_out(out, reduce(linear.matmul, own))


class LstsqResult(NamedTuple):
    """The result of ``lstsq``. ``rank`` is a Python int."""

    solution: Any
    residuals: Any
    rank: int
    singular_values: Any


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, int, Any]:
    """Solve a least-squares problem with the SVD, as ``numpy.linalg.lstsq``. Waits for the rank.

    Parameters
    ----------
    a : Array
        The coefficients, of shape [M, N].
    b : Array
        The right-hand sides, of shape [M] or [M, K].
    rcond : float, optional
        Singular values up to ``rcond`` times the largest one count as 0. The default is the machine
        epsilon of float32 times the larger of M and N.

    Returns
    -------
    LstsqResult
        The solution, the residuals, the rank of ``a`` and its singular values. There are no
        residuals, shape [0], unless M > N and ``a`` has the rank N.
    """
    own, other = as_floats(a), as_floats(b)
    if own.ndim != 2:
        raise InvalidArgument("linalg.lstsq", "a", own, "a matrix")
    rows, columns = own.shape
    if other.ndim not in (1, 2) or other.shape[0] != rows:
        raise InvalidArgument("linalg.lstsq", "b", other, f"{rows} rows")
    right = manipulation.reshape(other, (rows, -1))
    u, s, vh = decompositions.svd(own, full_matrices=False)
    least = np.finfo(np.float32).eps * max(rows, columns) if rcond is None else rcond
    is_kept: Any = s > s[0] * float(least)
    rank = int(statistics.sum(is_kept.astype("int32")))
    inverse = elementwise.where(is_kept, 1 / elementwise.where(is_kept, s, 1.0), 0.0)
    x = linear.matmul(
        linear.adjoint(vh),
        manipulation.reshape(inverse, (-1, 1)) * linear.matmul(linear.adjoint(u), right),
    )
    if rank == columns < rows:
        apart = right - linear.matmul(own, x)
        residuals: Any = statistics.sum(elementwise.abs(apart) ** 2, axis=0)
    else:
        residuals = creation.zeros((0,), device=own.device)
    solution = manipulation.reshape(x, (columns, *other.shape[1:]))
    return LstsqResult(solution, residuals, rank, s)


def cond(x: Any, p: Any = None) -> Any:
    """Return the condition number of matrices, as ``numpy.linalg.cond``."""
    if p is None or p in (2, -2):
        s = decompositions.svdvals(x)
        most, least = s[..., 0], s[..., -1]
        return least / most if p == -2 else most / least
    return norms.matrix_norm(x, ord=p) * norms.matrix_norm(equations.inverse(x), ord=p)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve a tensor equation, as ``numpy.linalg.tensorsolve``."""
    if axes is not None:
        order = [n for n in range(a.ndim) if n not in axes] + list(axes)
        a = manipulation.permute_dims(a, tuple(order))
    shape = a.shape[b.ndim :]
    n = product(shape)
    if n * n != a.size:
        raise InvalidArgument("linalg.tensorsolve", "a", a, "have as many unknowns as equations")
    found = equations.solve(manipulation.reshape(a, (n, n)), manipulation.reshape(b, (n,)))
    return manipulation.reshape(found, shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """Return the inverse of a tensor, as ``numpy.linalg.tensorinv``."""
    if ind <= 0:
        raise InvalidArgument("linalg.tensorinv", "ind", ind, "at least 1")
    shape = (*a.shape[ind:], *a.shape[:ind])
    n = product(a.shape[ind:])
    return manipulation.reshape(equations.inv(manipulation.reshape(a, (-1, n))), shape)


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Return a matrix with a row for each variable."""
    rows = []
    for x in (m,) if y is None else (m, y):
        own = as_floats(x)
        own = manipulation.reshape(own, (1, -1)) if own.ndim < 2 else own
        rows.append(own if rowvar or own.shape[0] == 1 else own.T)
    return manipulation.concat(rows, axis=0) if len(rows) > 1 else rows[0]


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """Estimate a covariance matrix, as ``numpy.cov``."""
    if fweights is not None or aweights is not None:
        options = {"fweights": fweights, "aweights": aweights, "dtype": dtype}
        return on_host("np.cov", np.cov, (m, y, rowvar, bias, ddof), options)
    if m.ndim > 2:
        raise InvalidArgument("cov", "m", m, "have at most 2 axes")
    x = _observations(m, y, rowvar)
    x = x if dtype is None else x.astype(dtype, copy=False)
    less = (0 if bias else 1) if ddof is None else ddof
    apart = x - statistics.mean(x, axis=1, keepdims=True)
    found = linear.matmul(apart, linear.adjoint(apart)) / max(x.shape[1] - less, 0)
    return found[0, 0] if found.shape == (1, 1) else found


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Return correlation coefficients, as ``numpy.corrcoef``."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = elementwise.sqrt(elementwise.real(linear.diagonal(c)))
    found = c / manipulation.reshape(spread, (-1, 1)) / manipulation.reshape(spread, (1, -1))
    return found if found.dtype.kind == "c" else elementwise.clip(found, -1, 1)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.corrcoef: corrcoef,
    np.cov: cov,
    np.inner: inner,
    np.kron: kron,
    np.outer: outer,
    np.vdot: vdot,
    np.linalg.cond: cond,
    np.linalg.lstsq: lstsq,
    np.linalg.multi_dot: multi_dot,
    np.linalg.tensorinv: tensorinv,
    np.linalg.tensorsolve: tensorsolve,
}
