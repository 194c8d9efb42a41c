"""Operators of tracked arrays, which call the recorded functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.batched import BATCHED, Batched
from browsergpu.arrays.autograd.families import TRACKED
from browsergpu.arrays.autograd.grad_mode import is_grad_enabled
from browsergpu.arrays.autograd.nodes import Leaf
from browsergpu.arrays.autograd.variable import Variable, plain, track, untrack
from browsergpu.arrays.in_place import become
from browsergpu.autograd import views
from browsergpu.autograd.batching import calls
from browsergpu.engine.core.above import register, register_methods
from browsergpu.engine.core.element_types import is_same_kind
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions import creation, data_types, elementwise, manipulation, parts
from browsergpu.functions.linalg import linear

_BINARY = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.divide, "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder, "pow": elementwise.pow, "matmul": linear.matmul,
    "and": elementwise.bitwise_and, "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
}  # fmt: skip
_COMPARISONS = {
    "eq": elementwise.equal, "ne": elementwise.not_equal, "lt": elementwise.less,
    "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_UNARY = {
    "neg": elementwise.negative, "pos": elementwise.positive, "abs": elementwise.abs,
    "invert": elementwise.bitwise_invert,
}  # fmt: skip


#: Classes of operands. Each call of isinstance would take a microsecond to form their union.
_OPERANDS = (Array, int, float, complex, np.generic)
_SEQUENCES = (np.ndarray, list, tuple, range)


def _as_operand(x: Array, other: Any) -> Any:
    """Return the other operand as an array or number, or None if it is neither."""
    if isinstance(other, _OPERANDS):
        return other
    return creation.asarray(other, device=x.device) if isinstance(other, _SEQUENCES) else None


def _binary_method(function: Callable[..., Any], *, is_left: bool) -> Callable[..., Any]:
    def of_two(self: Array, other: Any) -> Any:
        own = _as_operand(self, other)
        if own is None:
            return NotImplemented
        return function(self, own) if is_left else function(own, self)

    return of_two


def _comparison_method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    compare = _binary_method(function, is_left=True)

    def of_two(self: Array, other: Any) -> Any:
        found = compare(self, other)
        if found is NotImplemented:  # of None or a string, each element differs
            if type(self) in BATCHED:
                return creation.full(self.shape, name == "__ne__", device=self.device)
            return getattr(Array, name)(plain(self), other)
        return found

    return of_two


def _unary_method(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def of_one(self: Array) -> Array:
        return function(self)

    return of_one


def _in_place_method(function: Callable[..., Any]) -> Callable[..., Any]:
    @exclusive
    def of_two(self: Array, other: Any) -> Any:
        own = _as_operand(self, other)
        if own is None:
            return NotImplemented
        return rebind(self, function(self, own), function.__name__)

    return of_two


@exclusive
def rebind(x: Array, found: Array, op: str) -> Array:
    """Assign the value and the source of a result to an array in place.

    Raises InvalidArgument for a leaf that requires a gradient, unless under ``no_grad()``, and for
    another shape. Raises InvalidType for a dtype of a higher kind.
    """
    if type(x) in BATCHED or type(found) in BATCHED:
        return calls.rewrite(op, x, found)
    if found.dtype != x.dtype:
        if not is_same_kind(found.node.kind, x.node.kind):
            raise InvalidType(op, "other", found.dtype, f"an operand whose result is {x.dtype}")
        found = data_types.astype(found, x.dtype)
    if found.shape != x.shape:
        raise InvalidArgument(
            op, "other", Description(f"shape {found.shape}"), f"have shape {x.shape}"
        )
    if type(x) in TRACKED and is_grad_enabled() and isinstance(x.source.node, Leaf):
        expected = "changed under no_grad(), or be an operation's result"
        raise InvalidArgument(op, "array", Description("a leaf that requires a gradient"), expected)
    if is_grad_enabled() and (type(x) in TRACKED or type(found) in TRACKED):
        views.check_write(x, op)
    become(x, found)
    if type(found) in TRACKED:
        track(x, found.source)
    elif type(x) in TRACKED and not isinstance(x.source.node, Leaf):
        untrack(x)
    if is_grad_enabled():
        views.record_write(x, found)
    return x


@exclusive
def assign(self: Array, key: Any, value: Any) -> None:
    """Assign a value to a part of an array: ``x[key] = value``."""
    own = _as_operand(self, value)
    if own is None:
        raise InvalidType("assignment", "value", value, "an array or a number")
    if isinstance(own, Array) and own.dtype != self.dtype and type(own) in TRACKED:
        own = data_types.astype(own, self.dtype)
    rebind(self, parts.assigned(self, key, own), "assignment")


@exclusive
def in_place_by_variable(x: Array, op: str, other: Array) -> Array:
    """Compute ``x += other`` and the like for an ``other`` that requires a gradient.

    Afterwards ``x`` requires a gradient too.
    """
    return rebind(x, getattr(elementwise, op)(x, other), op)


def _get(self: Array, key: Any) -> Array:
    return parts.part(self, key)


def _copy(self: Array) -> Array:
    return elementwise.positive(self)


def _reshape(self: Array, *shape: Any) -> Array:
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape)


def _cast(self: Array, dtype: Any, copy: bool = True) -> Array:
    return data_types.astype(self, dtype, copy=copy)


async def _ready(self: Array) -> Array:
    await plain(self).ready()
    return self


def _methods() -> dict[str, Any]:
    """Return the operators, methods and properties of :class:`Variable`."""
    made: dict[str, Any] = {
        "__hash__": None, "__getitem__": _get, "__setitem__": assign, "__copy__": _copy,
        "reshape": _reshape, "astype": _cast, "ready": _ready,
        "T": property(lambda self: manipulation.transpose(self)),
        "mT": property(lambda self: manipulation.matrix_transpose(self)),
        "real": property(lambda self: elementwise.real(self)),
        "imag": property(lambda self: elementwise.imag(self)),
    }  # fmt: skip
    for name, function in _BINARY.items():
        made[f"__{name}__"] = _binary_method(function, is_left=True)
        made[f"__r{name}__"] = _binary_method(function, is_left=False)
        made[f"__i{name}__"] = _in_place_method(function)
    for name, function in _COMPARISONS.items():
        made[f"__{name}__"] = _comparison_method(f"__{name}__", function)
    for name, own in _UNARY.items():
        made[f"__{name}__"] = _unary_method(own)
    return made


def _batched_methods() -> dict[str, Any]:
    """Return the operators, methods and properties of :class:`Batched`."""
    made = _methods()
    del made["ready"]
    return made


register_methods(Variable, _methods())
register_methods(Batched, _batched_methods())
register("variable_operators", sys.modules[__name__])
