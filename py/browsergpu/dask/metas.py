"""Meta arrays, which describe chunks to Dask. They have no elements and need no GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.functions.meta import stand_in


def meta(ndim: int, dtype: Any = np.float32) -> Array:
    """Return an array for ``meta=`` of a Dask array with browsergpu chunks.

    Results computed with it have the dtype and axes of the real results. It also works on a client
    without a GPU.

    Parameters
    ----------
    ndim : int
        Number of axes.
    dtype : optional
        Dtype, float32 by default.

    Returns
    -------
    Array
        An array without elements.
    """
    return stand_in((0,) * checks.integer("meta", "ndim", ndim), dtype)


def meta_like(described: Any) -> Array:
    """Return the meta for an array of NumPy or another library. 64-bit dtypes become 32-bit."""
    return meta(described.ndim, described.dtype)
