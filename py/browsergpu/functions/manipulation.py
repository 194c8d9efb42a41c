"""Functions that change the shape of arrays or the order of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from browsergpu.arrays import apply, concatenate
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.indexing import gather
from browsergpu.arrays.views import strided
from browsergpu.arrays.views.aliases import alias
from browsergpu.arrays.x64 import check_x64_pair
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import ElementType, promoted
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.shapes import Shape, contiguous_strides
from browsergpu.engine.kernels.fused.layout import Place
from browsergpu.functions import operands, parts

#: Most arrays that are joined inside the kernel that reads the result. The kernel reads all of them
#: for each element.
_FUSED = 2
#: Indices on the GPU are int32.
_MOST_INDICES = 2**31 - 1


def _reshape_gradient(g: Array, x_like: Like) -> Array:
    return reshape(g, x_like.shape)


def _matrix_transpose_gradient(g: Array) -> Array:
    return matrix_transpose(g)


def _moveaxis_gradient(g: Array, source: Any, destination: Any) -> Array:
    return moveaxis(g, destination, source)


def _flip_gradient(g: Array, axis: Any) -> Array:
    return flip(g, axis=axis)


def _roll_gradient(g: Array, shift: Any, axis: Any) -> Array:
    by = tuple(-int(n) for n in shift) if checks.is_several(shift) else -int(shift)
    return roll(g, by, axis=axis)


def _stack_gradient(g: Array, axis: int) -> list[Array]:
    return [*unstack(g, axis=axis)]


@differentiable(x=lambda g: g)
def broadcast_to(x: Array, /, shape: Any) -> Array:
    """Return a read-only view that repeats an array to a shape.

    Parameters
    ----------
    x : Array
        Any dtype.
    shape : tuple of int
        A shape that ``x.shape`` broadcasts to.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If ``x`` does not broadcast to ``shape``.
    """
    op = "broadcast_to"
    target = checks.dimensions(op, "shape", shape)
    if len(target) < x.ndim or shapes.broadcast(op, x.shape, target) != target:
        raise InvalidArgument(op, "shape", shape, f"a shape that {x.shape} broadcasts to")
    return alias(x, strided.spread(x, target), read_only=True)


@differentiable(arrays=lambda g: [*g])
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast arrays to their common shape.

    Parameters
    ----------
    *arrays : Array
        Any dtypes.

    Returns
    -------
    tuple of Array
        Read-only views.

    Raises
    ------
    InvalidArgument
        If the arrays do not broadcast.
    """
    shape = _common_shape("broadcast_arrays", [x.shape for x in arrays])
    return tuple(alias(x, strided.spread(x, shape), read_only=True) for x in arrays)


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """Return the shape to which shapes broadcast.

    Parameters
    ----------
    *shapes : tuple of int
        The shapes.

    Returns
    -------
    tuple of int
        The common shape.

    Raises
    ------
    InvalidArgument
        If the shapes do not broadcast.
    """
    op = "broadcast_shapes"
    return _common_shape(op, [checks.dimensions(op, "shapes", shape) for shape in shapes])


def _common_shape(op: str, given: Sequence[Shape]) -> Shape:
    return reduce(lambda a, b: shapes.broadcast(op, a, b), given, ())


@differentiable(x=_reshape_gradient)
def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """Return the elements in another shape.

    Parameters
    ----------
    x : Array
        Any dtype.
    shape : tuple of int
        The new shape. One extent may be -1, and is computed from the others.
    copy : bool, optional
        True always copies, and False never does. By default, the result is a view if strides allow
        it.

    Returns
    -------
    Array
        A view of the same memory, or a copy.

    Raises
    ------
    InvalidArgument
        If ``shape`` does not have the number of elements of ``x``, or ``copy=False`` and a copy is
        needed.
    """
    if copy:
        x = apply.duplicate(x)
    return alias(x, strided.reshaped("reshape", x, shape, copy=copy))


