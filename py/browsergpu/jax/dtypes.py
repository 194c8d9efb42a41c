"""``jax.dtypes``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.jax.arrays import dtypes as _dtypes
from browsergpu.jax.numpy.namespace import issubdtype as issubdtype
from browsergpu.jax.numpy.namespace import result_type as result_type

#: The dtype of key arrays here.
prng_key = np.uint32


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """Return the dtype that is used for a dtype: 32 bits in place of 64."""
    return _dtypes.narrowed(np.dtype(dtype))
