"""Assignment to elements at places that arrays say."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.array import ordering, views
from browsergpu.array.apply import apply, binary, cast_to, full_node, packed
from browsergpu.array.gathering import by_arrays
from browsergpu.array.numbers import python_number
from browsergpu.array.reducing import memory_view
from browsergpu.array.value import Value
from browsergpu.core.checks import product
from browsergpu.core.element_types import UINT32

V = TypeVar("V", bound=Value)
_OP = "assign"


def replaced(x: V, places: V, value: Any) -> V:
    """x with a value, a number or an array of x's dtype and the places' shape, at places of its
    elements' order: of those that come more than once, the last one counts.

    No element is written by two threads: each finds which value is its own, and takes it.
    """
    count, n = product(places.node.shape), product(x.node.shape)
    if count == 0:
        return x
    flat = packed(views.reshaped(_OP, places, (count,)))
    owners = x.like(full_node(x.tape, (n,), UINT32, 0))
    by_place, found = (memory_view(array.node.in_memory()) for array in (flat, owners))
    ordering.latest(x.tape.device, _OP, by_place, found)
    new = value
    if python_number(value) is None:
        values = views.reshaped(_OP, value, (count,))
        new = by_arrays(values, [0], [binary("subtract", owners, 1)], False)
    is_owned = binary("not_equal", owners, 0)
    result = apply("where", x, is_owned, new, views.reshaped(_OP, x, (n,)))
    return views.reshaped(_OP, cast_to(_OP, result, x.node.kind, copy=False), x.node.shape)
