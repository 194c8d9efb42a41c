"""JAX's dtypes without 64 bits: names that can be called, and promotion."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from browsergpu.core.element_types import of_numpy
from browsergpu.core.errors import InvalidType, Unsupported
from browsergpu.core.places import frames_of_the_package

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


class _ScalarMeta(type):
    """The class of ``jnp.float32`` and the like: a dtype, and a function that makes an array."""

    dtype: np.dtype[Any]

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        try:
            return bool(np.dtype(other) == cls.dtype)  # type: ignore[call-overload]
        except TypeError:
            return False

    def __ne__(cls, other: object) -> bool:
        return not cls == other

    def __call__(cls, x: Any = 0) -> Any:
        from browsergpu.jax.numpy.creation import asarray

        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'jax.numpy.{cls.dtype.name}'>"


def _scalar(name: str) -> Any:
    return _ScalarMeta(name, (), {"dtype": np.dtype(name), "__doc__": f"The dtype {name}."})


NAMES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
#: The public names of dtypes.
SCALARS: dict[str, Any] = {name: _scalar(name) for name in NAMES}
SCALARS["bool_"] = _scalar("bool")
SCALARS |= {
    "int_": SCALARS["int32"], "uint": SCALARS["uint32"], "float_": SCALARS["float32"],
    "complex_": SCALARS["complex64"], "single": SCALARS["float32"], "double": SCALARS["float64"],
    "csingle": SCALARS["complex64"], "cdouble": SCALARS["complex128"], "bool": SCALARS["bool_"],
}  # fmt: skip


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
