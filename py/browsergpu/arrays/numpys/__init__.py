"""NumPy's functions that the Array API standard has none of, called on arrays of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.numpys import (
    bins,
    choices,
    elementwise,
    fourier,
    indices,
    lines,
    quantiles,
    reductions,
    sets,
    ufuncs,
)

#: The functions of ``np.ufunc`` that are not in ``functions.elementwise``.
UFUNCS: dict[Any, Callable[..., Any]] = ufuncs.UFUNCS

#: All others, which ``__array_function__`` is asked for.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **bins.FUNCTIONS,
    **choices.FUNCTIONS,
    **elementwise.FUNCTIONS,
    **fourier.FUNCTIONS,
    **indices.FUNCTIONS,
    **lines.FUNCTIONS,
    **quantiles.FUNCTIONS,
    **reductions.FUNCTIONS,
    **sets.FUNCTIONS,
}
