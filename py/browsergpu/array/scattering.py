"""Assignment to elements at places that arrays say."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.array import views
from browsergpu.array.apply import apply, binary, cast_to
from browsergpu.array.gathering import by_arrays, coordinates
from browsergpu.array.numbers import python_number
from browsergpu.array.ranking import argsorted, searched
from browsergpu.array.value import Value
from browsergpu.core.checks import product

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
    order = argsorted(_OP, flat, 0)
    ranked = by_arrays(flat, [0], [order], False)
    own = x.like(coordinates(x.tape, (n,), 0))
    at = binary("subtract", searched(_OP, ranked, own, right=True), 1)
    last = binary("maximum", at, 0)
    found = binary("equal", by_arrays(ranked, [0], [last], False), own)
    new = value
    if python_number(value) is None:
        values = views.reshaped(_OP, value, (count,))
        new = by_arrays(values, [0], [by_arrays(order, [0], [last], False)], False)
    result = apply("where", x, found, new, views.reshaped(_OP, x, (n,)))
    return views.reshaped(_OP, cast_to(_OP, result, x.node.kind, copy=False), x.node.shape)
