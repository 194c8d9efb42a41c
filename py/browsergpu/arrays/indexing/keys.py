"""NumPy's keys: parts of arrays, and assignment to them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeVar

import numpy as np

from browsergpu.arrays.apply import cast_to, same_device
from browsergpu.arrays.indexing import assignment, elements, gather, scatter
from browsergpu.arrays.indexing.masks import chosen, indices_along, replaced
from browsergpu.arrays.lazy.host_number import is_here, number_in
from browsergpu.arrays.numbers import python_number, typed_number
from browsergpu.arrays.upload import on_host, uploaded
from browsergpu.arrays.value import Value
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import alias
from browsergpu.engine.core import shapes
from browsergpu.engine.core.element_types import BOOL
from browsergpu.engine.core.errors import InvalidArgument, InvalidIndex
from browsergpu.engine.core.shapes import contiguous_strides
from browsergpu.engine.core.showing import Description

V = TypeVar("V", bound=Value)
_OP = "index"


def get(x: V, key: Any) -> V:
    """Return ``x[key]``.

    Integers, slices, ``...`` and None give a view. Integer arrays and lists give a copy. Indices in
    arrays on the GPU are clamped to their axis.
    """
    plain = _plain(x, key)
    if plain is not None:
        found = _basic(x, plain)
        if not found.node.shape:  # a single element is a copy, as in NumPy
            known = elements.known(found)
            return found if known is None else known
        return alias(x, found) if type(key) in _PLAIN or not _has_array(key) else found
    mask = _mask(x, key)
    if mask is not None:
        return chosen(x, mask)
    found = _by_items(x, _items(x, key))
    is_element = not found.node.shape and not _has_ellipsis(key)
    return found if is_element else alias(x, found)


def _has_ellipsis(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))


_PLAIN = frozenset((int, slice))
_WHOLE = slice(None)


def _plain(x: Value, key: Any) -> Sequence[Any] | None:
    """Return the items of a key of integers and slices, one for each axis, or None for other keys.

    This is a fast path.
    """
    items = key if type(key) is tuple else (key,)
    missing = len(x.node.shape) - len(items)
    if missing < 0:
        return None
    for item in items:
        if type(item) not in _PLAIN:
            items = tuple([_known(item) for item in items])
            if None in items:
                return None
            break
    return (*items, *[_WHOLE] * missing) if missing else items


def _known(item: Any) -> Any:
    """Return a slice, or an integer that the host knows as a Python number, or None."""
    if type(item) in _PLAIN:
        return item
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, Value) and item.node.kind.kind in "iu" and is_here(item.tracer):
        return number_in(item.node)
    return None


def _has_array(key: Any) -> bool:
    return isinstance(key, Value) or (
        isinstance(key, tuple) and any(isinstance(item, Value) for item in key)
    )


def _by_items(x: V, items: Sequence[Any], *, places: bool = False) -> V:
    """Return the part that a key's items select, one item for each axis, with None between them.

    ``places`` asks for the flat indices in the memory of ``x`` if there are index arrays.
    """
    arrays = [_index_array(x, item) for item in items]
    if not any(array is not None for array in arrays):
        return _basic(x, items)
    # Basic indexing first, with a full slice for each index array.
    rest = _basic(
        x, [slice(None) if a is not None else i for i, a in zip(items, arrays, strict=True)]
    )
    axis, axes, found = 0, [], []
    for item, array in zip(items, arrays, strict=True):
        if array is not None:
            axes.append(axis)
            found.append(array)
        if item is None or array is not None or isinstance(item, slice):
            axis += 1
    starts_first = _starts_first(items, arrays)
    return gather.by_arrays(rest, axes, found, starts_first, places=places, checked=True)


def _starts_first(items: Sequence[Any], arrays: Sequence[Any]) -> bool:
    """Return whether the axes of index arrays come first in the result.

    They do if a slice or None separates them. An integer beside an array counts as an array.
    """
    advanced = [
        n
        for n, (item, array) in enumerate(zip(items, arrays, strict=True))
        if array is not None or not (item is None or isinstance(item, slice))
    ]
    return advanced[-1] - advanced[0] + 1 != len(advanced)


def _items(x: V, key: Any) -> list[Any]:
    """Return the key's items, one for each axis, with None between them.

    ``...`` is expanded. A mask becomes one index array for each of its axes.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    items = [list(item) if isinstance(item, tuple | range) else item for item in items]
    masks = [_mask(x, item) for item in items]
    rank = len(x.node.shape)
    ellipses = sum(item is Ellipsis for item in items)
    used = sum(
        len(mask.node.shape) if mask is not None else item is not None and item is not Ellipsis
        for item, mask in zip(items, masks, strict=True)
    )
    if ellipses > 1:
        raise InvalidIndex(_OP, "key", key, "have at most one ...")
    if used > rank:
        raise InvalidIndex(_OP, "key", key, f"have at most {rank} indices, one for each axis")
    found: list[Any] = []
    axis = 0
    for item, mask in zip(items, masks, strict=True):
        if item is Ellipsis:
            found += [slice(None)] * (rank - used)
            axis += rank - used
        elif mask is not None:
            found += indices_along(x, mask, axis)
            axis += len(mask.node.shape)
        else:
            found.append(item)
            axis += item is not None
    return found + [slice(None)] * (rank - axis)


