"""Additions at index arrays, as ``numpy.add.at`` makes them."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.indexing import keys
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, manipulation, parts
from browsergpu.functions.ordering import sorting


def added_at(x: Array, key: Any, value: Array, /) -> Array:
    """Return a copy of ``x`` with ``value``, of the shape of ``x[key]``, added to ``x[key]``.

    Elements that an index array names several times get each addition. Both have one dtype.
    Integers are added exactly, and other numbers in float32.
    """
    add = parts.added_at if x.dtype.kind in "fc" else _integers_added_at
    return add(x, key, value)


@exclusive
def _integers_added_at(x: Array, key: Any, value: Array, /) -> Array:
    """Add integers, which wrap.

    The values are sorted by the rows that they are added to. The sum for a row is the difference of
    two running sums.
    """
    rows = keys.rows_at(x, key)
    if rows is None:
        beside: Array = x + keys.assigned(creation.zeros_like(x), key, value)
        return beside
    places, rank = rows
    count, width = product(x.shape[:rank]), product(x.shape[rank:])
    number = product(places.shape)
    if not (number and count and width):
        return x.__copy__()
    places = manipulation.reshape(places, (number,))
    order = sorting.argsort(places)
    ordered = manipulation.take(places, order, axis=0)
    added = manipulation.take(manipulation.reshape(value, (number, width)), order, axis=0)
    sums = sorting.cumulative_sum(added, axis=0, include_initial=True)
    row = creation.arange(count, dtype=places.dtype, device=x.device)
    first, end = (sorting.searchsorted(ordered, row, side=side) for side in ("left", "right"))
    total = manipulation.take(sums, end, axis=0) - manipulation.take(sums, first, axis=0)
    found: Array = x + manipulation.reshape(total, x.shape).astype(x.dtype, copy=False)
    return found
