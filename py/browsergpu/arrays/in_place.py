"""New values for existing arrays: ``x += 1``, an optimizer's step, a layer's buffers."""

from __future__ import annotations

from typing import Any, TypeVar

from browsergpu.arrays.apply import binary, cast_to, duplicate
from browsergpu.arrays.indexing import assignment
from browsergpu.arrays.value import NODE, Value
from browsergpu.arrays.views.aliases import take_node
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.element_types import is_same_kind
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive

V = TypeVar("V", bound=Value)


@exclusive
def become(x: Value, other: Value) -> None:
    """Replace the value of an array by the value of another array.

    If views share the memory, or a captured graph uses it, the value is written there. Otherwise
    the array takes the other's node, computed or not.
    """
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
    # Other arrays hold the value, and may change it.
    if value.view_group is not None or value.holders > 1:
        value = duplicate(plain_of(other)).node
    take_node(x, value)


def plain_of(x: Value) -> Value:
    """Return an untracked value for a tracked array, or the array itself."""
    return Value(NODE.__get__(x), x.tracer) if x.is_tracked else x


def in_place(op: str, x: V, other: Any) -> V:
    """Apply an operation to ``x`` in place, and keep its dtype.

    Raises
    ------
    InvalidType
        If the result's dtype is of a higher kind.
    InvalidArgument
        If the result has another shape.
    """
    if isinstance(other, Value) and other.is_tracked:
        return ABOVE.variable_operators.in_place_by_variable(x, op, other)  # type: ignore[no-any-return]
    found = binary(op, x, other)
    if found is NotImplemented:
        return found  # type: ignore[no-any-return]
    if found.node.kind is not x.node.kind:
        if not is_same_kind(found.node.kind, x.node.kind):
            expected = f"an operand whose result is {x.node.kind.name}"
            raise InvalidType(op, "other", found, expected)
        found = cast_to(op, found, x.node.kind)
    if found.node.shape != x.node.shape:
        raise InvalidArgument(
            op, "other", Description(f"shape {found.node.shape}"), f"have shape {x.node.shape}"
        )
    become(x, found)
    return x
