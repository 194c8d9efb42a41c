"""Exponentials of matrices.

Source: Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.functions import creation, elementwise, statistics
from browsergpu.functions.linalg.equations import solve
from browsergpu.functions.linalg.linear import matmul

#: Coefficients of the [7/7] Padé approximant of the exponential function.
_PADE = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
#: The norm up to which the approximant is exact to float32's rounding.
_NORM = 3.925724783138660


def exponential(x: Any, max_squarings: int | None = None) -> Any:
    """Return the exponentials of matrices. Waits for the GPU, to choose the numbers of squarings.

    Parameters
    ----------
    x : Array
        Matrices [..., n, n], float32 or complex64.
    max_squarings : int, optional
        The largest number of squarings. Matrices that need more have NaN, as those with a norm that
        is not finite.
    """
    if not x.size:
        return x.__copy__()
    norms = statistics.max(statistics.sum(abs(x.detach()), axis=-2), axis=-1)
    wanted = np.asarray(norms).astype(np.float64) / _NORM
    with np.errstate(divide="ignore"):
        counts = np.maximum(np.ceil(np.log2(wanted)), 0)
    is_over = ~np.isfinite(wanted)
    if max_squarings is not None:
        is_over |= counts > max_squarings
    counts = np.where(is_over, 0, counts)[..., None, None]

    def on_gpu(values: np.ndarray, dtype: Any = None) -> Any:
        return creation.asarray(values, dtype=dtype, device=x.device)

    scales = np.where(is_over[..., None, None], np.nan, 0.5**counts)
    own = x * on_gpu(scales, x.dtype if x.dtype.kind == "f" else np.float32)
    eye = creation.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    two = matmul(own, own)
    four = matmul(two, two)
    six = matmul(four, two)
    odd = matmul(own, six * _PADE[7] + four * _PADE[5] + two * _PADE[3] + eye * _PADE[1])
    even = six * _PADE[6] + four * _PADE[4] + two * _PADE[2] + eye * _PADE[0]
    found = solve(even - odd, even + odd)
    for n in range(int(counts.max())):
        squared = matmul(found, found)
        every = bool((counts > n).all())
        found = squared if every else elementwise.where(on_gpu(counts > n), squared, found)
    return found
