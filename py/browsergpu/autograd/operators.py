"""Operators on arrays that require gradients are the functions, which note what they do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import Leaf
from browsergpu.arrays.autograd.variable import Variable, plain, track, untrack
from browsergpu.arrays.in_place import become
from browsergpu.autograd import views
from browsergpu.core.above import register, register_methods
from browsergpu.core.element_types import is_same_kind
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.core.turns import exclusive
from browsergpu.functions import creation, data_types, elementwise, manipulation, parts
from browsergpu.functions.linalg import linear

_OF_TWO = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.divide, "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder, "pow": elementwise.pow, "matmul": linear.matmul,
    "and": elementwise.bitwise_and, "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
}  # fmt: skip
_COMPARED = {
    "eq": elementwise.equal, "ne": elementwise.not_equal, "lt": elementwise.less,
    "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_OF_ONE = {
    "neg": elementwise.negative, "pos": elementwise.positive, "abs": elementwise.abs,
    "invert": elementwise.bitwise_invert,
}  # fmt: skip


def _own(x: Array, other: Any) -> Any:
    """The other operand as functions take it; None for what is none."""
    if isinstance(other, np.ndarray | list):
        return creation.asarray(other, device=x.device)
    is_number = isinstance(other, int | float | complex | np.generic)
    return other if is_number or isinstance(other, Array) else None


def _operator(function: Callable[..., Any], *, is_left: bool) -> Callable[..., Any]:
    def of_two(self: Array, other: Any) -> Any:
        own = _own(self, other)
        if own is None:
            return NotImplemented
        return function(self, own) if is_left else function(own, self)

    return of_two


def _of_one(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def of_one(self: Array) -> Array:
        return function(self)

    return of_one


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    @exclusive
    def of_two(self: Array, other: Any) -> Any:
        own = _own(self, other)
        if own is None:
            return NotImplemented
        return rebound(self, function(self, own), function.__name__)

    return of_two


@exclusive
def rebound(x: Array, found: Array, op: str) -> Array:
    """x takes a value and where it comes from. Raises where it is a leaf, whose gradient that would
    lose, and where shape or dtype are others, as arrays that require none do."""
    if found.dtype != x.dtype:
        if not is_same_kind(found.node.kind, x.node.kind):
            raise InvalidType(op, "other", found.dtype, f"of a dtype that leaves {x.dtype}")
        found = data_types.astype(found, x.dtype)
    if found.shape != x.shape:
        raise InvalidArgument(
            op, "other", Description(f"shape {found.shape}"), f"have shape {x.shape}"
        )
    if type(x) is Variable and is_grad_enabled() and isinstance(x.source.node, Leaf):
        expected = "changed under no_grad(), or be an operation's result"
        raise InvalidArgument(op, "array", Description("a leaf that requires a gradient"), expected)
    if is_grad_enabled() and (type(x) is Variable or type(found) is Variable):
        views.check(x, op)
    become(x, found)
    if type(found) is Variable:
        track(x, found.source)
    elif type(x) is Variable and not isinstance(x.source.node, Leaf):
        untrack(x)
    if is_grad_enabled():
        views.written(x, found)
    return x


@exclusive
def assign(self: Array, key: Any, value: Any) -> None:
    own = _own(self, value)
    if own is None:
        raise InvalidType("assignment", "value", value, "an array or a number")
    if isinstance(own, Array) and own.dtype != self.dtype and type(own) is Variable:
        own = data_types.astype(own, self.dtype)
    rebound(self, parts.assigned(self, key, own), "assignment")


@exclusive
def beside_variable(x: Array, op: str, other: Array) -> Array:
    """``x += other`` where other requires a gradient: so does x from then on."""
    return rebound(x, getattr(elementwise, op)(x, other), op)


def _get(self: Array, key: Any) -> Array:
    return parts.part(self, key)


def _copied(self: Array) -> Array:
    return elementwise.positive(self)


def _reshaped(self: Array, *shape: Any) -> Array:
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape)


def _cast(self: Array, dtype: Any, copy: bool = True) -> Array:
    return data_types.astype(self, dtype, copy=copy)


async def _ready(self: Array) -> Array:
    await plain(self).ready()
    return self


def _methods() -> dict[str, Any]:
    """The operators, methods and properties of variables."""
    made: dict[str, Any] = {
        "__hash__": None, "__getitem__": _get, "__setitem__": assign, "__copy__": _copied,
        "reshape": _reshaped, "astype": _cast, "ready": _ready,
        "T": property(lambda self: manipulation.transpose(self)),
        "mT": property(lambda self: manipulation.matrix_transpose(self)),
        "real": property(lambda self: elementwise.real(self)),
        "imag": property(lambda self: elementwise.imag(self)),
    }  # fmt: skip
    for name, function in _OF_TWO.items():
        made[f"__{name}__"] = _operator(function, is_left=True)
        made[f"__r{name}__"] = _operator(function, is_left=False)
        made[f"__i{name}__"] = _in_place(function)
    for name, function in _COMPARED.items():
        made[f"__{name}__"] = _operator(function, is_left=True)
    for name, own in _OF_ONE.items():
        made[f"__{name}__"] = _of_one(own)
    return made


register_methods(Variable, _methods())
register("variable_operators", sys.modules[__name__])