def _index_array(x: V, item: Any) -> Any:
    """Return an item that is an integer array, of NumPy or on the GPU, or None for other items."""
    if item is None or (isinstance(item, slice | int | np.integer) and not isinstance(item, bool)):
        return None
    if isinstance(item, Value):
        if item.node.kind.kind not in "iu":
            raise InvalidIndex(_OP, "key", item, "integers")
        return item
    if isinstance(item, list | np.ndarray):
        array = np.asarray(item)
        if array.size == 0 and isinstance(item, list):
            array = array.astype(np.int32)
        if array.dtype.kind not in "iu":
            raise InvalidIndex(_OP, "key", item, "integers")
        return array
    raise InvalidIndex(_OP, "key", item, "an integer, a slice, ..., None or an array of integers")


def _basic(x: V, items: Sequence[Any]) -> V:
    """Return the view that integers, slices and None select."""
    node = x.node.in_memory()
    extents, steps = node.shape, node.strides or contiguous_strides(node.shape)
    shape: list[int] = []
    strides: list[int] = []
    offset = axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, step = extents[axis], steps[axis]
        axis += 1
        if type(item) is slice:
            start, end, stride = item.indices(extent)
            count = end - start if stride == 1 else len(range(start, end, stride))
            if count > 0:
                offset += start * step
                shape.append(count)
            else:
                shape.append(0)
            strides.append(step * stride)
        else:
            at = index(item)
            if not -extent <= at < extent:
                raise InvalidIndex(_OP, "key", at, f"an index from {-extent} to {extent - 1}")
            offset += at % extent * step
    return strided.view(x, tuple(shape), tuple(strides), offset)


def rows_at(x: V, key: Any) -> tuple[V, int] | None:
    """Return the flat indices of the rows that ``x[key]`` selects, as uint32.

    Also returns the number of leading axes that the indices cover. If it is the number of all axes,
    the rows are elements. Returns None if the key has no index arrays.
    """
    items = _items(x, key)
    arrays = [_index_array(x, item) is not None for item in items]
    if not any(arrays):
        return None
    count = sum(arrays)
    whole = [isinstance(item, slice) and item == slice(None) for item in items[count:]]
    rank = count if all(arrays[:count]) and all(whole) else len(x.node.shape)
    own = items[:rank] if rank == count else items
    return _by_items(scatter.stand_in(x, rank), own, places=True), rank


def assigned(x: V, key: Any, value: Any) -> V:
    """Return the array after ``x[key] = value``.

    It is ``x`` itself, or another array whose value ``x`` must take.
    """
    same_device("assign", x, value)
    kind = x.node.kind
    given = value
    if (
        not isinstance(value, Value)
        and python_number(value) is None
        and typed_number(value) is None
    ):
        data, own = on_host(value)
        # A list takes the array's dtype. Values that do not fit raise an error.
        given = x.like(uploaded(x.tracer, data, kind if own and kind.kind in "iu" else own))
    plain = _plain(x, key)
    if isinstance(given, Value):
        given = cast_to("assign", given, kind, copy=False)
        known = number_in(given.node) if is_here(x.tracer) else None
        given = given if known is None else known
    mask = _mask(x, key) if plain is None else None
    if mask is not None:
        count = int(np.count_nonzero(key)) if isinstance(key, np.ndarray | list) else None
        return replaced(x, mask, given, count)
    items = _items(x, key) if plain is None else plain
    if plain is None and any(_index_array(x, item) is not None for item in items):
        places = _by_items(scatter.stand_in(x), items, places=True)
        return scatter.replaced(x, places, _spread(given, places.node.shape))
    region = gather.region(x.node.shape, items)
    if region.shape or isinstance(given, Value):
        return assignment.replaced(x, region, _spread(given, region.shape))
    mirror = elements.mirror_of(x)
    found = assignment.replaced(x, region, given)
    if mirror is not None:
        elements.write(mirror, found.node, region, given)
    return found


def _spread(given: Any, shape: shapes.Shape) -> Any:
    """Broadcast the assigned value to the shape of the region.

    Leading axes of length 1 are dropped. Raises InvalidArgument for other shapes.
    """
    if not isinstance(given, Value):
        return given
    own = given.node.shape
    if own == shape:
        return given
    if len(own) > len(shape) and all(extent == 1 for extent in own[: len(own) - len(shape)]):
        given = strided.reshaped("assign", given, own[len(own) - len(shape) :])
        own = given.node.shape
    try:
        fits = shapes.broadcast("assign", own, shape) == shape
    except InvalidArgument:
        fits = False
    if not fits:
        raise InvalidArgument(
            "assign", "value", Description(f"shape {own}"), f"an array that broadcasts to {shape}"
        )
    return strided.spread(given, shape)


def _mask(x: V, key: Any) -> V | None:
    """Return a key that is a bool array, on the GPU, or None for other keys."""
    if isinstance(key, list) and key:
        key = np.asarray(key)
    if isinstance(key, np.ndarray) and key.dtype == np.bool_:
        return x.like(uploaded(x.tracer, key))
    same_device("index", x, key)
    return x.like(key.node) if isinstance(key, Value) and key.node.kind is BOOL else None
