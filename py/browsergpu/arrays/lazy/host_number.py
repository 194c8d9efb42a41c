"""Arrays without axes whose value the host knows: elements that were read, and drawn numbers.

Loops that read single elements would otherwise wait for the GPU at each comparison. Operations on
two such arrays are computed on the host, exactly as the GPU rounds them. Beside another array, such
an array is a number of its trace.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import copysign, inf, isfinite, isnan, nan, sqrt
from struct import pack, unpack
from typing import Any
from weakref import ref

import numpy as np

from browsergpu.arrays.lazy.node import Node
from browsergpu.arrays.lazy.trace import Tracer
from browsergpu.arrays.pending_upload import PendingUpload
from browsergpu.engine.core.element_types import (
    BOOL,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from browsergpu.engine.kernels.fused.operations import Overload

#: The types that the host computes as the GPU does.
KINDS = frozenset({BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32})
#: Integers up to here are exact in the float64 that rounds to float32.
_EXACT = 2**53


class HostNumber(PendingUpload):
    """The trace of a value without axes that is a Python number on the host."""

    __slots__ = ("number",)

    def __init__(self, tracer: Tracer, node: Node, number: Any) -> None:
        self.tracer = tracer
        self._node = ref(node)
        self.number = number

    @property
    def data(self) -> np.ndarray:  # type: ignore[override]
        """The value as a NumPy array without axes."""
        node = self._node()
        assert node is not None
        return np.array(self.number, node.kind.numpy)


def node_of(tracer: Tracer, kind: ElementType, number: Any) -> Node:
    """Return a node for a number that has the type's precision and range."""
    node = Node(kind, ())
    node.trace = HostNumber(tracer, node, number)
    return node


def is_here(tracer: Tracer) -> bool:
    """Return whether the current task may compute on the host, since it captures no graph."""
    graphs = tracer.device.graphs
    return (graphs is None or graphs.open is None) and tracer.device.has_values


def number_in(node: Node) -> Any:
    """Return the value of a node that the host knows, or None."""
    return node.trace.number if type(node.trace) is HostNumber else None


def computed(op: str, made: Overload, tracer: Tracer, numbers: tuple[Any, ...]) -> Node | None:
    """Compute an operation on numbers, or return None if only the GPU can."""
    function = _FUNCTIONS.get(op)
    if function is None or made.result not in KINDS or not is_here(tracer):
        return None
    operands = []
    for number, before, kind in zip(numbers, made.given, made.cast_to, strict=True):
        operand = number if before is kind else converted(number, kind)
        if operand is None:
            return None
        operands.append(operand)
    found = function(*operands)
    if found is None:
        return None
    return node_of(tracer, made.result, within(found, made.result))


def converted(number: Any, kind: ElementType) -> Any:
    """Return a number as another type, or None if only the GPU converts it."""
    if kind not in KINDS:
        return None
    if kind is FLOAT32:
        return within(float(number), kind) if abs(number) <= _EXACT else None
    if kind is BOOL:
        return bool(number)
    if isinstance(number, float):
        bounds = _BOUNDS[kind]
        return int(number) if isfinite(number) and bounds[0] <= number <= bounds[1] else None
    return within(int(number), kind)


def within(number: Any, kind: ElementType) -> Any:
    """Return a number with a type's precision and range. Integers wrap around."""
    if kind is FLOAT32:
        try:
            return unpack("f", pack("f", number))[0]
        except OverflowError:
            return copysign(inf, number)
    if kind is BOOL:
        return bool(number)
    least, most = _BOUNDS[kind]
    return number if least <= number <= most else (number - least) % (most - least + 1) + least


_BOUNDS = {
    kind: (int(np.iinfo(kind.numpy).min), int(np.iinfo(kind.numpy).max))
    for kind in KINDS
    if kind.kind in "iu"
}


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    return nan if isnan(a) or a == 0 else copysign(inf, a) * copysign(1.0, b)


def _root(x: float) -> float:
    return sqrt(x) if x >= 0 else nan


def _power(a: Any, b: Any) -> Any:
    return a * a if b == 2 else None


#: Operations whose results are exact, or rounded to float32 once: a float64 holds the sum, the
#: product, the quotient and the root of float32 numbers well enough to be rounded twice.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divided,
    "pow": _power,
    "sqrt": _root,
    "negative": operator.neg,
    "abs": abs,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_not": operator.not_,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}