@differentiable(x=lambda g, axes: _permute_dims_gradient(g, axes))
def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """Return a view with the axes in another order.

    Parameters
    ----------
    x : Array
        Any dtype.
    axes : sequence of int
        The new order. Each axis occurs once.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If ``axes`` does not contain each axis once.
    """
    if not checks.is_several(axes):
        raise InvalidArgument("permute_dims", "axes", axes, f"each axis below {x.ndim} once")
    order = tuple(shapes.axis("permute_dims", "axes", axis, x.ndim) for axis in axes)
    if sorted(order) != list(range(x.ndim)):
        raise InvalidArgument("permute_dims", "axes", axes, f"each axis below {x.ndim} once")
    return alias(x, strided.permuted(x, order))


@differentiable(x=lambda g, axes: _permute_dims_gradient(g, axes))
def transpose(x: Array, /, axes: Sequence[int] | None = None) -> Array:
    """Return a view with the axes reversed, or in another order.

    Parameters
    ----------
    x : Array
        Any dtype.
    axes : sequence of int, optional
        The new order. Reversed by default.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If ``axes`` does not contain each axis once.

    See Also
    --------
    permute_dims : The standard's name of this function.
    """
    return x.T if axes is None else permute_dims(x, axes)


@differentiable(x=_matrix_transpose_gradient)
def matrix_transpose(x: Array, /) -> Array:
    """Return a view with the last two axes exchanged.

    Parameters
    ----------
    x : Array
        Shape [..., M, N], of any dtype.

    Returns
    -------
    Array
        A view of shape [..., N, M].

    Raises
    ------
    InvalidArgument
        If ``x`` has fewer than 2 axes.
    """
    return x.mT


@differentiable(x=_moveaxis_gradient)
def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Return a view with some axes moved to other positions.

    Parameters
    ----------
    x : Array
        Any dtype.
    source : int or sequence of int
        The axes to move.
    destination : int or sequence of int
        Their new positions.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If the two numbers of axes differ, or an axis is out of range or repeated.
    """
    op = "moveaxis"
    given, places = (
        [shapes.axis(op, name, axis, x.ndim) for axis in (v if checks.is_several(v) else (v,))]
        for name, v in (("source", source), ("destination", destination))
    )
    if len(given) != len(places) or len(set(given)) < len(given) or len(set(places)) < len(places):
        raise InvalidArgument(op, "destination", destination, "as many different axes as source")
    order = [axis for axis in range(x.ndim) if axis not in given]
    for place, axis in sorted(zip(places, given, strict=True)):
        order.insert(place, axis)
    return alias(x, strided.permuted(x, tuple(order)))


@differentiable(x=_reshape_gradient)
def expand_dims(x: Array, /, axis: int | Sequence[int]) -> Array:
    """Return a view with new axes of extent 1.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or sequence of int
        Positions of the new axes in the result.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    places: tuple[Any, ...] = tuple(axis) if isinstance(axis, Sequence | np.ndarray) else (axis,)
    rank = x.ndim + len(places)
    chosen = shapes.axes("expand_dims", "axis", places, rank) if places else ()
    extents = iter(x.shape)
    shape = [1 if n in chosen else next(extents) for n in range(rank)]
    return alias(x, strided.reshaped("expand_dims", x, shape))


@differentiable(x=_reshape_gradient)
def squeeze(x: Array, /, axis: Any) -> Array:
    """Return a view without some axes of extent 1.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int
        The axes to remove.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If one of the axes has another extent than 1, or is out of range.
    """
    chosen = shapes.axes("squeeze", "axis", axis, x.ndim)
    if any(x.shape[n] != 1 for n in chosen):
        raise InvalidArgument("squeeze", "axis", axis, "axes of one index")
    shape = shapes.without(x.shape, chosen, keepdims=False)
    return alias(x, strided.reshaped("squeeze", x, shape))


