"""What Dask describes chunks by: arrays without elements. They need no GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.functions.meta import stand_in


def meta(ndim: int, dtype: Any = np.float32) -> Array:
    """The ``meta=`` of a Dask array whose chunks are browsergpu's: of so many axes and that dtype.

    Whatever is computed with it says what the chunks would come to, on a client without a GPU, too.
    """
    return stand_in((0,) * checks.integer("meta", "ndim", ndim), dtype)


def meta_like(described: Any) -> Array:
    """The meta of chunks as an array describes them, of which NumPy's or another's may be there
    now; 64 bits become 32."""
    return meta(described.ndim, described.dtype)
