"""JAX's dtypes without 64 bits: names that can be called, and promotion."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from browsergpu.engine.core.element_types import of_numpy
from browsergpu.engine.core.errors import InvalidType, Unsupported
from browsergpu.engine.core.places import frames_of_the_package

BOOL, INT32, UINT32 = np.dtype("bool"), np.dtype("int32"), np.dtype("uint32")
FLOAT16, FLOAT32 = np.dtype("float16"), np.dtype("float32")
COMPLEX64 = np.dtype("complex64")
#: 64-bit dtypes, and the dtypes that JAX uses instead.
NARROWED = {
    np.dtype("int64"): INT32, np.dtype("uint64"): UINT32, np.dtype("float64"): FLOAT32,
    np.dtype("complex128"): COMPLEX64,
}  # fmt: skip
#: The dtypes of arrays of Python numbers.
OF_PYTHON: dict[type, Any] = {bool: BOOL, int: INT32, float: FLOAT32, complex: COMPLEX64}
RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
RANK_OF_NUMBER = {bool: 0, int: 1, float: 2, complex: 3}
_MISSING = (
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz",
    "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn",
    "float6_e3m2fn", "int1", "int2", "int4", "uint1", "uint2", "uint4",
)  # fmt: skip


class _Missing:
    """A dtype that WebGPU has not. It can be compared, and makes no array."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, x: Any = 0) -> Any:
        raise self.error("dtype")

    def error(self, op: str) -> Unsupported:
        """Return the error of a function that gets the dtype."""
        return Unsupported(op, f"WebGPU has no {self.name}. Use float16, float32 or int8.")

    def __repr__(self) -> str:
        return f"<class 'jax.numpy.{self.name}'>"


MISSING = {name: _Missing(name) for name in _MISSING}


def dtype_of(op: str, dtype: Any) -> Any:
    """Return the dtype that JAX uses for a requested one, or None for None.

    Warns for a 64-bit dtype. Raises Unsupported or InvalidType for a dtype that is not available.
    """
    if dtype is None:
        return None
    if isinstance(dtype, type) and dtype in OF_PYTHON:
        return OF_PYTHON[dtype]
    if isinstance(dtype, _Missing) or (isinstance(dtype, str) and dtype in MISSING):
        raise (dtype if isinstance(dtype, _Missing) else MISSING[dtype]).error(op)
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise InvalidType(op, "dtype", dtype, "a dtype such as jnp.float32") from None
    own = NARROWED.get(found)
    if own is not None:
        told = (
            f"Explicitly requested dtype {found.name} requested in {op} is not available, and will "
            f"be truncated to dtype {own.name}."
        )
        warnings.warn(told, stacklevel=frames_of_the_package())
        return own
    if of_numpy(found) is None:
        raise InvalidType(op, "dtype", dtype, "a dtype such as jnp.float32")
    return found


def narrowed(dtype: Any) -> Any:
    """Return the dtype that JAX uses for a dtype of the host."""
    return NARROWED.get(dtype, dtype)


@cache
def promoted(a: Any, b: Any) -> Any:
    """Return the dtype of an operation on two arrays. A float decides over every integer."""
    if a == b:
        return a
    if RANK[a.kind] >= 2 or RANK[b.kind] >= 2:
        if RANK[a.kind] != RANK[b.kind]:
            return a if RANK[a.kind] > RANK[b.kind] else b
        return np.promote_types(a, b)
    return narrowed(np.promote_types(a, b))


def beside_number(a: Any, number: type) -> Any:
    """Return the dtype of an operation on an array and a Python number."""
    return OF_PYTHON[number] if RANK_OF_NUMBER[number] > RANK[a.kind] else a