@differentiable(x=_flip_gradient)
def flip(x: Array, /, *, axis: Any = None) -> Array:
    """Return a view with the elements reversed along axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int or tuple of int, optional
        The axes. All by default.

    Returns
    -------
    Array
        A view of the same memory.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    chosen = shapes.axes("flip", "axis", axis, x.ndim)
    return x[tuple(slice(None, None, -1 if n in chosen else None) for n in range(x.ndim))]


@differentiable(x=_roll_gradient)
def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Shift elements along axes. Elements at the end move to the beginning.

    Parameters
    ----------
    x : Array
        Any dtype.
    shift : int or sequence of int
        How far elements move. A sequence has one number for each axis.
    axis : int or sequence of int, optional
        The axes. By default, the flattened elements are shifted.

    Returns
    -------
    Array
        A copy of the shape of ``x``.

    Raises
    ------
    InvalidArgument
        If ``shift`` and ``axis`` have different lengths, or an axis is out of range.
    """
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    given_array = x
    given = axis if checks.is_several(axis) else (axis,)
    by = shift if checks.is_several(shift) else (shift,) * len(given)
    if len(by) != len(given):
        raise InvalidArgument(
            "roll", "shift", shift, f"have {len(given)} numbers, one for each axis"
        )
    for number, name in zip(by, given, strict=True):
        at = shapes.axis("roll", "axis", name, x.ndim)
        extent = x.shape[at]
        moved = int(number) % extent if extent else 0
        if moved:
            cut: list[slice] = [slice(None)] * x.ndim
            tail, head = list(cut), list(cut)
            tail[at], head[at] = slice(extent - moved, None), slice(None, extent - moved)
            x = concat([x[tuple(tail)], x[tuple(head)]], axis=at)
    return apply.duplicate(x) if x is given_array else x


@differentiable(arrays=lambda g, arrays_like, axis: _concat_gradient(g, arrays_like, axis))
def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of Array
        Arrays of one shape, except for ``axis``.
    axis : int or None, optional
        The axis. None joins the flattened arrays.

    Returns
    -------
    Array
        A new array of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If there are no arrays, or their shapes do not fit.
    InvalidType
        If an argument is not an array, or the arrays are on two devices.
    """
    op = "concat"
    kind = _common_type(op, arrays)
    first = arrays[0]
    if axis is None:
        if len(arrays) <= _FUSED:
            return concat([reshape(x, (-1,)) for x in arrays], axis=0)
        ends = [*accumulate(x.size for x in arrays)]
        places: list[Place] = [
            (x.shape, None, end - x.size) for x, end in zip(arrays, ends, strict=True)
        ]
        return concatenate.joined(op, arrays, places, (ends[-1],), kind)
    at = shapes.axis(op, "axis", axis, first.ndim)
    rest = [n for i, n in enumerate(first.shape) if i != at]
    for x in arrays:
        if [n for i, n in enumerate(x.shape) if i != at] != rest or x.ndim != first.ndim:
            raise InvalidArgument(op, "arrays", x, f"have shape {first.shape} but for axis {at}")
    ends = [*accumulate(x.shape[at] for x in arrays)]
    shape = (*first.shape[:at], ends[-1], *first.shape[at + 1 :])
    if len(arrays) > _FUSED:
        steps = contiguous_strides(shape)
        places = [
            (x.shape, strided.strides_or_none(x.shape, steps), (end - x.shape[at]) * steps[at])
            for x, end in zip(arrays, ends, strict=True)
        ]
        return concatenate.joined(op, arrays, places, shape, kind)
    filled = [x for x in arrays if 0 not in x.shape]
    if not filled:
        return first.like(apply.full_node(first.tracer, shape, kind, 0))
    own = [apply.cast_to(op, x, kind, copy=False) for x in filled]
    if len(own) == 1:
        return apply.duplicate(own[0])
    a, b = own
    return gather.side_by_side(a, b, at, shape)


def _common_type(op: str, arrays: Sequence[Array]) -> ElementType:
    """Return the promoted type of arrays, which must be on one device."""
    if not arrays:
        raise InvalidArgument(op, "arrays", arrays, "have at least one array")
    for x in arrays:
        if not isinstance(x, Array):
            raise InvalidType(op, "arrays", x, "arrays")
    apply.same_device(op, *arrays)
    kinds = [x.node.kind for x in arrays]
    check_x64_pair(op, kinds)
    return reduce(promoted, kinds)


@differentiable(arrays=_stack_gradient)
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of Array
        Arrays of one shape.
    axis : int, optional
        Position of the new axis in the result.

    Returns
    -------
    Array
        A new array of the promoted dtype.

    Raises
    ------
    InvalidArgument
        If there are no arrays, or their shapes differ.
    InvalidType
        If an argument is not an array, or the arrays are on two devices.
    """
    op = "stack"
    kind = _common_type(op, arrays)
    own = arrays[0].shape
    at = shapes.axis(op, "axis", axis, len(own) + 1)
    for x in arrays:
        if x.shape != own:
            raise InvalidArgument(op, "arrays", x, f"have shape {own}")
    if len(arrays) <= _FUSED:
        return concat([expand_dims(x, axis=at) for x in arrays], axis=at)
    shape = (*own[:at], len(arrays), *own[at:])
    steps = contiguous_strides(shape)
    known = strided.strides_or_none(own, (*steps[:at], *steps[at + 1 :]))
    places: list[Place] = [(own, known, n * steps[at]) for n in range(len(arrays))]
    return concatenate.joined(op, arrays, places, shape, kind)


