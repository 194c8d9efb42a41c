"""NumPy's functions, called on arrays of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.numpys import (
    algebra,
    bins,
    bits,
    by_shape,
    choices,
    creating,
    elementwise,
    fourier,
    indices,
    joining,
    lines,
    matrices,
    nans,
    padding,
    picking,
    polynomials,
    quantiles,
    reductions,
    series,
    sets,
    standard,
    ufuncs,
    writing,
)

#: The functions of ``np.ufunc`` that are not in ``functions.elementwise``.
UFUNCS: dict[Any, Callable[..., Any]] = {
    **bits.UFUNCS,
    **by_shape.UFUNCS,
    **ufuncs.UFUNCS,
}

#: All others, which ``__array_function__`` is asked for.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **standard.FUNCTIONS,
    **matrices.FUNCTIONS,
    **{theirs: standard.of_two(own, theirs) for theirs, own in matrices.OF_TWO.items()},
    **nans.FUNCTIONS,
    **algebra.FUNCTIONS,
    **bins.FUNCTIONS,
    **bits.FUNCTIONS,
    **by_shape.FUNCTIONS,
    **choices.FUNCTIONS,
    **creating.FUNCTIONS,
    **elementwise.FUNCTIONS,
    **fourier.FUNCTIONS,
    **indices.FUNCTIONS,
    **joining.FUNCTIONS,
    **lines.FUNCTIONS,
    **padding.FUNCTIONS,
    **polynomials.FUNCTIONS,
    **picking.FUNCTIONS,
    **quantiles.FUNCTIONS,
    **reductions.FUNCTIONS,
    **series.FUNCTIONS,
    **sets.FUNCTIONS,
    **writing.FUNCTIONS,
}
