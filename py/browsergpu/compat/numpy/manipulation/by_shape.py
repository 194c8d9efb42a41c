"""NumPy's functions of shapes, axes and memory, and small products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.views.aliases import place_of
from browsergpu.compat.numpy.operands import as_floats
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import DEFAULTS
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, statistics
from browsergpu.functions.linalg import linear


def apply_over_axes(func: Callable[..., Any], a: Array, axes: Any) -> Any:
    """Apply a function over each axis in turn, as ``numpy.apply_over_axes``."""
    op = "apply_over_axes"
    found: Any = a
    for axis in axes if checks.is_several(axes) else (axes,):
        at = shapes.axis(op, "axes", axis, a.ndim)
        before, found = found, func(found, at)
        if found.ndim != before.ndim:
            found = manipulation.expand_dims(found, axis=at)
        if found.ndim != before.ndim:
            expected = "a function whose results have as many axes, or one less"
            raise InvalidArgument(op, "func", func, expected)
    return found


def real_if_close(a: Array, tol: Any = 100) -> Array:
    """Return the real parts if all imaginary parts are close to 0, as ``numpy.real_if_close``.

    ``tol`` is a multiple of the machine epsilon of float32. Waits for complex arrays.
    """
    if a.dtype.kind != "c":
        return a
    number = checks.real("real_if_close", "tol", tol)
    limit = number * float(np.finfo(np.float32).eps) if number > 1 else number
    return a.real if bool(statistics.all(elementwise.abs(a.imag) < limit)) else a


def _triangle_indices_function(name: str, indices: Callable[..., Any]) -> Callable[..., Any]:
    def call(arr: Array, k: int = 0) -> tuple[Array, ...]:
        if arr.ndim != 2:
            raise InvalidArgument(name, "arr", arr, "have two axes")
        offset = checks.integer(name, "k", k, -checks.LARGEST)
        places = indices(arr.shape[0], offset, arr.shape[1])
        return tuple(
            creation.asarray(x, dtype=DEFAULTS[int].numpy, device=arr.device) for x in places
        )

    call.__doc__ = f"Return the indices of a triangle, as ``numpy.{name}``."
    return call


def diag_indices_from(arr: Array) -> tuple[Array, ...]:
    """Return the indices of the main diagonal, as ``numpy.diag_indices_from``."""
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        expected = "have two axes or more, all of one extent"
        raise InvalidArgument("diag_indices_from", "arr", arr, expected)
    return (creation.arange(arr.shape[0], device=arr.device),) * arr.ndim


def may_share_memory(a: Any, b: Any, max_work: Any = 0) -> bool:
    """Return whether the memory bounds of two arrays overlap, as ``numpy.may_share_memory``.

    Only ``max_work=0``, NumPy's default, is supported.
    """
    if checks.integer("may_share_memory", "max_work", max_work, -1):
        raise InvalidArgument("may_share_memory", "max_work", max_work, "0, to compare bounds")
    if not (isinstance(a, Array) and isinstance(b, Array)) or not (a.size and b.size):
        return False
    if a is b:
        return True
    if a.node.view_group is None or a.node.view_group is not b.node.view_group:
        return False
    (begin, end), (start, stop) = _span(a), _span(b)
    return begin < stop and start < end


def _span(x: Array) -> tuple[int, int]:
    """Return the first and the end byte of an array in its memory."""
    shape, steps, offset = place_of(x)
    ways = [(extent - 1) * step for extent, step in zip(shape, steps, strict=True)]
    begin = offset + sum(way for way in ways if way < 0)
    end = offset + sum(way for way in ways if way > 0) + 1
    return begin * x.dtype.itemsize, end * x.dtype.itemsize


def _heaviside(x1: Any, x2: Any, /) -> Array:
    """Return 0 for x1 < 0, x2 for x1 = 0, and 1 for x1 > 0, as ``numpy.heaviside``."""
    own, other = as_floats(x1), as_floats(x2)
    if not isinstance(own, Array):
        own = creation.asarray(own, dtype=other.dtype, device=other.device)
    if not isinstance(other, Array):
        other = creation.asarray(other, dtype=own.dtype, device=own.device)
    above = elementwise.where(own > 0, 1.0, other)
    found = elementwise.where(own < 0, 0.0, above)
    return elementwise.where(elementwise.isnan(own), own, found)


def _matvec(x1: Array, x2: Array, /) -> Array:
    """Return matrix-vector products, as ``numpy.matvec``."""
    _core("matvec", x1, 2, x2, 1)
    found: Array = linear.matmul(x1, x2[..., None])[..., 0]
    return found


def _vecmat(x1: Array, x2: Array, /) -> Array:
    """Return products of conjugated vectors and matrices, as ``numpy.vecmat``."""
    _core("vecmat", x1, 1, x2, 2)
    own = elementwise.conj(x1) if x1.dtype.kind == "c" else x1
    found: Array = linear.matmul(own[..., None, :], x2)[..., 0, :]
    return found


def _core(op: str, x1: Any, first: int, x2: Any, second: int) -> None:
    for name, x, rank in (("x1", x1, first), ("x2", x2, second)):
        if not isinstance(x, Array) or x.ndim < rank:
            raise InvalidArgument(op, name, x, f"an array of at least {rank} axes")


UFUNCS: dict[Any, Callable[..., Any]] = {np.heaviside: _heaviside}
# New in NumPy 2.2.
for _name, _own in (("matvec", _matvec), ("vecmat", _vecmat)):
    if hasattr(np, _name):
        UFUNCS[getattr(np, _name)] = _own
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.apply_over_axes: apply_over_axes,
    np.diag_indices_from: diag_indices_from,
    np.may_share_memory: may_share_memory,
    np.real_if_close: real_if_close,
    np.tril_indices_from: _triangle_indices_function("tril_indices_from", np.tril_indices),
    np.triu_indices_from: _triangle_indices_function("triu_indices_from", np.triu_indices),
}
