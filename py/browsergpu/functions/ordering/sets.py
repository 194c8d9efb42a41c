"""Sets: unique elements of arrays, and membership."""

from __future__ import annotations

from typing import NamedTuple

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import constant, differentiable
from browsergpu.arrays.indexing.masks import places_of_true
from browsergpu.arrays.views import strided
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import BOOL, INT32
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import manipulation
from browsergpu.functions.ordering import sorting


class UniqueAll(NamedTuple):
    """Result of :func:`unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Result of :func:`unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Result of :func:`unique_inverse`."""

    values: Array
    inverse_indices: Array


def _unique_gradient(g: tuple[Array, ...], y: tuple[Array, ...]) -> Array:
    """Divide the gradient of a unique element among all equal elements."""
    _, _, inverse, counts = y
    found: Array = (g[0] / counts)[inverse]
    return found


@differentiable(x=_unique_gradient)
def unique_all(x: Array, /) -> UniqueAll:
    """Return unique elements in ascending order, with their indices and counts. Waits.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.

    Returns
    -------
    values : Array
        Unique elements, of shape [N]. Each NaN is unique.
    indices : Array
        Index of the first occurrence in the flattened array, of shape [N].
    inverse_indices : Array
        Index in ``values`` of each element, of the shape of ``x``.
    counts : Array
        Number of occurrences, of shape [N].

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    """
    return unique_parts(x, equal_nan=False)


@differentiable(x=_unique_gradient)
def unique_with_equal_nan(x: Array, /) -> UniqueAll:
    """Return :func:`unique_all`, with all NaN as one element, as in NumPy."""
    return unique_parts(x, equal_nan=True)


def unique_parts(x: Array, *, equal_nan: bool) -> UniqueAll:
    """Return :func:`unique_all` without gradients. ``equal_nan`` counts all NaN as one element."""
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
    ends = manipulation.concat([begins[1:], _count_array(x, n)[: begins.size and 1]])
    which = sorting.cumulative_sum(new, dtype=INT32.numpy) - 1
    back = sorting.order_of(order)
    inverse = strided.reshaped(op, which[back], x.shape)
    indices = map(sorting.as_indices, (order[begins], inverse, ends - begins))
    return UniqueAll(ordered[begins], *indices)


def _ones(x: Array, count: int) -> Array:
    return x.like(apply.full_node(x.tracer, (count,), BOOL, True))


def _count_array(x: Array, number: int) -> Array:
    return x.like(apply.full_node(x.tracer, (1,), INT32, number))


def unique_counts(x: Array, /) -> UniqueCounts:
    """Return unique elements in ascending order, and their counts. Waits.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.

    Returns
    -------
    values : Array
        Unique elements, of shape [N]. Each NaN is unique.
    counts : Array
        Number of occurrences, of shape [N].

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Return unique elements in ascending order, and the index of each element in them. Waits.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.

    Returns
    -------
    values : Array
        Unique elements, of shape [N]. Each NaN is unique.
    inverse_indices : Array
        Index in ``values`` of each element, of the shape of ``x``.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """Return unique elements in ascending order. Waits.

    Parameters
    ----------
    x : Array
        Any dtype but complex64.

    Returns
    -------
    Array
        Unique elements, of shape [N]. Each NaN is unique.

    Raises
    ------
    InvalidType
        If ``x`` is complex.
    """
    return unique_all(x).values


@constant
def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Return whether elements of one array are in another.

    Parameters
    ----------
    x1 : Array or int
        The elements to look for. At least one of ``x1`` and ``x2`` is an array.
    x2 : Array or int
        The elements to search.
    invert : bool, optional
        True returns whether elements are not in ``x2``.

    Returns
    -------
    Array
        bool, of the shape of ``x1``. NaN is in no array.

    Raises
    ------
    InvalidType
        If neither operand is an array, or one is complex.
    """
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