@differentiable(x=lambda g, axis: stack(g, axis=axis))
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into the arrays along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    axis : int, optional
        The axis to remove.

    Returns
    -------
    tuple of Array
        One view for each index of the axis.

    Raises
    ------
    InvalidArgument
        If the axis is out of range.
    """
    at = shapes.axis("unstack", "axis", axis, x.ndim)
    return tuple(x[(*(slice(None),) * at, n)] for n in range(x.shape[at]))


def _repeat_gradient(g: Array, x_like: Like, repeats: Any, axis: int | None) -> Array:
    whole = x_like if axis is not None else x_like._replace(shape=(checks.product(x_like.shape),))
    at = 0 if axis is None else axis % x_like.ndim
    counts = _repetitions(repeats, whole.shape[at])
    if counts.size == 1:
        shape = (*whole.shape[: at + 1], counts.item(), *whole.shape[at + 1 :])
        found = reshape(g, shape).sum(axis=at + 1)
    else:
        places = np.repeat(np.arange(whole.shape[at], dtype=np.int32), counts)
        found = parts.put_back(g, (*(slice(None),) * at, places), whole)
    return reshape(found, x_like.shape)


def _repetitions(repeats: Any, n: int) -> np.ndarray:
    """Return the repetitions of ``n`` indices on the host. Waits for an array on the GPU.

    The dtype is intp, which NumPy requires. It has 32 bits in a page.
    """
    op = "repeat"
    if isinstance(repeats, list | tuple):
        repeats = np.asarray(checks.dimensions(op, "repeats", repeats), np.int64)
    elif isinstance(repeats, int) and not isinstance(repeats, bool):
        repeats = np.asarray(repeats)
    if getattr(getattr(repeats, "dtype", None), "kind", "") not in ("i", "u"):
        raise InvalidType(op, "repeats", repeats, "integers")
    if repeats.shape not in ((), (1,), (n,)):
        raise InvalidArgument(op, "repeats", repeats, f"a number, or {n} of them")
    counts: np.ndarray = repeats.numpy() if isinstance(repeats, Array) else np.asarray(repeats)
    if (counts < 0).any():
        raise InvalidArgument(op, "repeats", repeats, "numbers of at least 0")
    total = sum(counts.ravel().tolist()) * (n if counts.size == 1 else 1)
    if total > _MOST_INDICES:
        raise InvalidArgument(op, "repeats", repeats, f"at most {_MOST_INDICES} in all")
    return counts.astype(np.intp)


@differentiable(x=_repeat_gradient)
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Repeat each element along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    repeats : int, sequence of int or Array
        One number, or one for each index of the axis. The function waits for an array on the GPU.
    axis : int, optional
        The axis. By default, the flattened elements are repeated.

    Returns
    -------
    Array
        A new array.

    Raises
    ------
    InvalidType
        If ``repeats`` are not integers.
    InvalidArgument
        If a number is negative, their count is wrong, or there would be 2^31 indices or more.
    """
    if axis is None:
        return repeat(reshape(x, (-1,)), repeats, axis=0)
    at = shapes.axis("repeat", "axis", axis, x.ndim)
    counts = _repetitions(repeats, x.shape[at])
    return gather.by_arrays(x, [at], [np.repeat(np.arange(x.shape[at]), counts)], False)


