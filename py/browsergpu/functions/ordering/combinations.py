"""Products, maxima and minima of values at indices, which may be repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.functions import creation, data_types, elementwise, manipulation, parts
from browsergpu.functions.ordering import sorting

Combine = Callable[[Any, Any], Any]


def combined(places: Any, values: Any, combine: Combine) -> tuple[Any, Any]:
    """Return sorted places, and running combinations of the rows of equal places.

    The last row of each place is the combination of all of them. The scan takes steps of 1, 2, 4
    and so on rows.
    """
    order = sorting.argsort(places, axis=0)
    at = manipulation.take(places, order, axis=0)
    own = manipulation.take(values, order, axis=0)
    rest = (1,) * (values.ndim - 1)
    step, count = 1, at.shape[0]
    while step < count:
        is_same = manipulation.reshape(elementwise.equal(at[step:], at[:-step]), (-1, *rest))
        joined = elementwise.where(is_same, combine(own[:-step], own[step:]), own[step:])
        own = manipulation.concat([own[:step], joined], axis=0)
        step *= 2
    return at, own


def combined_at(
    x: Any, places: Any, values: Any, combine: Combine, *, include: bool = True
) -> Any:  # fmt: skip
    """Return a copy of ``x`` with the rows at places combined with values.

    Parameters
    ----------
    x : Array
        Shape [n, ...].
    places : Array
        Integers from 0 to n - 1, shape [m].
    values : Array
        Shape [m, ...], the dtype of ``x``.
    combine : callable
        A function of two arrays that is associative.
    include : bool
        Whether the combination includes the row of ``x``.
    """
    if not places.shape[0]:
        return x.__copy__()
    at, own = combined(places, values, combine)
    if include:
        own = combine(manipulation.take(x, at, axis=0), own)
    return parts.assigned(x, at, own)


def _extreme_gradients(
    g: Array, y: Array, x: Array, places: Array, values: Array, include: bool, needs: Sequence[bool]
) -> tuple[Any, Any]:
    """Return the gradients, which elements that are equal to an extremum share equally."""
    is_x = elementwise.equal(x, y)
    if not include:
        false = creation.zeros(places.shape, dtype="bool", device=g.device)
        is_x = elementwise.logical_and(
            is_x, parts.assigned(creation.ones_like(is_x), places, false)
        )
    is_value = elementwise.equal(values, manipulation.take(y, places, axis=0))
    ones = (data_types.astype(one, "float32") for one in (is_x, is_value))
    count = parts.added_at(next(ones), places, next(ones))
    share = data_types.astype(g / elementwise.maximum(count, 1), g.dtype, copy=False)
    own = elementwise.where(is_x, share, 0) if needs[0] else None
    if not needs[1]:
        return own, None
    return own, elementwise.where(is_value, manipulation.take(share, places, axis=0), 0)


@differentiable(joint=(("x", "values"), _extreme_gradients))
def extreme_at(x: Array, places: Array, values: Array, /, *, largest: bool, include: bool) -> Array:
    """Return a copy of a vector with elements at places replaced by maxima or minima with values.

    The arguments are those of :func:`combined_at`, with vectors.
    """
    combine = elementwise.maximum if largest else elementwise.minimum
    found: Array = combined_at(x, places, values, combine, include=include)
    return found
