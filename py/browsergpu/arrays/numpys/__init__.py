"""NumPy's functions that the Array API standard has none of, called on arrays of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.numpys import (
    bins,
    bits,
    by_shape,
    choices,
    elementwise,
    fourier,
    indices,
    lines,
    padding,
    polynomials,
    quantiles,
    reductions,
    sets,
    ufuncs,
)

#: The functions of ``np.ufunc`` that are not in ``functions.elementwise``.
UFUNCS: dict[Any, Callable[..., Any]] = {
    **bits.UFUNCS,
    **by_shape.UFUNCS,
    **ufuncs.UFUNCS,
}

#: All others, which ``__array_function__`` is asked for.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **bins.FUNCTIONS,
    **bits.FUNCTIONS,
    **by_shape.FUNCTIONS,
    **choices.FUNCTIONS,
    **elementwise.FUNCTIONS,
    **fourier.FUNCTIONS,
    **indices.FUNCTIONS,
    **lines.FUNCTIONS,
    **padding.FUNCTIONS,
    **polynomials.FUNCTIONS,
    **quantiles.FUNCTIONS,
    **reductions.FUNCTIONS,
    **sets.FUNCTIONS,
}