@differentiable(x=lambda g, x_like, repetitions: _tile_gradient(g, x_like, repetitions))
def tile(x: Array, repetitions: Sequence[int], /) -> Array:
    """Repeat an array along each axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    repetitions : sequence of int
        How often the array is repeated along each of the last axes.

    Returns
    -------
    Array
        An array with as many axes as ``x`` or ``repetitions`` has, whichever is more.

    Raises
    ------
    InvalidArgument
        If a number is negative.
    """
    counts = checks.dimensions("tile", "repetitions", repetitions)
    rank = max(len(counts), x.ndim)
    shape = (1,) * (rank - x.ndim) + x.shape
    counts = (1,) * (rank - len(counts)) + counts
    both = [(count, extent) for count, extent in zip(counts, shape, strict=True)]
    spread = strided.spread(
        strided.reshaped("tile", x, [n for _, extent in both for n in (1, extent)]),
        tuple(n for pair in both for n in pair),
    )
    return strided.reshaped("tile", spread, [count * extent for count, extent in both])


def _take_gradient(g: Array, x_like: Like, indices: Any, axis: int | None) -> Array:
    at = 0 if axis is None else axis % x_like.ndim
    return parts.put_back(g, (*(slice(None),) * at, indices), x_like)


@differentiable(x=_take_gradient)
def take(x: Array, indices: Any, /, *, axis: int | None = None) -> Array:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    indices : int, sequence of int or Array
        Integers. Negative ones count from the end.
    axis : int, optional
        The axis. Required unless ``x`` has one axis.

    Returns
    -------
    Array
        A copy, in which the axes of ``indices`` replace ``axis``.

    Raises
    ------
    InvalidIndex
        If an index on the host is out of range. Indices on the GPU are checked only after
        ``browsergpu.debug()``. Without it, they are clamped to the range.
    InvalidArgument
        If ``axis`` is missing or out of range.
    """
    operands.array("take", "x", x)
    if axis is None and x.ndim != 1:
        raise InvalidArgument("take", "axis", axis, "an axis")
    at = shapes.axis("take", "axis", 0 if axis is None else axis, x.ndim)
    return x[(*(slice(None),) * at, indices)]


def _permute_dims_gradient(g: Array, axes: Any) -> Array:
    if axes is None:
        return transpose(g)
    places = [axis % g.ndim for axis in axes]
    return permute_dims(g, tuple(places.index(n) for n in range(g.ndim)))


def _concat_gradient(g: Array, arrays_like: Sequence[Like], axis: int | None) -> list[Array]:
    found, begin = [], 0
    for like in arrays_like:
        extent = like.shape[axis] if axis is not None else checks.product(like.shape)
        items = [slice(None)] * g.ndim
        items[axis or 0] = slice(begin, begin + extent)
        found.append(reshape(g[tuple(items)], like.shape))
        begin += extent
    return found


def _tile_gradient(g: Array, x_like: Like, repetitions: Sequence[int]) -> Array:
    counts = checks.dimensions("tile", "repetitions", repetitions)
    rank = max(len(counts), x_like.ndim)
    shape = (1,) * (rank - x_like.ndim) + x_like.shape
    counts = (1,) * (rank - len(counts)) + counts
    pairs = reshape(g, [n for pair in zip(counts, shape, strict=True) for n in pair])
    found = pairs.sum(axis=tuple(range(0, 2 * rank, 2)))
    return reshape(found, x_like.shape)
