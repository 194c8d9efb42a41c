"""Differentiable functions for ``x[key]`` and ``x[key] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import keys, scatter_add
from browsergpu.arrays.views import strided
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT32
from browsergpu.functions import creation, elementwise, pieces

_OP = "added_at"


def put_back(g: Array, key: Any, x_like: Like) -> Array:
    """Return the gradient of ``x`` from the gradient of ``x[key]``: zeros with ``g`` at the key."""
    whole = creation.zeros(x_like.shape, dtype=g.dtype, device=g.device)
    if _may_repeat(key):
        return added_at(whole, key, g)
    whole[key] = g
    return whole


def _may_repeat(key: Any) -> bool:
    """Return whether a key may select an element twice, as index arrays can."""
    items = key if isinstance(key, tuple) else (key,)
    return any(_are_indices(item) for item in items)


def _are_indices(item: Any) -> bool:
    if isinstance(item, list):
        item = np.asarray(item)
    return isinstance(item, Array | np.ndarray) and item.dtype.kind in "iu"


def _pieces(g: Array, key: Any, x_like: Like) -> Any:
    """Return :func:`put_back`, for basic keys as pieces that the backward pass puts together."""
    box = pieces.box_of(key, x_like.shape)
    if box is None:
        return put_back(g, key, x_like)
    return pieces.Pieces(((key, box, g),), x_like, put_back)


@differentiable(x=_pieces)
def part(x: Array, key: Any, /) -> Array:
    """Return ``x[key]``."""
    return keys.get(x, key)


@differentiable(x=lambda g: g, value=lambda g, key: part(g, key))
def added_at(x: Array, key: Any, value: Array, /) -> Array:
    """Return a copy of ``x`` with ``value`` added to ``x[key]``.

    Elements that an index array names several times get each addition. The additions are in float32
    and always in the same order. ``x`` has floats or complex numbers, and ``value`` the shape of
    ``x[key]``.
    """
    if x.node.kind is COMPLEX64:
        real, imag = added_at(x.real, key, value.real), added_at(x.imag, key, value.imag)
        both: Array = real + imag * 1j
        return both
    rows = keys.rows_at(x, key)
    if rows is None:
        beside: Array = x + keys.assigned(creation.zeros_like(x), key, value)
        return beside
    places, rank = rows
    shape = (product(x.shape[:rank]), product(x.shape[rank:]))
    number = product(places.shape)
    own, added = (apply.cast_to(_OP, one, FLOAT32, copy=False) for one in (x, value))
    made = scatter_add.with_rows_added(
        _OP, strided.reshaped(_OP, own, shape), strided.reshaped(_OP, places, (number,)),
        strided.reshaped(_OP, added, (number, shape[1])),
    )  # fmt: skip
    return apply.cast_to(_OP, strided.reshaped(_OP, made, x.shape), x.node.kind, copy=False)


def _assigned_gradient(g: Array, key: Any) -> Array:
    rest = g.__copy__()
    rest[key] = 0
    return rest


def _assigned_value_gradient(g: Array, key: Any) -> Array:
    """Return the gradient for the value. Of several values for an element, only the last counts."""
    found = g[key]
    if not _may_repeat(key):
        return found
    numbers = creation.arange(found.size, dtype="int32", device=g.device).reshape(found.shape)
    last = creation.zeros(g.shape, dtype="int32", device=g.device)
    last[key] = numbers
    return elementwise.where(elementwise.equal(last[key], numbers), found, 0)


@differentiable(x=_assigned_gradient, value=_assigned_value_gradient)
def assigned(x: Array, key: Any, value: Any, /) -> Array:
    """Return a copy of ``x`` with ``x[key] = value``."""
    return keys.assigned(apply.duplicate(x), key, value)
