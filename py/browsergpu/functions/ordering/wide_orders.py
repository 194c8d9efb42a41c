"""Sorting and searching of 64-bit integers by their 32-bit words."""

from __future__ import annotations

from math import isnan

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.numbers import bounds_of_float
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import INT32, INT64, UINT32
from browsergpu.functions import elementwise


def is_wide(x: Array) -> bool:
    """Return whether an array has 64-bit integers."""
    return x.node.kind.computed in "IU"


def words(op: str, x: Array) -> tuple[Array, Array]:
    """Return the low words as uint32, and the high words as int32 or uint32.

    The numbers are ordered by their high words, and equal ones by their low words.
    """
    high = apply.binary("bitwise_right_shift", x, 32)
    kind = INT32 if x.node.kind is INT64 else UINT32
    return apply.cast_to(op, x, UINT32), apply.cast_to(op, high, kind)


def searched(op: str, ordered: Array, values: Array, *, right: bool) -> Array:
    """Return the int32 indices at which values keep a vector sorted, by bisection."""
    count = product(ordered.shape)
    low = values.like(apply.full_node(values.tracer, values.shape, INT32, 0))
    high = values.like(apply.full_node(values.tracer, values.shape, INT32, count))
    for _ in range(count.bit_length()):
        middle = low + (high - low) // 2
        is_open = low < high
        compare = elementwise.less_equal if right else elementwise.less
        is_above = compare(ordered[middle], values) & is_open
        low = elementwise.where(is_above, middle + 1, low)
        high = elementwise.where(is_open & ~is_above, middle, high)
    return low


def searched_float(op: str, ordered: Array, number: float, *, right: bool) -> Array:
    """Return :func:`searched` for a float, which counts as the next integer."""
    bounds = np.iinfo(ordered.dtype)
    place = bounds.max + 1 if isnan(number) else bounds_of_float(number)[right]
    if place > bounds.max:
        return ordered.like(apply.full_node(ordered.tracer, (), INT32, product(ordered.shape)))
    value = apply.array_of(op, "x2", max(place, bounds.min), ordered)
    return searched(op, ordered, value, right=False)
