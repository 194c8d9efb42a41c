"""Arrays of bools as keys."""

from __future__ import annotations

from typing import TypeVar

from browsergpu.array import reducing, scans, views
from browsergpu.array.apply import apply, cast_to
from browsergpu.array.gathering import by_arrays
from browsergpu.array.value import Value
from browsergpu.core.checks import product
from browsergpu.core.element_types import INT32
from browsergpu.core.errors import InvalidIndex

V = TypeVar("V", bound=Value)


def places_of_true(op: str, mask: V) -> V:
    """Where an array of bools is true, counted in its order: int32. Waits for their number."""
    n = product(mask.node.shape)
    mask.node.in_memory()
    device = mask.tape.device
    places = reducing.room(device, op, INT32, (n,))
    count = reducing.room(device, op, INT32, (1,))
    view = reducing.memory_view
    scans.true_places(device, op, view(mask.node), view(places), view(count))
    found = scans.true_count(device, op, view(count))
    return views.view(mask.like(places), (found,), (1,), 0)


def chosen(x: V, mask: V) -> V:
    """The parts of an array at the leading indices where a mask of these axes is true."""
    _check(x, mask)
    rank = len(mask.node.shape)
    places = places_of_true("index", mask)
    n = product(mask.node.shape)
    rest = x.node.shape[rank:]
    if n == 0:
        return views.reshaped("index", x, (0, *rest))
    return by_arrays(views.reshaped("index", x, (n, *rest)), [0], [places], False)


def placed(x: V, mask: V, values: V) -> V:
    """The array with its parts where a mask is true replaced, one after the other, by the parts of
    ``values``, of x's dtype; how many there are is not compared."""
    _check(x, mask)
    rank = len(mask.node.shape)
    n = product(mask.node.shape)
    count = reducing.room(x.tape.device, "assign", INT32, (n,))
    flat = views.reshaped("assign", cast_to("assign", mask, INT32), (n,))
    flat.node.in_memory()
    view = reducing.memory_view
    scans.scan(x.tape.device, "assign", "sum", view(flat.node), view(count), 0, exclusive=True)
    at = views.reshaped("assign", x.like(count), mask.node.shape)
    found = by_arrays(values, [0], [at], False)
    spread = (*mask.node.shape, *(1,) * (len(x.node.shape) - rank))
    return where(views.reshaped("assign", mask, spread), found, x)


def where(mask: V, yes: V, no: V) -> V:
    """``yes`` where a mask is true, else ``no``; of one dtype."""
    return apply("where", mask, mask, yes, no)


def _check(x: Value, mask: Value) -> None:
    rank = len(mask.node.shape)
    if mask.node.shape != x.node.shape[:rank] or rank == 0:
        expected = f"the leading axes of {x.node.shape}"
        raise InvalidIndex("index", "key", f"bools of shape {mask.node.shape}", expected)
