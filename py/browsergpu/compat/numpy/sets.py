"""``numpy.unique``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.functions.ordering import sets


@constant
def _unique(
    ar: Array, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """Return the sorted unique elements, as ``numpy.unique``. Waits for the GPU.

    With ``axis``, NumPy computes it on the host.
    """
    if axis is not None:
        asked = (return_index, return_inverse, return_counts, axis)
        return on_host("np.unique", np.unique, (ar, *asked), {"equal_nan": equal_nan})
    found = sets.unique_parts(ar, equal_nan=equal_nan)
    asked = (True, return_index, return_inverse, return_counts)
    chosen = tuple(part for part, is_asked in zip(found, asked, strict=True) if is_asked)
    return chosen if len(chosen) > 1 else chosen[0]


FUNCTIONS: dict[Any, Callable[..., Any]] = {np.unique: _unique}
