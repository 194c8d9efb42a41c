"""Batching rules of ``x[key]`` and ``x[key] = value``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.autograd.batching.calls import RULES, Call, NoRule
from browsergpu.engine.core.errors import InvalidIndex
from browsergpu.functions import creation, manipulation

_OP = "index"


class _Key(NamedTuple):
    """A key's items, one for each axis, with None between them.

    Attributes
    ----------
    items
        Slices, None, integers and arrays.
    arrays
        The places of index arrays, with the integers beside them.
    rank
        The number of axes that the index arrays broadcast to.
    before
        The number of axes of the result before these axes.
    """

    items: list[Any]
    arrays: list[int]
    rank: int
    before: int

    @property
    def result_rank(self) -> int:
        """The number of axes of ``x[key]``."""
        others = sum(item is None or isinstance(item, slice) for item in self.items)
        return others + self.rank


def _is_array(item: Any) -> bool:
    return isinstance(item, Array | np.ndarray | list | tuple)


def _parsed(call: Call, x: Array, key: Any) -> _Key:
    items = list(key) if isinstance(key, tuple) else [key]
    items = [np.asarray(one) if isinstance(one, list | tuple) and not _holds_arrays(one) else one
             for one in items]  # fmt: skip
    if any(isinstance(one, list | tuple) for one in items):
        raise NoRule
    if any(isinstance(one, bool | np.bool_) for one in items):
        raise NoRule
    used = sum(
        (one.ndim if _is_mask(one) else 1) for one in items if one is not None and one is not ...
    )
    if sum(one is ... for one in items) > 1 or used > x.ndim:
        raise InvalidIndex(_OP, "key", key, f"have at most {x.ndim} indices, one for each axis")
    whole: list[Any] = []
    for one in items:
        if one is ...:
            whole += [slice(None)] * (x.ndim - used)
        elif _is_mask(one):
            if call.has(one):
                raise InvalidIndex(
                    _OP, "key", one, "the same mask for all examples of vmap", "Use where()."
                )
            if isinstance(one, Array):
                raise NoRule
            whole += [*one.nonzero()]
        else:
            whole.append(one)
    whole += [slice(None)] * (x.ndim - sum(one is not None for one in whole))
    if not any(_is_array(one) for one in whole):
        return _Key(whole, [], 0, 0)
    places = [n for n, one in enumerate(whole) if not (one is None or isinstance(one, slice))]
    is_one_block = places[-1] - places[0] + 1 == len(places)
    rank = max(whole[n].ndim if _is_array(whole[n]) else 0 for n in places)
    return _Key(whole, places, rank, places[0] if is_one_block else 0)


def _holds_arrays(items: Any) -> bool:
    return any(
        isinstance(one, Array) or (isinstance(one, list | tuple) and _holds_arrays(one))
        for one in items
    )


def _is_mask(item: Any) -> bool:
    return isinstance(item, Array | np.ndarray) and item.dtype.kind == "b"


def _with_places(call: Call, key: _Key, x: Array) -> tuple[Any, ...]:
    """Return the key for all examples: index arrays have an axis for the examples."""
    size = call.frame.size
    rows = creation.arange(size, dtype="int32", device=x.device)
    items = list(key.items)
    for n in key.arrays:
        if call.has(items[n]):
            items[n] = call.ranked(items[n], key.rank)
    return (manipulation.reshape(rows, (size, *(1,) * key.rank)), *items)


def _part(call: Call) -> Any:
    x, key = call.given["x"], call.given["key"]
    own = _parsed(call, x, key)
    has_batched = any(call.has(own.items[n]) for n in own.arrays)
    if not has_batched and (not own.arrays or _is_one_block(own)):
        return call(key=(slice(None), *own.items))
    if call.has(x):
        found = call(key=_with_places(call, own, x))
        return _moved(found, 1, own.before + 1, own.rank)
    items = list(own.items)
    for n in own.arrays:
        if call.has(items[n]):
            items[n] = call.ranked(items[n], own.rank)
    found = call(key=tuple(items))
    return manipulation.moveaxis(found, own.before, 0) if own.before else found


def _is_one_block(key: _Key) -> bool:
    return key.arrays[-1] - key.arrays[0] + 1 == len(key.arrays)


def _moved(x: Array, source: int, target: int, count: int) -> Array:
    """Move ``count`` neighboring axes to another position."""
    if source == target or not count:
        return x
    return manipulation.moveaxis(
        x, tuple(range(source, source + count)), tuple(range(target, target + count))
    )


def _written(call: Call) -> Any:
    """Write a value, or add it, at a key."""
    x, key, value = (call.given[name] for name in ("x", "key", "value"))
    own = _parsed(call, x, key)
    has_batched = any(call.has(own.items[n]) for n in own.arrays)
    rank = own.result_rank
    if call.has(value):
        value = call.ranked(value, rank)
    elif call.op == "added_at":
        value = call.full(value)
    if not has_batched and (not own.arrays or _is_one_block(own)):
        return call(x=call.full(x), key=(slice(None), *own.items), value=value)
    if isinstance(value, Array) and own.before:
        missing = rank - (value.ndim - 1 if call.has(call.given["value"]) else value.ndim)
        if missing > 0:
            value = manipulation.reshape(value, (*(1,) * missing, *value.shape))
        first = value.ndim - rank
        value = _moved(value, first + own.before, first, own.rank)
    return call(x=call.full(x), key=_with_places(call, own, x), value=value)


RULES |= {
    "browsergpu.functions.parts.part": _part,
    "browsergpu.functions.parts.assigned": _written,
    "browsergpu.functions.parts.added_at": _written,
}
