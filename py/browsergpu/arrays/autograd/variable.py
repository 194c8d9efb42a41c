"""Tracked arrays: arrays that require gradients.

Kernels read an array's ``node``. A Variable hides its node, so an operation without a gradient rule
raises and never loses a gradient silently.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import TRACKED, TRACKED_OF, UNTRACKED_OF, register_family
from browsergpu.arrays.autograd.hidden import HidingArray
from browsergpu.arrays.autograd.nodes import Leaf, Like, Source
from browsergpu.arrays.autograd.reads import check_read
from browsergpu.arrays.context import device_of
from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.value import NODE
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import (
    InvalidArgument,
    InvalidType,
    NotDifferentiable,
    Unsupported,
)
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive


class Variable(HidingArray):
    """An array that requires gradients."""

    __slots__ = ()

    is_tracked = True

    def like(self, node: Node) -> Self:
        """Return an untracked array on the same device."""
        return UNTRACKED_OF[type(self)](node, self.tracer)  # type: ignore[no-any-return]

    # -- attributes --------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return NODE.__get__(self).shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, _: Any) -> None:
        raise Unsupported(
            "shape", "the shape of an array that requires a gradient cannot be set. Use reshape()."
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return NODE.__get__(self).kind.numpy  # type: ignore[no-any-return]

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Return the array itself on its own device.

        Raises NotDifferentiable for another device.
        """
        if device_of("to_device", device) is self.device:
            return super().to_device(device, stream=stream)
        check_read(self, "to_device")
        return plain(self).to_device(device, stream=stream)

    def __repr__(self) -> str:
        return f"{plain(self)!r}"[:-1] + ", requires_grad=True)"

    def __str__(self) -> str:
        return str(plain(self))

    def _repr_html_(self) -> str | None:
        return plain(self)._repr_html_()

    def __format__(self, spec: str) -> str:
        return format(plain(self), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(plain(self), digits)


def _hidden(self: Variable) -> Node:
    raise NotDifferentiable(
        "gradient", "an operation without a gradient rule got an array that requires a gradient. "
        "Use x.detach() for its values."
    )  # fmt: skip


def _take_node(self: Variable, node: Node) -> None:
    NODE.__set__(self, node)


register_family(Array, Variable)
setattr(Variable, "node", property(_hidden, _take_node))  # noqa: B010 - a slot, for the checker

# Reads are allowed unless they lose a gradient.
for _name in (
    "numpy", "numpy_async", "item", "tolist", "__array__", "__float__", "__int__",
    "__bool__", "__complex__", "__index__", "__dlpack__", "__contains__",
):  # fmt: skip

    def _reading(self: Variable, *args: Any, _name: str = _name, **options: Any) -> Any:
        check_read(self, _name)
        return getattr(plain(self), _name)(*args, **options)

    _reading.__name__, _reading.__doc__ = _name, getattr(Array, _name).__doc__
    setattr(Variable, _name, _reading)


def plain_in_turn(x: Array, /) -> Array:
    """Return :func:`plain` for a caller that holds the turn."""
    try:
        node = NODE.__get__(x)
    except AttributeError:  # an array of vmap has none
        return ABOVE.batching.untracked(x)  # type: ignore[no-any-return]
    found: Array = UNTRACKED_OF[type(x)](node, x.tracer)
    return found


@exclusive
def plain(x: Array, /) -> Array:
    """Return the untracked value of an array."""
    return plain_in_turn(x)


def node_of(x: Array) -> Node:
    """Return the node of an array."""
    return NODE.__get__(x)  # type: ignore[no-any-return]


def like_of(x: Array) -> Like:
    """Return the shape, dtype and device of an array."""
    try:
        node: Node = NODE.__get__(x)
    except AttributeError:  # an array of vmap has none
        return Like(x.shape, x.dtype, x.tracer.device)
    return Like(node.shape, node.kind.numpy, x.tracer.device)


def source_of(x: Any) -> Source | None:
    """Return the source of an array, or None if it requires no gradient."""
    return x.source if type(x) in TRACKED else None


def track(x: Array, source: Source) -> Array:
    """Make an unshared array the tracked result of a node."""
    x.source = source
    x.__class__ = TRACKED_OF[type(x)]
    return x


def untrack(x: Array) -> None:
    """Make a tracked array untracked."""
    x.__class__ = UNTRACKED_OF[type(x)]
    del x.source


@exclusive
def variable(x: Array, source: Source, /) -> Array:
    """Return another array of the same value, as the result of a node."""
    return track(UNTRACKED_OF[type(x)](NODE.__get__(x), x.tracer), source)


def require(x: Array, op: str, wanted: bool = True) -> Array:
    """Make an array a leaf, or make a leaf untracked."""
    if type(x) in TRACKED:
        if not wanted:
            if not isinstance(x.source.node, Leaf):
                found = Description("an operation's result")
                advice = "Use x.detach() for its values."
                raise InvalidArgument(op, "array", found, "a leaf", advice)
            untrack(x)
    elif wanted:
        if x.node.kind.kind not in "fc":
            raise InvalidType(op, "array", x.dtype, "a float or complex dtype")
        track(x, Source(Leaf(like_of(x)), 0))
    return x
