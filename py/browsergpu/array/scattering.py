"""Assignment to elements at places that arrays say."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.array import ordering, reducing, views
from browsergpu.array.apply import apply, binary, cast_to
from browsergpu.array.gathering import by_arrays, coordinates
from browsergpu.array.numbers import python_number
from browsergpu.array.value import Value
from browsergpu.core.checks import product
from browsergpu.core.element_types import INT32

V = TypeVar("V", bound=Value)
_OP = "assign"


def counted(x: V) -> V:
    """Each element's place in the order of all: int32, of x's shape."""
    n = product(x.node.shape)
    return views.reshaped(_OP, x.like(coordinates(x.tape, (n,), 0)), x.node.shape)


def replaced(x: V, places: V, value: Any) -> V:
    """x with a value, a number or an array of x's dtype and the places' shape, at places of its
    elements' order: of those that come more than once, the last one counts.

    No element is written by two threads: each looks for its own place among the sorted ones.
    """
    count, n = product(places.node.shape), product(x.node.shape)
    if count == 0:
        return x
    flat = views.reshaped(_OP, places, (count,))
    order = _argsorted(flat)
    ranked = by_arrays(flat, [0], [order], False)
    own = x.like(coordinates(x.tape, (n,), 0))
    at = binary("subtract", _behind(ranked, own), 1)
    last = binary("maximum", at, 0)
    found = binary("equal", by_arrays(ranked, [0], [last], False), own)
    new = value
    if python_number(value) is None:
        values = views.reshaped(_OP, value, (count,))
        new = by_arrays(values, [0], [by_arrays(order, [0], [last], False)], False)
    result = apply("where", x, found, new, views.reshaped(_OP, x, (n,)))
    return views.reshaped(_OP, cast_to(_OP, result, x.node.kind, copy=False), x.node.shape)


def _argsorted(x: V) -> V:
    """Where each element of the sorted vector is in x, of equals in their order: int32."""
    found = reducing.room(x.tape.device, _OP, INT32, x.node.shape)
    source = reducing.memory_view(x.node.in_memory())
    ordering.argsort(x.tape.device, _OP, source, reducing.memory_view(found), 0)
    return x.like(found)


def _behind(ordered: V, values: V) -> V:
    """How many of the ordered elements are not greater than each value: int32."""
    found = reducing.room(ordered.tape.device, _OP, INT32, values.node.shape)
    one, other = (reducing.memory_view(x.node.in_memory()) for x in (ordered, values))
    device = ordered.tape.device
    ordering.searchsorted(device, _OP, one, other, reducing.memory_view(found), right=True)
    return ordered.like(found)
