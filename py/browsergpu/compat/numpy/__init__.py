"""NumPy's functions for arrays on the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.compat.numpy import (
    along_axis,
    bits,
    creation,
    elementwise,
    fourier,
    sets,
    standard,
    ufuncs,
)
from browsergpu.compat.numpy.linalg import algebra, matrices, polynomials, series
from browsergpu.compat.numpy.manipulation import (
    by_shape,
    choices,
    concatenate,
    in_place,
    indices,
    padding,
    picking,
)
from browsergpu.compat.numpy.statistics import bins, nans, quantiles, reductions

#: Implementations of ufuncs that ``functions.elementwise`` lacks, or has with another meaning.
UFUNCS: dict[Any, Callable[..., Any]] = {
    **bits.UFUNCS,
    **by_shape.UFUNCS,
    **ufuncs.UFUNCS,
}

#: Implementations of other functions, for ``__array_function__``.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **standard.FUNCTIONS,
    **matrices.FUNCTIONS,
    **{
        theirs: standard.on_one_device_function(own, theirs)
        for theirs, own in matrices.BINARY_FUNCTIONS.items()
    },
    **nans.FUNCTIONS,
    **algebra.FUNCTIONS,
    **bins.FUNCTIONS,
    **bits.FUNCTIONS,
    **by_shape.FUNCTIONS,
    **choices.FUNCTIONS,
    **creation.FUNCTIONS,
    **elementwise.FUNCTIONS,
    **fourier.FUNCTIONS,
    **indices.FUNCTIONS,
    **concatenate.FUNCTIONS,
    **along_axis.FUNCTIONS,
    **padding.FUNCTIONS,
    **polynomials.FUNCTIONS,
    **picking.FUNCTIONS,
    **quantiles.FUNCTIONS,
    **reductions.FUNCTIONS,
    **series.FUNCTIONS,
    **sets.FUNCTIONS,
    **in_place.FUNCTIONS,
}
