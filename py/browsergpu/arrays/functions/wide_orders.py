"""Orders and running sums of whole numbers of 64 bits, composed of operations on their words."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.functions import elementwise, manipulation
from browsergpu.arrays.numbers import bounds_of_float
from browsergpu.core.checks import product
from browsergpu.core.element_types import INT32, INT64, UINT32

#: Numbers of 16 bits whose sum is one of 32.
_BLOCK = 1 << 16


def is_wide(x: Array) -> bool:
    """Whether an array has whole numbers of 64 bits."""
    return x.node.kind.computed in "IU"


def words(op: str, x: Array) -> tuple[Array, Array]:
    """The low words, uint32, and the high ones, int32 or uint32: the numbers are ordered by the
    high ones, and those alike by the low ones."""
    high = apply.binary("bitwise_right_shift", x, 32)
    kind = INT32 if x.node.kind is INT64 else UINT32
    return apply.cast_to(op, x, UINT32), apply.cast_to(op, high, kind)


def searched(op: str, ordered: Array, values: Array, *, right: bool) -> Array:
    """Before which element of a sorted vector each value belongs, by bisection: int32."""
    count = product(ordered.shape)
    low = values.like(apply.full_node(values.tape, values.shape, INT32, 0))
    high = values.like(apply.full_node(values.tape, values.shape, INT32, count))
    for _ in range(count.bit_length()):
        middle = low + (high - low) // 2
        is_open = low < high
        compare = elementwise.less_equal if right else elementwise.less
        is_above = compare(ordered[middle], values) & is_open
        low = elementwise.where(is_above, middle + 1, low)
        high = elementwise.where(is_open & ~is_above, middle, high)
    return low


def searched_float(op: str, ordered: Array, number: float, *, right: bool) -> Array:
    """:func:`searched` of a float, which counts as the next integer."""
    bounds = np.iinfo(ordered.dtype)
    place = bounds.max + 1 if isnan(number) else bounds_of_float(number)[right]
    if place > bounds.max:
        return ordered.like(apply.full_node(ordered.tape, (), INT32, product(ordered.shape)))
    value = apply.array_of(op, "x2", max(place, bounds.min), ordered)
    return searched(op, ordered, value, right=False)


def beginning(x: Array, axis: int, number: int) -> Array:
    """An array with a number before its elements along an axis."""
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    first = x.like(apply.full_node(x.tape, shape, x.node.kind, number))
    return manipulation.concat([first, x], axis=axis)


def running_product(x: Array, axis: int) -> Array:
    """The products along an axis up to each element, in as many steps as the extent has bits."""
    before = (slice(None),) * axis
    step, found = 1, apply.duplicate(x)
    while step < x.shape[axis]:
        behind = found[(*before, slice(step, None))]
        ahead = found[(*before, slice(None, -step))]
        kept = found[(*before, slice(None, step))]
        found = manipulation.concat([kept, apply.binary("multiply", ahead, behind)], axis=axis)
        step *= 2
    return found


def running_sum(x: Array, axis: int, scan: Callable[[Array], Array]) -> Array:
    """The sums along an axis up to each element, modulo 2^64.

    A scan of uint32 adds up 16 bits of each of up to 2^16 numbers exactly. Longer axes are blocks,
    of which the totals are added up by themselves.
    """
    n = x.shape[axis]
    if n <= _BLOCK:
        return _sum_in_block(x, scan)
    before = (slice(None),) * axis
    parts: list[Array] = []
    for begin in range(0, n, _BLOCK):
        own = _sum_in_block(x[(*before, slice(begin, begin + _BLOCK))], scan)
        last = parts[-1][(*before, slice(-1, None))] if parts else None
        parts.append(own if last is None else apply.binary("add", own, last))
    return manipulation.concat(parts, axis=axis)


def _sum_in_block(x: Array, scan: Callable[[Array], Array]) -> Array:
    found: Array | None = None
    for bits in range(0, 64, 16):
        own = apply.binary("bitwise_right_shift", x, bits) if bits else x
        words = apply.cast_to("sum", apply.binary("bitwise_and", own, 0xFFFF), UINT32)
        sums = apply.cast_to("sum", scan(words), x.node.kind)
        sums = apply.binary("bitwise_left_shift", sums, bits) if bits else sums
        found = sums if found is None else apply.binary("add", found, sums)
    assert found is not None
    return found
