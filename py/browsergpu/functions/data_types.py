"""Dtypes: conversion, promotion and inspection."""

from __future__ import annotations

from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.context import device_of
from browsergpu.arrays.numbers import python_number, typed_number
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import ElementType, beside_number, promoted
from browsergpu.engine.core.errors import InvalidArgument, InvalidType

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def _kind(op: str, x: Any) -> ElementType:
    return x.node.kind if isinstance(x, Array) else element_type(op, x)


@differentiable(x=lambda g: g)
def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return the elements as another dtype.

    Parameters
    ----------
    x : Array
        Any dtype.
    dtype : dtype
        The new dtype.
    copy : bool, optional
        False returns ``x`` itself if its dtype and device stay the same.
    device : Device, optional
        The device of the result. The device of ``x`` by default.

    Returns
    -------
    Array
        The shape of ``x``.
    """
    if device is not None and device_of("astype", device) is not x.device:
        return x.to_device(device).astype(dtype, copy=False)
    return x.astype(dtype, copy=copy)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the promoted dtype of arrays, dtypes and Python numbers.

    Parameters
    ----------
    *arrays_and_dtypes : Array, dtype or number
        The operands. At least one is an array or a dtype.

    Returns
    -------
    numpy.dtype
        The dtype of a result of these operands.

    Raises
    ------
    InvalidType
        If there is neither an array nor a dtype.
    """
    numbers = [x for x in arrays_and_dtypes if python_number(x) is not None]
    kinds = [
        typed[0] if (typed := typed_number(x)) is not None else _kind("result_type", x)
        for x in arrays_and_dtypes
        if python_number(x) is None
    ]
    if not kinds:
        raise InvalidType("result_type", "arrays_and_dtypes", numbers, "an array or a dtype")
    found = reduce(promoted, kinds)
    for number in numbers:
        found = beside_number(found, type(python_number(number)))
    return found.numpy


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether a dtype can be cast to another dtype.

    Parameters
    ----------
    from_ : dtype or Array
        The dtype, or an array of it.
    to : dtype or Array
        The other dtype.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}, optional
        NumPy's rules. "safe" requires that all values fit.

    Returns
    -------
    bool
        Whether the rule allows the cast.

    Raises
    ------
    InvalidArgument
        If ``casting`` has another value.
    """
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        expected = "'no', 'equiv', 'safe', 'same_kind' or 'unsafe'"
        raise InvalidArgument("can_cast", "casting", casting, expected)
    own, other = (_kind("can_cast", x) for x in (from_, to))
    return bool(np.can_cast(own.numpy, other.numpy, casting=casting))  # type: ignore[arg-type]


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
        The dtype.
    kind : dtype, str or tuple
        Another dtype, or "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" or "numeric". A tuple stands for any of its elements.

    Returns
    -------
    bool
        Whether the dtype is of this kind.

    Raises
    ------
    InvalidArgument
        If ``kind`` is another string.
    """
    op = "isdtype"
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise InvalidArgument(op, "kind", kind, f"one of {', '.join(_KINDS)}")
        return checks.numpy_dtype(op, "dtype", dtype).kind in _KINDS[kind]
    own = checks.numpy_dtype(op, "dtype", dtype)
    return bool(own == checks.numpy_dtype(op, "kind", kind))


def finfo(type: Any, /) -> Any:
    """Return the limits of a float dtype.

    Parameters
    ----------
    type : dtype or Array
        A float or complex dtype, or an array of it.

    Returns
    -------
    object
        Attributes bits, eps, max, min, smallest_normal and dtype.

    Raises
    ------
    InvalidType
        If the dtype is not a float or complex dtype.
    """
    kind = _kind("finfo", type)
    if kind.kind not in "fc":
        raise InvalidType("finfo", "type", kind.numpy, "a floating-point dtype")
    found = np.finfo(kind.numpy)
    return SimpleNamespace(
        bits=found.bits, eps=float(found.eps), max=float(found.max), min=float(found.min),
        smallest_normal=float(found.smallest_normal), dtype=np.dtype(found.dtype),
    )  # fmt: skip


def iinfo(type: Any, /) -> Any:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : dtype or Array
        An integer dtype, or an array of it.

    Returns
    -------
    object
        Attributes bits, max, min and dtype.

    Raises
    ------
    InvalidType
        If the dtype is not an integer dtype.
    """
    kind = _kind("iinfo", type)
    if kind.kind not in "iu":
        raise InvalidType("iinfo", "type", kind.numpy, "an integer dtype")
    found = np.iinfo(kind.numpy)
    return SimpleNamespace(
        bits=found.bits, max=int(found.max), min=int(found.min), dtype=kind.numpy
    )
