"""Gradients of cumulative sums, cumulative products and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.functions import creation, manipulation

Running = Callable[..., Array]


def of_sum(running: Running, g: Array, axis: int | None, include_initial: bool) -> Array:
    """Return the gradient of cumulative sums. An element is in all sums from its own on."""
    at = 0 if axis is None else axis % g.ndim
    own = g[(*(slice(None),) * at, slice(1, None))] if include_initial else g
    return manipulation.flip(running(manipulation.flip(own, axis=at), axis=at), axis=at)


def of_product(
    running: Running, g: Array, x: Array, axis: int | None, include_initial: bool
) -> Array:
    """Return the gradient of cumulative products.

    It is the product of the elements before, times ``s[i] = g[i] + x[i + 1] * s[i + 1]``. The
    recurrence is solved in steps of 1, 2, 4 and so on elements, without a division by ``x``, which
    may be 0.

    Source: Kogge and Stone, A Parallel Algorithm for the Efficient Solution of a General Class of
    Recurrence Equations, 1973.
    """
    at = 0 if axis is None else axis
    rows = manipulation.moveaxis(x.astype(g.dtype, copy=False), at, -1)
    found = manipulation.moveaxis(g, at, -1)
    if include_initial:
        found = found[..., 1:]
    before = running(rows, axis=-1, include_initial=True)[..., :-1]
    factors, step = rows[..., 1:], 1
    while step < rows.shape[-1]:
        nearer = found[..., :-step] + factors * found[..., step:]
        found = manipulation.concat([nearer, found[..., -step:]], axis=-1)
        factors, step = factors[..., :-step] * factors[..., step:], 2 * step
    return manipulation.moveaxis(before * found, -1, at)


def scanned(x: Array, combine: Callable[[Array, Array], Array]) -> Array:
    """Return running combinations along the last axis, in steps of 1, 2, 4 and so on. Any dtype."""
    step = 1
    while step < x.shape[-1]:
        joined = combine(x[..., step:], x[..., :-step])
        x = manipulation.concat([x[..., :step], joined], axis=-1)
        step *= 2
    return x


def of_differences(
    differences: Running, g: Array, likes: tuple[Like | None, ...], axis: int, n: int
) -> tuple[Any, ...]:
    """Return the gradients of ``diff`` for the arrays that it concatenates.

    They are the differences of the gradient padded with ``n`` zeros at both ends, negated for odd
    ``n``.
    """
    at = axis % g.ndim
    extents = [0 if like is None else like.shape[at] for like in likes]
    shape = (*g.shape[:at], n, *g.shape[at + 1 :])
    if g.size:
        zeros = creation.zeros(shape, dtype=g.dtype, device=g.device)
        whole = differences(manipulation.concat([zeros, g, zeros], axis=at), axis=at, n=n)
        whole = -whole if n % 2 else whole
    else:
        shape = (*g.shape[:at], sum(extents), *g.shape[at + 1 :])
        whole = creation.zeros(shape, dtype=g.dtype, device=g.device)
    found: list[Any] = []
    begin = 0
    for extent in extents:
        found.append(whole[(*(slice(None),) * at, slice(begin, begin + extent))])
        begin += extent
    return tuple(found)
