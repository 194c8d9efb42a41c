"""Index computations and views by strides, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.pending_upload import on_host
from browsergpu.arrays.views.aliases import alias
from browsergpu.arrays.views.strided import strides_of, view
from browsergpu.compat.numpy.coercion import operand
from browsergpu.compat.numpy.operands import indices_by_mode, on_one_device, refuse
from browsergpu.compat.numpy.statistics.edges import count_edges_at_most
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.functions.linalg import linear
from browsergpu.functions.ordering import sorting

_MOST = (1 << 31) - 1


def _dimensions(op: str, name: str, given: Any) -> tuple[int, ...]:
    extents = checks.dimensions(op, name, given)
    if prod(extents) > _MOST:
        expected = f"have at most {_MOST} elements, the limit of arrays on the GPU"
        raise InvalidArgument(op, name, extents, expected)
    return extents


def _order(op: str, order: str, items: Sequence[Any]) -> Sequence[Any]:
    """Return items of axes in memory order, with the fastest axis last."""
    if order not in ("C", "F"):
        raise InvalidArgument(op, "order", order, "'C' or 'F'")
    return items if order == "C" else items[::-1]


def _integers(op: str, name: str, x: Any) -> Any:
    if isinstance(x, Array) and x.dtype.kind not in "iu":
        raise InvalidType(op, name, x.dtype, "integers")
    return x


def _unravel_index(indices: Array, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """Convert flat indices to a tuple of coordinates, as ``numpy.unravel_index``.

    A Python number gives numbers. Indices on the GPU are not checked.
    """
    op = "unravel_index"
    if isinstance(indices, int | np.integer):
        return np.unravel_index(indices, shape, order)
    rest = sorting.as_indices(_integers(op, "indices", operand(indices)))
    found = []
    for extent in reversed(_order(op, order, _dimensions(op, "shape", shape))):
        found.append(rest % extent)
        rest = rest // extent
    return tuple(_order(op, order, found[::-1]))


def _ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Convert coordinates to flat indices, as ``numpy.ravel_multi_index``.

    With mode "raise", indices on the GPU are not checked.
    """
    op = "ravel_multi_index"
    extents = _dimensions(op, "dims", dims)
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    if isinstance(multi_index, Array) and not multi_index.device.has_values:
        return _without_values(op, multi_index)
    indices = on_one_device(tuple(multi_index))
    if len(indices) != len(extents) or len(modes) != len(extents):
        raise InvalidArgument(
            op,
            "multi_index",
            Description(f"{len(indices)} indices"),
            f"have {len(extents)} indices",
        )
    found: Any = 0
    steps = zip(indices, extents, modes, strict=True)
    for index, extent, one in _order(op, order, list(steps)):
        found = found * extent + _checked_index(
            op, _integers(op, "multi_index", index), extent, one
        )
    return sorting.as_indices(found) if isinstance(found, Array) else found


def _without_values(op: str, multi_index: Array) -> Array:
    """Return a result of the right shape and dtype for a meta array."""
    _integers(op, "multi_index", multi_index)
    return sorting.as_indices(multi_index.sum(axis=0))


def _checked_index(op: str, index: Any, extent: int, mode: str) -> Any:
    if mode == "raise" and not isinstance(index, Array) and not 0 <= index < extent:
        raise InvalidArgument(op, "multi_index", index, f"an index from 0 to {extent - 1}")
    return indices_by_mode(op, index, extent, mode)


def _diag(v: Array, k: int = 0) -> Array:
    """Return a matrix with a diagonal, or a view of a matrix's diagonal, as ``numpy.diag``."""
    if v.ndim == 2:
        return linear.diagonal(v, offset=k)
    if v.ndim != 1:
        raise InvalidArgument("diag", "v", v, "have one or two axes")
    n = v.size + abs(k)
    elements = creation.zeros((n * n,), dtype=v.dtype, device=v.device)
    begin = k if k > 0 else -k * n
    elements[begin : begin + v.size * (n + 1) : n + 1] = v
    return manipulation.reshape(elements, (n, n))


def _argwhere(a: Array) -> Array:
    """Return the indices of nonzero elements as rows, as ``numpy.argwhere``. Waits for the GPU."""
    if not a.ndim:
        return _argwhere(manipulation.reshape(a, (1,)))[:, :0]
    return manipulation.stack(sorting.nonzero(a), axis=1)


def _flatnonzero(a: Array) -> Array:
    """Return the flat indices of nonzero elements, as ``numpy.flatnonzero``. Waits for the GPU."""
    return sorting.nonzero(manipulation.reshape(a, (-1,)))[0]


def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Array:
    own, at = on_one_device((arr, indices))
    if axis is None:
        own, axis = manipulation.reshape(own, (-1,)), 0
    return sorting.take_along_axis(own, at, axis=axis)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    given = (a, v) if sorter is None else (a, v, sorter)
    own, values, *order = on_one_device(given)
    return sorting.searchsorted(own, values, side=side, sorter=order[0] if order else None)


