"""NumPy's functions that join, split, insert, delete, resize, rotate and flip."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.coercion import operand
from browsergpu.compat.numpy.fallback import to_host
from browsergpu.compat.numpy.operands import flattened, on_one_device, refuse, write_out
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import creation, manipulation, meta


def concatenate(
    arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None,
    casting: str = "same_kind",
) -> Any:  # fmt: skip
    """Join arrays along an existing axis, as ``numpy.concatenate``."""
    if not len(arrays):
        raise InvalidArgument("concatenate", "arrays", arrays, "at least one array")
    parts = on_one_device(tuple(arrays))
    if not parts[0].device.has_values and all(map(meta.has_values, parts)):
        return meta.asarray(np.concatenate([x.numpy() for x in parts], axis=axis))
    if casting != "same_kind":
        refuse("concatenate", casting=casting)
    if dtype is not None:
        parts = [x.astype(dtype, copy=False) for x in parts]
    return write_out(out, manipulation.concat(parts, axis=axis))


def _prepare(op: str, tup: Any, dtype: Any, casting: str, shape: Callable[[Any], Any]) -> list[Any]:
    if casting != "same_kind":
        refuse(op, casting=casting)
    if not len(tup):
        raise InvalidArgument(op, "arrays", tup, "at least one array")
    parts = [shape(x) for x in on_one_device(tuple(tup))]
    return parts if dtype is None else [x.astype(dtype, copy=False) for x in parts]


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Join arrays along the first axis, vectors as rows, as ``numpy.vstack``."""
    return manipulation.concat(_prepare("vstack", tup, dtype, casting, _at_least_2d), axis=0)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Join arrays along the second axis, vectors along the first, as ``numpy.hstack``."""
    parts = _prepare("hstack", tup, dtype, casting, lambda x: x if x.ndim else x.reshape((1,)))
    return manipulation.concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def dstack(tup: Any) -> Array:
    """Join arrays along the third axis, as ``numpy.dstack``."""
    return manipulation.concat(_prepare("dstack", tup, None, "same_kind", _at_least_3d), axis=2)


def column_stack(tup: Any) -> Array:
    """Join arrays along the second axis, vectors as columns, as ``numpy.column_stack``."""

    def column(x: Any) -> Any:
        return x if x.ndim > 1 else x.reshape((-1, 1))

    return manipulation.concat(_prepare("column_stack", tup, None, "same_kind", column), axis=1)


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Join arrays of the same shape along a new axis, as ``numpy.stack``."""
    parts = _prepare("stack", arrays, dtype, casting, lambda x: x)
    return write_out(out, manipulation.stack(parts, axis=axis))


def block(arrays: Any) -> Any:
    """Assemble an array from nested lists of blocks, as ``numpy.block``."""
    depth = _depth(arrays)
    ranks: list[int] = []
    _for_each(arrays, lambda x: ranks.append(np.ndim(x) if not isinstance(x, Array) else x.ndim))
    return _join(arrays, depth, max([depth, *ranks]))


def _depth(value: Any) -> int:
    if not isinstance(value, list):
        return 0
    depths = {_depth(x) for x in value}
    if len(depths) != 1:
        raise InvalidArgument("block", "arrays", value, "nonempty lists of the same depth")
    return 1 + depths.pop()


def _for_each(value: Any, call: Callable[[Any], Any]) -> None:
    if isinstance(value, list):
        for x in value:
            _for_each(x, call)
    else:
        call(value)


