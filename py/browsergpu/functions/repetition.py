"""Elements that are repeated along several axes by one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.indexing import gather
from browsergpu.engine.core.turns import exclusive


@exclusive
def repeated(x: Array, times: Sequence[int]) -> Array | None:
    """Repeat each element along each axis, or return None for an array with gradients.

    Parameters
    ----------
    x : Array
        Any dtype.
    times : sequence of int
        Numbers of at least 1, one for each axis.
    """
    return None if type(x) in INTERCEPTED else gather.repeated(x, times)