def _digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """Return the index of each element's bin, as ``numpy.digitize``.

    Bins on the GPU are assumed to be monotonic. Bins on the host are checked.
    """
    op, side = "digitize", "left" if right else "right"
    known = on_host(bins.node) if isinstance(bins, Array) else np.asarray(bins)
    if isinstance(x, Array) and not isinstance(bins, Array):
        return _between_edges(op, x, np.asarray(bins), right)
    values, edges = on_one_device((x, bins))
    if edges.ndim != 1:
        raise InvalidArgument(op, "bins", edges, "have one axis")
    if not isinstance(values, Array):
        values = creation.asarray(values, device=edges.device)
    if known is not None:
        steps = np.diff(known)
        if (steps >= 0).all():
            return sorting.searchsorted(edges, values, side=side)
        if not (steps <= 0).all():
            raise InvalidArgument(op, "bins", known, "monotonic")
    n = edges.size
    falling = n - sorting.searchsorted(edges[::-1], values, side=side)
    if known is not None or not n:
        return falling  # type: ignore[no-any-return]
    rising = sorting.searchsorted(edges, values, side=side)
    return elementwise.where(edges[0] <= edges[-1], rising, falling)


def _between_edges(op: str, x: Array, edges: np.ndarray, right: bool) -> Array:
    if edges.ndim != 1 or edges.dtype.kind not in "biuf":
        raise InvalidArgument(op, "bins", edges, "a vector of real numbers")
    steps = np.diff(edges)
    if (steps >= 0).all():
        return count_edges_at_most(x, edges, below=right)
    if not (steps <= 0).all():
        raise InvalidArgument(op, "bins", edges, "monotonic")
    return len(edges) - count_edges_at_most(x, edges[::-1], below=right)  # type: ignore[no-any-return]


def sliding_window_view(
    x: Array, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """Return a read-only view of sliding windows, as ``numpy``'s ``sliding_window_view``."""
    op = "sliding_window_view"
    refuse(op, subok=subok, writeable=writeable)
    given = (window_shape,) if isinstance(window_shape, int | np.integer) else tuple(window_shape)
    window = checks.dimensions(op, "window_shape", given)
    names = range(x.ndim) if axis is None else axis if checks.is_several(axis) else (axis,)
    chosen = [shapes.axis(op, "axis", n, x.ndim) for n in names]
    if len(chosen) != len(window):
        expected = f"have {len(chosen)} extents, one for each axis"
        raise InvalidArgument(op, "window_shape", window, expected)
    extents = list(x.shape)
    for n, extent in zip(chosen, window, strict=True):
        extents[n] -= extent - 1
        if extents[n] < 0 and x.device.has_values:
            raise InvalidArgument(op, "window_shape", window, f"extents within {x.shape}")
    x.node.in_memory()
    steps = strides_of(x)
    shape = (*(max(extent, 0) for extent in extents), *window)
    found = view(x, shape, (*steps, *(steps[n] for n in chosen)), 0)
    return alias(x, found, read_only=True)


def as_strided(
    x: Array, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Array:
    """Return a read-only view with a shape and strides, as NumPy's ``as_strided``.

    Parameters
    ----------
    x : Array
        The array.
    shape : int or tuple of int, optional
        The shape of the view. By default that of ``x``.
    strides : sequence of int, optional
        The strides in bytes. By default those of ``x``.
    subok : bool
        Must be False.
    writeable : bool
        Has no effect. The view is read-only, because its elements may overlap.

    Raises
    ------
    InvalidArgument
        For strides that are not multiples of the item size, or that leave the memory of ``x``.
    """
    op = "as_strided"
    refuse(op, subok=subok)
    extents = x.shape if shape is None else _dimensions(op, "shape", shape)
    x.node.in_memory()
    own = strides_of(x)
    if strides is None:
        steps = own
    else:
        steps = tuple(int(step) for step in strides)
        if any(step % x.itemsize for step in steps):
            raise InvalidArgument(op, "strides", strides, f"multiples of {x.itemsize} bytes")
        steps = tuple(step // x.itemsize for step in steps)
    if len(steps) != len(extents):
        raise InvalidArgument(op, "strides", strides, f"{len(extents)} numbers, one for each axis")
    lowest, highest = _span(extents, steps)
    least, most = _span(x.shape, own)
    if 0 not in extents and not least <= lowest <= highest <= most:
        raise InvalidArgument(op, "strides", strides, f"within the memory of {x.size} elements")
    return alias(x, view(x, extents, steps, 0), read_only=True)


def _span(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return the offsets of the lowest and the highest element from the first one."""
    ends = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    return sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.argwhere: _argwhere,
    np.diag: _diag,
    np.digitize: _digitize,
    np.flatnonzero: _flatnonzero,
    np.lib.stride_tricks.as_strided: as_strided,
    np.lib.stride_tricks.sliding_window_view: sliding_window_view,
    np.ravel_multi_index: _ravel_multi_index,
    np.searchsorted: _searchsorted,
    np.take_along_axis: _take_along_axis,
    np.unravel_index: _unravel_index,
}
