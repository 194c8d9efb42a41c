"""Sets: the different elements of arrays, and which of them are in another."""

from __future__ import annotations

from typing import NamedTuple

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.indexing.masks import places_of_true
from browsergpu.arrays.views import strided
from browsergpu.core.checks import product
from browsergpu.core.element_types import BOOL, INT32
from browsergpu.core.errors import InvalidType
from browsergpu.functions import manipulation
from browsergpu.functions.ordering import sorting


class UniqueAll(NamedTuple):
    """What :func:`unique_all` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What :func:`unique_counts` gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What :func:`unique_inverse` gives."""

    values: Array
    inverse_indices: Array


def _shared(g: tuple[Array, ...], y: tuple[Array, ...]) -> Array:
    """Among the elements that are equal."""
    _, _, inverse, counts = y
    found: Array = (g[0] / counts)[inverse]
    return found


@differentiable(x=_shared)
def unique_all(x: Array, /) -> UniqueAll:
    """The different elements in rising order, each NaN by itself; where the first of each is in x's
    order, which of them each element of x is, and how many of each there are. Waits for how many
    there are."""
    return unique_parts(x, equal_nan=False)


def unique_parts(x: Array, *, equal_nan: bool) -> UniqueAll:
    """:func:`unique_all`, where all NaN may count as one element, without gradients."""
    op = "unique"
    flat = strided.reshaped(op, x, (-1,))
    n = product(x.shape)
    order = sorting.order_of(flat)
    ordered = flat[order]
    after, before = ordered[1:], ordered[:-1]
    differs = apply.binary("not_equal", after, before)
    if equal_nan and x.node.kind.kind == "f":
        differs = apply.binary("logical_and", differs, apply.binary("equal", before, before))
    new = manipulation.concat([_ones(x, min(n, 1)), differs])
    begins = places_of_true(op, new)
    ends = manipulation.concat([begins[1:], _numbers(x, n)[: begins.size and 1]])
    which = sorting.cumulative_sum(new, dtype=INT32.numpy) - 1
    back = sorting.order_of(order)
    inverse = strided.reshaped(op, which[back], x.shape)
    indices = map(sorting.as_indices, (order[begins], inverse, ends - begins))
    return UniqueAll(ordered[begins], *indices)


def _ones(x: Array, count: int) -> Array:
    return x.like(apply.full_node(x.tracer, (count,), BOOL, True))


def _numbers(x: Array, number: int) -> Array:
    return x.like(apply.full_node(x.tracer, (1,), INT32, number))


def unique_counts(x: Array, /) -> UniqueCounts:
    """The different elements in rising order, and how many of each there are."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """The different elements in rising order, and which of them each element of x is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """The different elements in rising order."""
    return unique_all(x).values


@constant
def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Which elements of x1 are among those of x2, or, with ``invert``, which are not: bool, of x1's
    shape. NaN is among none. One of the two may be a number."""
    op = "isin"
    beside = x1 if isinstance(x1, Array) else x2
    if not isinstance(beside, Array):
        raise InvalidType(op, "x1", x1, "an array, unless x2 is one")
    one = apply.array_of(op, "x1", x1, beside)
    other = apply.array_of(op, "x2", x2, beside)
    n = product(other.shape)
    if n == 0:
        return one.like(apply.full_node(one.tracer, one.shape, BOOL, invert))
    ordered = sorting.sort(strided.reshaped(op, other, (n,)))
    at = apply.apply("minimum", one, sorting.place_of(ordered, one), n - 1)
    found: Array = apply.binary("not_equal" if invert else "equal", ordered[at], one)
    return found
