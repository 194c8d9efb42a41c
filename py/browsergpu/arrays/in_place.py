"""Arrays that take another value: ``x += 1``, an optimiser's step, what a layer keeps."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.arrays.apply import binary, cast_to, duplicate
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import take_node
from browsergpu.core.above import ABOVE
from browsergpu.core.element_types import is_same_kind
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.core.turns import exclusive

V = TypeVar("V", bound=Value)


@exclusive
def become(x: Value, other: Value) -> None:
    """Gives an array another one's value. Where views share its memory, or a captured graph works
    on it, the value is written there; else x takes the value as it is, computed or not."""
    assignment.check_writable(x)
    node, value = NODE.__get__(x), NODE.__get__(other)
    if value is node:
        return
    is_alike = value.kind is node.kind and value.shape == node.shape and other.tracer is x.tracer
    if is_alike and assignment.stays(x):
        assignment.write(plain_of(x), None, plain_of(other))
        return
    graphs = x.tracer.device.graphs
    if graphs is not None and graphs.open is not None:
        graphs.open.note(x)
    if value.view_group is not None or value.holders > 1:  # others have it, and may change it
        value = duplicate(plain_of(other)).node
    take_node(x, value)


def plain_of(x: Value) -> Value:
    """What stands for an array whose operations are noted, and is not noted."""
    return Value(NODE.__get__(x), x.tracer) if x.is_tracked else x


def in_place(op: str, x: V, other: Any) -> V:
    """x takes the value of an operation on it and another, in its own dtype. Raises InvalidType, a
    TypeError, where the result's dtype is of a higher kind, InvalidArgument for another shape."""
    if isinstance(other, Value) and other.is_tracked:
        return ABOVE.variable_operators.beside_variable(x, op, other)  # type: ignore[no-any-return]
    found = binary(op, x, other)
    if found is NotImplemented:
        return found  # type: ignore[no-any-return]
    if found.node.kind is not x.node.kind:
        if not is_same_kind(found.node.kind, x.node.kind):
            expected = f"of a dtype that leaves {x.node.kind.name}"
            raise InvalidType(op, "other", found, expected)
        found = cast_to(op, found, x.node.kind)
    if found.node.shape != x.node.shape:
        raise InvalidArgument(
            op, "other", Description(f"shape {found.node.shape}"), f"have shape {x.node.shape}"
        )
    become(x, found)
    return x
