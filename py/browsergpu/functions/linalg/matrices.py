"""What the functions of matrices have in common: their operands, and room for their results.

They compute in float32 and complex64. float16 is computed as float32, whole numbers and bool too,
whose results are float32.
"""

from __future__ import annotations

from typing import Any

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.core.checks import product
from browsergpu.core.element_types import COMPLEX64, FLOAT16, FLOAT32, ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.shapes import Shape
from browsergpu.functions import creation, data_types
from browsergpu.kernels.linalg.matrices import Matrices
from browsergpu.tensors.view import View


def checked(op: str, name: str, x: Any, *, square: bool = False) -> Array:
    """Matrices, the last two axes of an array. Raises InvalidType for what is no array,
    InvalidArgument below two axes, or where matrices are not ``square`` as needed."""
    if not isinstance(x, Array):
        raise InvalidType(op, name, x, "an array (asarray makes one)")
    if x.ndim < 2:
        raise InvalidArgument(op, name, x, "have at least 2 axes")
    if square and x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(op, name, x, "square matrices")
    return x


def operand(op: str, name: str, x: Any, *, square: bool = False) -> Array:
    """Matrices that are :func:`checked`, as float32 or complex64, in memory."""
    own = checked(op, name, x, square=square)
    return ready(op, own, computed(own.node.kind))


def wide(x: Array) -> Array:
    """An array as float32 or complex64, for functions that are made of others."""
    return x if x.dtype.kind == "c" else data_types.astype(x, FLOAT32.numpy, copy=False)


def ready(op: str, x: Array, kind: ElementType) -> Array:
    """An array as float32 or complex64, in memory, of which there is a :func:`view`."""
    own = apply.cast_to(op, x, kind, copy=False)
    own.node.in_memory()
    return apply.packed(own) if kind is COMPLEX64 else own


def computed(kind: ElementType) -> ElementType:
    """What numbers of a type are computed as."""
    return COMPLEX64 if kind is COMPLEX64 else FLOAT32


def like(x: Array, found: Array) -> Array:
    """A result that has been computed for x: float16 where x is."""
    if x.dtype == FLOAT16.numpy and found.dtype == FLOAT32.numpy:
        return data_types.astype(found, FLOAT16.numpy)
    return found


def stack(x: Array) -> Matrices:
    """The matrices of an operand."""
    *lead, rows, columns = x.shape
    return Matrices(product(lead), rows, columns, x.node.kind is COMPLEX64)


def room(op: str, x: Array, shape: Shape, kind: ElementType | None = None) -> Array:
    """An array for results on the device of x, contents undefined; of its type unless another one
    is given."""
    return x.like(reduce.room(x.device, op, kind or x.node.kind, shape))


def view(x: Array) -> View:
    """The numbers of what :func:`ready` or :func:`room` gave: complex ones as pairs."""
    is_complex = x.node.kind is COMPLEX64
    return reduce.pairs_view(x.node) if is_complex else reduce.memory_view(x.node)


def identities(x: Array, rows: int, columns: int) -> Array:
    """As many parts of identities as x has matrices, of its type."""
    one = creation.eye(rows, columns, dtype=x.dtype, device=x.device)
    return one + creation.zeros((*x.shape[:-2], 1, 1), dtype=x.dtype, device=x.device)  # type: ignore[no-any-return]