def _join(value: Any, depth: int, rank: int) -> Any:
    if not isinstance(value, list):
        own = operand(value)
        return own.reshape((1,) * (rank - own.ndim) + own.shape) if own.ndim < rank else own
    return concatenate([_join(x, depth - 1, rank) for x in value], axis=-depth)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Append values to the end of an array, as ``numpy.append``."""
    first, last = on_one_device((arr, values))
    if axis is None:
        return manipulation.concat([flattened(operand(first)), flattened(operand(last))])
    return manipulation.concat([first, last], axis=axis)


def _host_indices(obj: Any) -> Any:
    """Read indices to the host, because the shape of the result depends on them."""
    return to_host(obj)


def _flat_or_axis(op: str, arr: Any, axis: int | None) -> tuple[Any, int]:
    if axis is None:
        return flattened(arr), 0
    return arr, shapes.axis(op, "axis", axis, arr.ndim)


def _take(own: Any, places: np.ndarray, axis: int) -> Any:
    at = creation.asarray(places.astype(np.int32), device=own.device)
    return manipulation.take(own, at, axis=axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return an array without the parts at indices, as ``numpy.delete``."""
    own, at = _flat_or_axis("delete", arr, axis)
    kept = np.delete(np.arange(own.shape[at]), _host_indices(obj))
    return _take(own, kept, at)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Insert values before indices, as ``numpy.insert``."""
    own, at = _flat_or_axis("insert", arr, axis)
    keys = _host_indices(obj)
    n, host = own.shape[at], np.asarray(0 if isinstance(keys, slice) else keys)
    new = creation.asarray(operand(values), device=own.device).astype(own.dtype, copy=False)
    if not isinstance(keys, slice) and host.ndim == 0:
        # A single index: all values are inserted before it.
        if new.ndim < own.ndim:
            new = manipulation.reshape(new, (1,) * (own.ndim - new.ndim) + new.shape)
        new = manipulation.moveaxis(new, 0, at)
        count = new.shape[at]
        order = np.insert(np.arange(n), np.full(count, keys), n + np.arange(count))
    else:
        count = len(np.arange(n)[keys]) if isinstance(keys, slice) else _count(host)
        order = np.insert(np.arange(n), keys, n + np.arange(count))
    shape = (*own.shape[:at], count, *own.shape[at + 1 :])
    both = manipulation.concat([own, manipulation.broadcast_to(new, shape)], axis=at)
    return _take(both, order, at)


def _count(keys: np.ndarray) -> int:
    return int(np.count_nonzero(keys)) if keys.dtype == bool else keys.size


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into views, whose sizes may differ, as ``numpy.array_split``."""
    at = shapes.axis("array_split", "axis", axis, ary.ndim)
    n = ary.shape[at]
    if isinstance(indices_or_sections, int | np.integer):
        count = checks.integer("array_split", "indices_or_sections", indices_or_sections, 1)
        each, more = divmod(n, count)
        ends = [0, *np.cumsum([each + 1] * more + [each] * (count - more)).tolist()]
    else:
        ends = [0, *(int(i) for i in to_host(indices_or_sections)), n]
    before = (slice(None),) * at
    return [ary[(*before, slice(a, b))] for a, b in pairwise(ends)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into views, as ``numpy.split``."""
    if isinstance(indices_or_sections, int | np.integer):
        n = ary.shape[shapes.axis("split", "axis", axis, ary.ndim)]
        if n % max(int(indices_or_sections), 1):
            expected = f"a divisor of {n}"
            raise InvalidArgument("split", "indices_or_sections", indices_or_sections, expected)
    return array_split(ary, indices_or_sections, axis)


def _split_function(name: str, least: int, axis: Callable[[Any], int]) -> Callable[..., Any]:
    def call(ary: Any, indices_or_sections: Any) -> list[Any]:
        if ary.ndim < least:
            raise InvalidArgument(name, "ary", ary, f"have at least {least} axes")
        return split(ary, indices_or_sections, axis(ary))

    call.__doc__ = f"Split an array into views, as ``numpy.{name}``."
    return call


def _at_least_2d(x: Any) -> Any:
    return x if x.ndim > 1 else x.reshape((1, -1))


def _at_least_3d(x: Any) -> Any:
    if x.ndim < 2:
        return x.reshape((1, -1, 1))
    return x if x.ndim > 2 else x.reshape((*x.shape, 1))


def _at_least_function(name: str, change: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(*arys: Any) -> Any:
        found = tuple(change(operand(x)) for x in arys)
        return found[0] if len(found) == 1 else found

    call.__doc__ = f"Return views with {name[-2]} or more axes, as ``numpy.{name}``."
    return call


def resize(a: Any, new_shape: Any) -> Any:
    """Return an array of another shape, with repeated elements if larger, as ``numpy.resize``."""
    shape = tuple(new_shape) if checks.is_several(new_shape) else (new_shape,)
    checks.dimensions("resize", "new_shape", shape)
    size = checks.product(shape)
    if not size or not a.size:
        return creation.zeros(shape, dtype=a.dtype, device=a.device)
    flat = flattened(a)
    if size > a.size:
        flat = manipulation.tile(flat, (-(-size // a.size),))
    return manipulation.reshape(creation.asarray(flat[:size], copy=True), shape)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate an array by 90 degrees in the plane of two axes, as ``numpy.rot90``."""
    first, last = (shapes.axis("rot90", "axes", n, m.ndim) for n in axes)
    if first == last:
        raise InvalidArgument("rot90", "axes", axes, "two different axes")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return manipulation.flip(manipulation.flip(m, axis=first), axis=last)
    order = [*range(m.ndim)]
    order[first], order[last] = last, first
    if k == 1:
        return manipulation.permute_dims(manipulation.flip(m, axis=last), tuple(order))
    return manipulation.flip(manipulation.permute_dims(m, tuple(order)), axis=last)


def _flip_function(name: str, least: int, axis: int) -> Callable[..., Any]:
    def call(m: Any) -> Any:
        if m.ndim < least:
            raise InvalidArgument(name, "m", m, f"have at least {least} axes")
        return manipulation.flip(m, axis=axis)

    call.__doc__ = f"Reverse an array along axis {axis}, as ``numpy.{name}``."
    return call


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Return a view with an axis moved before another position, as ``numpy.rollaxis``."""
    own = shapes.axis("rollaxis", "axis", axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise InvalidArgument("rollaxis", "start", start, f"from {-a.ndim} to {a.ndim}")
    place = start + a.ndim if start < 0 else start
    return manipulation.moveaxis(a, own, place - 1 if own < place else place)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.append: append,
    np.array_split: array_split,
    np.atleast_1d: _at_least_function("atleast_1d", lambda x: x if x.ndim else x.reshape((1,))),
    np.atleast_2d: _at_least_function("atleast_2d", _at_least_2d),
    np.atleast_3d: _at_least_function("atleast_3d", _at_least_3d),
    np.block: block,
    np.column_stack: column_stack,
    np.concatenate: concatenate,
    np.delete: delete,
    np.dsplit: _split_function("dsplit", 3, lambda _x: 2),
    np.dstack: dstack,
    np.fliplr: _flip_function("fliplr", 2, 1),
    np.flipud: _flip_function("flipud", 1, 0),
    np.hsplit: _split_function("hsplit", 1, lambda x: 0 if x.ndim == 1 else 1),
    np.hstack: hstack,
    np.insert: insert,
    np.resize: resize,
    np.rollaxis: rollaxis,
    np.rot90: rot90,
    np.split: split,
    np.stack: stack,
    np.unstack: lambda x, /, *, axis=0: manipulation.unstack(x, axis=axis),
    np.vsplit: _split_function("vsplit", 2, lambda _x: 0),
    np.vstack: vstack,
}
