"""Operands and results of matrix functions.

The functions compute in float32 and complex64. float16 is computed in float32. Integers and bools
count as float32.
"""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.lazy.node import room as memory_for
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT16, FLOAT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.kernels.linalg.matrices import Matrices
from browsergpu.engine.tensors.view import View
from browsergpu.functions import creation, data_types


def checked(op: str, name: str, x: Any, *, square: bool = False) -> Array:
    """Check an array of matrices, and return it.

    Raises InvalidType if it is not an array, and InvalidArgument if it has fewer than 2 axes or is
    not square as required.
    """
    if not isinstance(x, Array):
        raise InvalidType(op, name, x, "an array (asarray makes one)")
    if x.ndim < 2:
        raise InvalidArgument(op, name, x, "have at least 2 axes")
    if square and x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(op, name, x, "square matrices")
    return x


def operand(op: str, name: str, x: Any, *, square: bool = False) -> Array:
    """Check matrices, and return them in memory as float32 or complex64."""
    own = checked(op, name, x, square=square)
    return ready(op, own, computed(own.node.kind))


def wide(x: Array) -> Array:
    """Return an array as float32 or complex64, for functions that call other functions."""
    return x if x.dtype.kind == "c" else data_types.astype(x, FLOAT32.numpy, copy=False)


def ready(op: str, x: Array, kind: ElementType) -> Array:
    """Return an array in memory as ``kind``, so that :func:`view` can describe it."""
    own = apply.cast_to(op, x, kind, copy=False)
    own.node.in_memory()
    return apply.packed(own) if kind is COMPLEX64 else own


def computed(kind: ElementType) -> ElementType:
    """Return the type that a type is computed in."""
    return COMPLEX64 if kind is COMPLEX64 else FLOAT32


def like(x: Array, found: Array) -> Array:
    """Return a float32 result as float16 if ``x`` is float16."""
    if x.dtype == FLOAT16.numpy and found.dtype == FLOAT32.numpy:
        return data_types.astype(found, FLOAT16.numpy)
    return found


def stack(x: Array) -> Matrices:
    """Return the number and shape of an array's matrices."""
    *lead, rows, columns = x.shape
    return Matrices(product(lead), rows, columns, x.node.kind is COMPLEX64)


def room(op: str, x: Array, shape: Shape, kind: ElementType | None = None) -> Array:
    """Return an uninitialized array for results on the device of ``x``, by default of its type."""
    return x.like(memory_for(x.device, op, kind or x.node.kind, shape))


def view(x: Array) -> View:
    """Return the memory of an array from :func:`ready` or :func:`room`, with complex pairs."""
    is_complex = x.node.kind is COMPLEX64
    return reduce.pairs_view(x.node) if is_complex else reduce.memory_view(x.node)


def identities(x: Array, rows: int, columns: int) -> Array:
    """Return an identity, or its first rows and columns, for each matrix of ``x``."""
    one = creation.eye(rows, columns, dtype=x.dtype, device=x.device)
    return one + creation.zeros((*x.shape[:-2], 1, 1), dtype=x.dtype, device=x.device)  # type: ignore[no-any-return]
