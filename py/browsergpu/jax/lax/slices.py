"""Slices, shapes and joins with the names of ``jax.lax``."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from operator import index
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.autograd import trees
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, parts
from browsergpu.functions.ordering import sorting
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays import keys as indexing
from browsergpu.jax.arrays.array import as_jax, cast
from browsergpu.jax.arrays.operands import array
from browsergpu.jax.numpy.creation import full as full
from browsergpu.jax.numpy.creation import full_like as full_like
from browsergpu.jax.numpy.manipulation import unstack as unstack

_slice = builtins.slice


def stop_gradient(x: Any) -> Any:
    """Return a tree of the same values, through which no gradient passes."""
    return trees.map_tree(_detached, x)


def _detached(x: Any) -> Any:
    return as_jax(x.detach()) if isinstance(x, Array) else x


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Return the elements of ``on_true`` where ``pred`` is true, and else of ``on_false``."""
    one, other = array("select", on_true), array("select", on_false)
    if one.dtype != other.dtype or one.shape != other.shape:
        given = (one.dtype.name, one.shape, other.dtype.name, other.shape)
        raise InvalidType("select", "on_true, on_false", given, "of one shape and dtype")
    return as_jax(elementwise.where(array("select", pred), one, other))


def select_n(which: Any, *cases: Any) -> Any:
    """Return the elements of the case that ``which`` numbers."""
    chosen, given = array("select_n", which), [array("select_n", x) for x in cases]
    found = given[0]
    for n, case in enumerate(given[1:], 1):
        is_it = chosen if chosen.dtype.kind == "b" else elementwise.equal(chosen, n)
        found = elementwise.where(is_it, case, found)
    return as_jax(found)


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Any:  # fmt: skip
    """Return a slice with a start, a limit and a step along each axis."""
    x = array("slice", operand)
    steps = (1,) * x.ndim if strides is None else strides
    key = []
    for n, (start, limit, step) in enumerate(zip(start_indices, limit_indices, steps, strict=True)):
        if not 0 <= start <= limit <= x.shape[n]:
            expected = f"0 <= start <= limit <= {x.shape[n]} for axis {n}"
            raise InvalidType("slice", "limit_indices", (start, limit), expected)
        key.append(_slice(start, limit, step))
    return as_jax(indexing.part(x, tuple(key)))


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """Return a slice along an axis."""
    x = array("slice_in_dim", operand)
    at = shapes.axis("slice_in_dim", "axis", axis, x.ndim)
    return as_jax(x[(_slice(None),) * at + (_slice(start_index, limit_index, stride),)])


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the part at an index of an axis."""
    x = array("index_in_dim", operand)
    at = shapes.axis("index_in_dim", "axis", axis, x.ndim)
    own = range(x.shape[at])[index]
    key = _slice(own, own + 1) if keepdims else own
    return as_jax(x[(_slice(None),) * at + (key,)])


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """Return a slice of a fixed size, whose start may be on the GPU.

    Parameters
    ----------
    operand : Array
        The array.
    start_indices : sequence of int or Array
        The start along each axis. It is clamped so that the slice fits.
    slice_sizes : sequence of int
        The length along each axis.

    Returns
    -------
    Array
        An array of shape ``slice_sizes``.

    Raises
    ------
    InvalidArgument
        If there is not one start and one size for each axis, or a size exceeds the array.
    """
    x = array("dynamic_slice", operand)
    return as_jax(indexing.part(x, _places("dynamic_slice", x, start_indices, slice_sizes)))


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """Return a copy of ``operand`` in which ``update`` replaces a slice of its shape.

    The start along each axis is clamped so that the slice fits.
    """
    x, own = array("dynamic_update_slice", operand), array("dynamic_update_slice", update)
    if x.dtype != own.dtype:
        raise InvalidType("dynamic_update_slice", "update", own.dtype, f"of dtype {x.dtype}")
    key = _places("dynamic_update_slice", x, start_indices, own.shape)
    return as_jax(parts.assigned(x, key, own))


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the part at an index of an axis. The index may be on the GPU, and is clamped."""
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else as_jax(manipulation.squeeze(found, axis=axis % found.ndim))


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """Return a slice of a fixed size along an axis."""
    x = array("dynamic_slice_in_dim", operand)
    at = shapes.axis("dynamic_slice_in_dim", "axis", axis, x.ndim)
    starts: list[Any] = [0] * x.ndim
    sizes = list(x.shape)
    starts[at], sizes[at] = start_index, slice_size
    return dynamic_slice(x, starts, sizes)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """Return a copy in which ``update`` replaces a slice along an axis."""
    x = array("dynamic_update_slice_in_dim", operand)
    starts: list[Any] = [0] * x.ndim
    starts[shapes.axis("dynamic_update_slice_in_dim", "axis", axis, x.ndim)] = start_index
    return dynamic_update_slice(x, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """Return a copy in which ``update`` replaces the part at an index of an axis."""
    x = array("dynamic_update_index_in_dim", operand)
    own = array("dynamic_update_index_in_dim", update)
    if own.ndim < x.ndim:
        own = as_jax(
            manipulation.expand_dims(
                own, axis=shapes.axis("dynamic_update_index_in_dim", "axis", axis, x.ndim)
            )
        )
    return dynamic_update_slice_in_dim(x, own, index, axis)


def _places(op: str, x: Any, starts: Any, sizes: Sequence[int]) -> tuple[Any, ...]:
    if isinstance(starts, Array):
        starts = [starts[n] for n in range(starts.shape[0])]
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise InvalidArgument(op, "start_indices", len(starts), f"have {x.ndim} entries")
    found: list[Any] = []
    for n, (start, size, extent) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if not 0 <= size <= extent:
            raise InvalidArgument(op, "slice_sizes", size, f"at most {extent} for axis {n}")
        if isinstance(start, Array):
            if start.ndim or start.dtype.kind not in "iu":
                raise InvalidType(op, "start_indices", start, "integers")
            own = cast(start, dtypes.INT32)
            own = elementwise.where(elementwise.less(own, 0), own + extent, own)
            first: Any = elementwise.clip(own, 0, extent - size)
        else:
            at = index(start)
            first = min(max(at + extent if at < 0 else at, 0), extent - size)
        row = creation.arange(size, dtype="int32", device=x.device)
        shape = [-1 if at == n else 1 for at in range(x.ndim)]
        found.append(manipulation.reshape(row + first, shape))
    return tuple(found)


def concatenate(operands: Any, dimension: int) -> Any:
    """Join arrays of one dtype along an axis."""
    given = [array("concatenate", x) for x in operands]
    if len({x.dtype for x in given}) > 1:
        names = [x.dtype.name for x in given]
        raise InvalidType("concatenate", "operands", names, "of one dtype")
    return as_jax(manipulation.concat(given, axis=dimension))


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """Pad each axis by (low, high, interior) elements. Negative numbers remove elements."""
    x = array("pad", operand)
    value = cast(array("pad", padding_value), x.dtype)
    if len(padding_config) != x.ndim:
        raise InvalidArgument("pad", "padding_config", len(padding_config), f"{x.ndim} entries")
    for n, (low, high, interior) in enumerate(padding_config):
        if interior:
            x = _spread(x, n, index(interior), value)
        ahead, after = max(low, 0), max(high, 0)
        filled = [_fill(x, n, count, value) if count else None for count in (ahead, after)]
        own = [one for one in (filled[0], x, filled[1]) if one is not None]
        x = manipulation.concat(own, axis=n) if len(own) > 1 else x
        if low < 0 or high < 0:
            stop = x.shape[n] + min(high, 0)
            x = indexing.part(x, (_slice(None),) * n + (_slice(-min(low, 0), max(stop, 0)),))
    return as_jax(x)


def _fill(x: Any, axis: int, count: int, value: Any) -> Any:
    shape = list(x.shape)
    shape[axis] = count
    return manipulation.broadcast_to(value, tuple(shape))


def _spread(x: Any, axis: int, interior: int, value: Any) -> Any:
    """Put elements between those of an axis."""
    if x.shape[axis] < 2:
        return x
    own = manipulation.expand_dims(x, axis=axis + 1)
    between = _fill(own, axis + 1, interior, value)
    both = manipulation.concat([own, between], axis=axis + 1)
    count = x.shape[axis] * (interior + 1)
    joined = manipulation.reshape(both, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    return indexing.part(joined, (_slice(None),) * axis + (_slice(0, count - interior),))


def reshape(operand: Any, new_sizes: Any, dimensions: Any = None, *, out_sharding: Any = None
            ) -> Any:  # fmt: skip
    """Return the elements in another shape, after a permutation of the axes."""
    if out_sharding is not None:
        raise InvalidArgument("reshape", "out_sharding", out_sharding, "None")
    x = array("reshape", operand)
    x = x if dimensions is None else manipulation.permute_dims(x, tuple(dimensions))
    if product(new_sizes) != x.size:
        raise InvalidType("reshape", "new_sizes", new_sizes, f"of {x.size} elements")
    return as_jax(manipulation.reshape(x, tuple(new_sizes)))


def transpose(operand: Any, permutation: Any) -> Any:
    """Permute the axes."""
    return as_jax(manipulation.permute_dims(array("transpose", operand), tuple(permutation)))


def rev(operand: Any, dimensions: Any) -> Any:
    """Reverse the elements along axes."""
    return as_jax(manipulation.flip(array("rev", operand), axis=tuple(dimensions)))


def squeeze(array: Any, dimensions: Any) -> Any:
    """Remove axes of length 1."""
    return as_jax(manipulation.squeeze(_array("squeeze", array), axis=tuple(dimensions)))


def expand_dims(array: Any, dimensions: Any) -> Any:
    """Insert axes of length 1."""
    return as_jax(manipulation.expand_dims(_array("expand_dims", array), axis=tuple(dimensions)))


_array = array


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Join neighbouring axes to one."""
    x = _array("collapse", operand)
    first, last, _ = _slice(start_dimension, stop_dimension).indices(x.ndim)
    joined = product(x.shape[first:last])
    return as_jax(manipulation.reshape(x, (*x.shape[:first], joined, *x.shape[last:])))


def broadcast(operand: Any, sizes: Any, *, out_sharding: Any = None) -> Any:
    """Add axes in front."""
    if out_sharding is not None:
        raise InvalidArgument("broadcast", "out_sharding", out_sharding, "None")
    x = _array("broadcast", operand)
    return as_jax(manipulation.broadcast_to(x, (*sizes, *x.shape)))


def broadcast_in_dim(
    operand: Any, shape: Any, broadcast_dimensions: Any, *, out_sharding: Any = None
) -> Any:
    """Broadcast an array whose axes are at given places of the result."""
    if out_sharding is not None:
        raise InvalidArgument("broadcast_in_dim", "out_sharding", out_sharding, "None")
    x = _array("broadcast_in_dim", operand)
    own = [1] * len(shape)
    for extent, at in zip(x.shape, broadcast_dimensions, strict=True):
        own[at] = extent
    return as_jax(manipulation.broadcast_to(manipulation.reshape(x, own), tuple(shape)))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast."""
    return manipulation.broadcast_shapes(*shapes)


def iota(dtype: Any, size: int) -> Any:
    """Return the integers from 0 to ``size - 1``."""
    return as_jax(creation.arange(index(size), dtype=dtypes.dtype_of("iota", dtype)))


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """Return the indices along an axis, in a shape."""
    row = iota(dtype, shape[dimension])
    own = [-1 if n == dimension % len(shape) else 1 for n in range(len(shape))]
    return as_jax(manipulation.broadcast_to(manipulation.reshape(row, own), tuple(shape)))


def split(operand: Any, sizes: Any, axis: int = 0) -> list[Any]:
    """Return parts of given lengths along an axis."""
    x = _array("split", operand)
    at, start, found = shapes.axis("split", "axis", axis, x.ndim), 0, []
    if sum(sizes) != x.shape[at]:
        raise InvalidArgument("split", "sizes", tuple(sizes), f"{x.shape[at]} in sum")
    for size in sizes:
        found.append(as_jax(x[(_slice(None),) * at + (_slice(start, start + size),)]))
        start += size
    return found


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """Return an array in another dtype."""
    return cast(_array("convert_element_type", operand),
                dtypes.dtype_of("convert_element_type", new_dtype))  # fmt: skip


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """Return the bits of an array as another dtype.

    A narrower dtype adds an axis of the parts of each element. A wider dtype removes the last axis,
    which has the parts.
    """
    op = "bitcast_convert_type"
    x, kind = _array(op, operand), dtypes.dtype_of(op, new_dtype)
    own, wanted = x.dtype.itemsize, kind.itemsize
    if own > wanted:
        parts = as_jax(manipulation.expand_dims(x, axis=-1).__copy__())
        return parts.view(kind)
    if own < wanted:
        if not x.ndim or x.shape[-1] != wanted // own:
            expected = f"have {wanted // own} elements along the last axis"
            raise InvalidArgument(op, "operand", x, expected)
        return as_jax(manipulation.squeeze(x.view(kind), axis=-1))
    return x.view(kind)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort an array along an axis, or several arrays by the first ``num_keys`` of them."""
    del is_stable  # all sorts are stable
    if not isinstance(operand, tuple | list):
        return as_jax(sorting.sort(_array("sort", operand), axis=dimension))
    given = [_array("sort", x) for x in operand]
    order: Any = None
    for key in reversed(given[:num_keys]):
        own = key if order is None else sorting.take_along_axis(key, order, axis=dimension)
        step = sorting.argsort(own, axis=dimension)
        order = step if order is None else sorting.take_along_axis(order, step, axis=dimension)
    return tuple([as_jax(sorting.take_along_axis(x, order, axis=dimension)) for x in given])


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Sort keys along an axis, and values with them."""
    return sort((keys, values), dimension, is_stable)


def top_k(operand: Any, k: int, *, axis: int = -1) -> Any:
    """Return the ``k`` largest elements along an axis, and their indices as int32."""
    x = _array("top_k", operand)
    at = axis % max(x.ndim, 1)
    if not x.ndim or not 0 <= k <= x.shape[at]:
        raise InvalidArgument("top_k", "k", k, f"at most the length of axis {axis}")
    order = sorting.argsort(x, axis=at, descending=True)
    own = indexing.part(order, (_slice(None),) * at + (_slice(0, k),))
    return [as_jax(sorting.take_along_axis(x, own, axis=at)), as_jax(own)]


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the indices of the maxima along an axis."""
    found = sorting.argmax(_array("argmax", operand), axis=axis)
    return cast(found, dtypes.dtype_of("argmax", index_dtype))


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the indices of the minima along an axis."""
    found = sorting.argmin(_array("argmin", operand), axis=axis)
    return cast(found, dtypes.dtype_of("argmin", index_dtype))
