"""Bool arrays as keys."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.arrays import reduce
from browsergpu.arrays.apply import apply, binary, cast_to
from browsergpu.arrays.indexing.gather import by_arrays
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.value import Value
from browsergpu.arrays.views import strided
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import INT32
from browsergpu.engine.core.errors import InvalidArgument, InvalidIndex
from browsergpu.engine.core.showing import Description
from browsergpu.engine.tensors import scans

V = TypeVar("V", bound=Value)


def places_of_true(op: str, mask: V) -> V:
    """Return the flat indices of true elements, as int32. Waits for their number."""
    n = product(mask.node.shape)
    mask.node.in_memory()
    device = mask.tracer.device
    places = room(device, op, INT32, (n,))
    if not n:
        return mask.like(places)  # nothing to wait for
    count = room(device, op, INT32, (1,))
    view = reduce.memory_view
    scans.true_places(device, op, view(mask.node), view(places), view(count))
    found = scans.true_count(device, op, view(count))
    return strided.view(mask.like(places), (found,), (1,), 0)


def indices_of_true(op: str, mask: V) -> list[V]:
    """Return the indices of true elements along each axis, as int32. Waits for their number."""
    flat = places_of_true(op, mask)
    found = []
    inner, n = 1, product(mask.node.shape)
    for extent in reversed(mask.node.shape):
        place = flat if inner == 1 else binary("floor_divide", flat, inner)
        whole = inner * extent == n
        found.append(place if whole else binary("remainder", place, max(extent, 1)))
        inner *= extent
    return found[::-1]


def indices_along(x: V, mask: V, axis: int) -> list[V]:
    """Return :func:`indices_of_true` of a mask for the axes from ``axis`` on."""
    shape = mask.node.shape
    if not shape or x.node.shape[axis : axis + len(shape)] != shape:
        expected = f"the axes from {axis} on of {x.node.shape}"
        raise InvalidIndex("index", "key", Description(f"bools of shape {shape}"), expected)
    return indices_of_true("index", mask)


def chosen(x: V, mask: V) -> V:
    """Return the parts of an array where a mask of its leading axes is true.

    A mask without axes selects the whole array, or nothing, along a new first axis.
    """
    rank = len(mask.node.shape)
    if rank == 0:
        return chosen(*_with_axis(x, mask))
    _check(x, mask)
    places = places_of_true("index", mask)
    n = product(mask.node.shape)
    rest = x.node.shape[rank:]
    if n == 0:
        return strided.reshaped("index", x, (0, *rest))
    return by_arrays(strided.reshaped("index", x, (n, *rest)), [0], [places], False)


def replaced(x: V, mask: V, given: Any, count: int | None = None) -> V:
    """Return an array with the parts where a mask is true replaced.

    Parameters
    ----------
    x
        The array.
    mask
        A mask of leading axes of ``x``.
    given
        A number, or an array of the dtype of ``x``: one part for all, or one for each true element.
    count
        The number of true elements. If it is needed and not given, this waits for it.

    Raises
    ------
    InvalidArgument
        If the number of parts is not the number of true elements.
    """
    if not mask.node.shape:
        return strided.reshaped(
            "assign", replaced(*_with_axis(x, mask), given, count), x.node.shape
        )
    _check(x, mask)
    rest = x.node.shape[len(mask.node.shape) :]
    more = len(given.node.shape) - len(rest) if isinstance(given, Value) else 0
    if more > 1:
        expected = f"a shape that broadcasts to (n, {', '.join(map(str, rest))})"
        raise InvalidArgument("assign", "value", Description(f"shape {given.node.shape}"), expected)
    if more == 1 and given.node.shape[0] != 1:
        if x.tracer.device.has_values:
            _check_count(given, mask, count)
        if given.node.shape[0] == 0:
            return x
        given = by_arrays(given, [0], [_numbered(x, mask)], False)
    spread = strided.reshaped("assign", mask, (*mask.node.shape, *(1,) * len(rest)))
    found: V = apply("where", x, spread, given, x)
    return cast_to("assign", found, x.node.kind, copy=False)


def _check_count(given: Value, mask: Value, count: int | None) -> None:
    if count is None:
        count = places_of_true("assign", mask).node.shape[0]
    if given.node.shape[0] != count:
        expected = f"have {count} values, as many as the mask has True elements, or one"
        raise InvalidArgument("assign", "value", Description(f"shape {given.node.shape}"), expected)


def _numbered(x: V, mask: V) -> V:
    """Return the number of true elements before each element of a mask, as int32."""
    device, n = x.tracer.device, product(mask.node.shape)
    count = room(device, "assign", INT32, (n,))
    flat = strided.reshaped("assign", cast_to("assign", mask, INT32), (n,))
    flat.node.in_memory()
    view = reduce.memory_view
    scans.scan(device, "assign", "sum", view(flat.node), view(count), 0, exclusive=True)
    return strided.reshaped("assign", x.like(count), mask.node.shape)


def _with_axis(x: V, mask: V) -> tuple[V, V]:
    """Return an array and a mask without axes with a first axis of length 1."""
    return strided.reshaped("index", x, (1, *x.node.shape)), strided.reshaped("index", mask, (1,))


def _check(x: Value, mask: Value) -> None:
    rank = len(mask.node.shape)
    if mask.node.shape != x.node.shape[:rank]:
        expected = f"the leading axes of {x.node.shape}"
        raise InvalidIndex(
            "index", "key", Description(f"bools of shape {mask.node.shape}"), expected
        )
