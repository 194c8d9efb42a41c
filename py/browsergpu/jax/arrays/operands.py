"""Operands of JAX's functions: conversion to arrays, and one dtype for several."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.traced_number import is_traced
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JAX, as_jax, cast, of_another

_PYTHON = frozenset((bool, int, float, complex))


def from_host(data: Any, device: Any = None) -> Any:
    """Return an array of data on the host, without 64-bit dtypes."""
    own = np.asarray(data)
    return as_jax(creation.asarray(own.astype(dtypes.narrowed(own.dtype), copy=False),
                                   device=device))  # fmt: skip


def of_number(x: Any) -> Any:
    """Return an array of a Python number, as int32 or float32."""
    return as_jax(creation.asarray(x, dtype=dtypes.OF_PYTHON[type(x)]))


def operand(op: str, x: Any, name: str = "x") -> Any:
    """Return an argument as a JAX array, or as a Python number.

    Raises InvalidType for lists and other objects, as JAX does.
    """
    kind = type(x)
    if kind in JAX or kind in _PYTHON:
        return x
    if is_traced(x):
        return x.fixed()
    if isinstance(x, Array):
        return of_another(x)
    if isinstance(x, np.ndarray | np.generic):
        return from_host(x)
    if hasattr(x, "__jax_array__"):
        return operand(op, x.__jax_array__(), name)
    told = Description(f"a {kind.__name__}")
    advice = "Use jnp.array() for a list." if kind in (list, tuple) else ""
    raise InvalidType(op, name, told, "an array or a number", advice)


def array(op: str, x: Any, name: str = "x") -> Any:
    """Return an argument as a JAX array."""
    if type(x) in JAX:
        return x
    own = operand(op, x, name)
    return of_number(own) if type(own) in _PYTHON else own


def inexact(op: str, x: Any, name: str = "x") -> Any:
    """Return an argument as a JAX array of floats or complex numbers."""
    own = array(op, x, name)
    return own if own.dtype.kind in "fc" else cast(own, dtypes.FLOAT32)


def promoted(op: str, *given: Any, floats: bool = False) -> list[Any]:
    """Return operands as arrays of one dtype, and Python numbers of its kind.

    There is at least one array. With ``floats``, integers and bools become float32.
    """
    own = [operand(op, x) for x in given]
    target = result_type_of(own)
    if floats and target.kind not in "fc":
        target = dtypes.FLOAT32
    has_array = any(type(x) in JAX for x in own)
    found = []
    for x in own:
        if type(x) in JAX:
            found.append(x if x.dtype == target else cast(x, target))
        elif has_array:
            found.append(_number_for(x, target))
        else:
            found.append(as_jax(creation.asarray(x, dtype=target)))
            has_array = True
    return found


def arrays(op: str, *given: Any, floats: bool = False) -> list[Any]:
    """Return operands as arrays of one dtype, also those that are numbers."""
    return [
        x if type(x) in JAX else as_jax(creation.asarray(x, dtype=dtypes.FLOAT32))
        if isinstance(x, float) else of_number(x)
        for x in promoted(op, *given, floats=floats)
    ]  # fmt: skip


def _number_for(x: Any, target: Any) -> Any:
    if target.kind == "f":
        return float(x)
    if target.kind == "c":
        return complex(x)
    if target.kind in "iu":
        return wrapped(x, target)
    return x


def wrapped(x: int, target: Any) -> int:
    """Return a Python integer as an integer of a dtype, without its higher bits, as JAX does.

    Raises OverflowError for an integer out of the range of int32.
    """
    limits = np.iinfo(np.int32)
    if not limits.min <= x <= limits.max:
        raise OverflowError(f"Python integer {x} out of bounds for int32")
    return int(np.int32(x).astype(target))


def result_type_of(own: Any) -> Any:
    """Return the dtype of an operation on arrays and Python numbers."""
    target = None
    for x in own:
        if type(x) in JAX:
            target = x.dtype if target is None else dtypes.promoted(target, x.dtype)
    numbers = [type(x) for x in own if type(x) not in JAX]
    if target is None:
        return dtypes.OF_PYTHON[max(numbers, key=dtypes.RANK_OF_NUMBER.__getitem__)]
    for kind in numbers:
        target = dtypes.beside_number(target, kind)
    return target
