"""Parts of arrays as functions, for the gradients of ``x[key]`` and ``x[key] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.array import indexing
from browsergpu.array.array import Array
from browsergpu.array.functions import creation
from browsergpu.array.tracking.rules import differentiable
from browsergpu.array.tracking.steps import Like
from browsergpu.core.errors import NotDifferentiable


def _put_back(g: Array, key: Any, x_like: Like) -> Array:
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
    return isinstance(item, Array | np.ndarray) and item.dtype.kind in "iu" and item.ndim > 0


def added_at(x: Array, key: Any, value: Array) -> Array:
    raise NotDifferentiable("x[indices]", "the gradient of indices is being written")


@differentiable(x=_put_back)
def part(x: Array, key: Any, /) -> Array:
    """``x[key]``."""
    return indexing.get(x, key)


def _without(g: Array, key: Any) -> Array:
    rest = g.__copy__()
    rest[key] = 0
    return rest


@differentiable(x=_without, value=lambda g, key: g[key])
def assigned(x: Array, key: Any, value: Any, /) -> Array:
    """A copy of x in which the elements at a key are a value's."""
    return x.like(indexing.assigned(x.__copy__(), key, value).node)
