"""Parts of arrays as functions, for the gradients of ``x[key]`` and ``x[key] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import keys, scatter_add
from browsergpu.arrays.views import strided
from browsergpu.core.checks import product
from browsergpu.core.element_types import COMPLEX64, FLOAT32
from browsergpu.functions import creation, elementwise

_OP = "added_at"


def put_back(g: Array, key: Any, x_like: Like) -> Array:
    """The gradient of an array whose part at a key has the gradient g: zeros beside that."""
    whole = creation.zeros(x_like.shape, dtype=g.dtype, device=g.device)
    if _may_repeat(key):
        return added_at(whole, key, g)
    whole[key] = g
    return whole


def _may_repeat(key: Any) -> bool:
    """Whether a key may name an element twice: where indices are in it, and not slices alone."""
    items = key if isinstance(key, tuple) else (key,)
    return any(_are_indices(item) for item in items)


def _are_indices(item: Any) -> bool:
    if isinstance(item, list):
        item = np.asarray(item)
    return isinstance(item, Array | np.ndarray) and item.dtype.kind in "iu"


@differentiable(x=put_back)
def part(x: Array, key: Any, /) -> Array:
    """``x[key]``."""
    return keys.get(x, key)


@differentiable(x=lambda g: g, value=lambda g, key: part(g, key))
def added_at(x: Array, key: Any, value: Array, /) -> Array:
    """A copy of x, of floats or complex numbers, to which a value is added at a key, of the shape
    of ``x[key]``: to what index arrays name several times, each time. It is added in float32,
    always in the same order."""
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


def _without(g: Array, key: Any) -> Array:
    rest = g.__copy__()
    rest[key] = 0
    return rest


def _of_assigned(g: Array, key: Any) -> Array:
    """Of what came to the same element the last one counts, and it alone has a gradient."""
    found = g[key]
    if not _may_repeat(key):
        return found
    numbers = creation.arange(found.size, dtype="int32", device=g.device).reshape(found.shape)
    last = creation.zeros(g.shape, dtype="int32", device=g.device)
    last[key] = numbers
    return elementwise.where(elementwise.equal(last[key], numbers), found, 0)


@differentiable(x=_without, value=_of_assigned)
def assigned(x: Array, key: Any, value: Any, /) -> Array:
    """A copy of x in which the elements at a key are a value's."""
    return keys.assigned(apply.duplicate(x), key, value)
