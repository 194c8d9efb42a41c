"""The dtype of Python integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import INT32, INT64, set_default_whole
from browsergpu.engine.core.errors import InvalidArgument


def set_default_int(dtype: Any, /) -> np.dtype[Any]:
    """Choose the dtype of Python integers.

    It applies to lists, ``arange``, ``full``, and sums and products of smaller integers. It holds
    for the process and for arrays that are made from now on.

    Parameters
    ----------
    dtype : dtype
        int64, the default as in NumPy, or int32, which takes half the memory and is faster to
        multiply, divide and sort.

    Returns
    -------
    dtype
        The previous dtype.

    Raises
    ------
    InvalidArgument
        For another dtype.

    Examples
    --------
    >>> bg.set_default_int("int32")
    dtype('int64')
    """
    given = checks.numpy_dtype("set_default_int", "dtype", dtype)
    kind = next((one for one in (INT32, INT64) if one.numpy == given), None)
    if kind is None:
        raise InvalidArgument("set_default_int", "dtype", given, "int32 or int64")
    before = set_default_whole(kind)
    apply.forget_numbers()
    return before.numpy
