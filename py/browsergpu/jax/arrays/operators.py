"""Operators of JAX arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT16, FLOAT32, INT32, UINT32
from browsergpu.engine.core.turns import exclusive
from browsergpu.jax.arrays.array import JAX, BatchedJaxArray, JaxArray, TrackedJaxArray
from browsergpu.jax.numpy import elementwise
from browsergpu.jax.numpy.wrappers import FUNCTIONS

_FLOATS = frozenset((FLOAT16, FLOAT32, COMPLEX64))
_NUMBERS = _FLOATS | {INT32, UINT32}
_ = elementwise  # enters its functions
_REFUSED = (list, tuple, set, dict)
_binary = exclusive(apply.binary)

#: By method: the function, the engine's operation, and the symbol.
_BINARY: dict[str, tuple[Any, str, str]] = {
    "add": (FUNCTIONS["add"], "add", "+"), "sub": (FUNCTIONS["subtract"], "subtract", "-"),
    "mul": (FUNCTIONS["multiply"], "multiply", "*"),
    "truediv": (FUNCTIONS["divide"], "divide", "/"),
    "floordiv": (FUNCTIONS["floor_divide"], "", "//"), "mod": (FUNCTIONS["remainder"], "", "%"),
    "pow": (FUNCTIONS["power"], "", "**"), "matmul": (FUNCTIONS["matmul"], "", "@"),
    "and": (FUNCTIONS["bitwise_and"], "", "&"), "or": (FUNCTIONS["bitwise_or"], "", "|"),
    "xor": (FUNCTIONS["bitwise_xor"], "", "^"), "lshift": (FUNCTIONS["left_shift"], "", "<<"),
    "rshift": (FUNCTIONS["right_shift"], "", ">>"), "divmod": (FUNCTIONS["divmod"], "", "divmod"),
}  # fmt: skip
_COMPARISONS: dict[str, tuple[Any, str, str]] = {
    "eq": (FUNCTIONS["equal"], "equal", "=="), "ne": (FUNCTIONS["not_equal"], "not_equal", "!="),
    "lt": (FUNCTIONS["less"], "less", "<"), "le": (FUNCTIONS["less_equal"], "less_equal", "<="),
    "gt": (FUNCTIONS["greater"], "greater", ">"),
    "ge": (FUNCTIONS["greater_equal"], "greater_equal", ">="),
}  # fmt: skip


def _is_operand(x: Any, symbol: str) -> bool:
    """Whether an operand is an array or a number. Raises TypeError for a list, as JAX does."""
    kind = type(x)
    if kind in JAX or kind in (int, float, bool, complex):
        return True
    if isinstance(x, _REFUSED):
        told = f"unsupported operand type(s) for {symbol}: 'Array' and {kind.__name__!r}"
        raise TypeError(f"{told}. Use jnp.array() for a list.")
    is_number = isinstance(x, Array | np.ndarray | np.generic | int | float | complex)
    return is_number or hasattr(x, "__jax_array__")


def _general(function: Callable[..., Any], symbol: str, *, is_left: bool) -> Any:
    def operator(self: Any, other: Any) -> Any:
        if not _is_operand(other, symbol):
            return NotImplemented
        return function(self, other) if is_left else function(other, self)

    return operator


def _quick(operation: str, general: Any, *, is_left: bool) -> Any:
    """Return an operator that records operands of one dtype without promotion."""
    if is_left:

        def operator(self: Any, other: Any) -> Any:
            kind = self.node.kind
            other_type = type(other)
            if other_type is JaxArray:
                if kind is other.node.kind and kind in _NUMBERS:
                    return _binary(operation, self, other)
            elif (other_type is float or other_type is int) and kind in _FLOATS:
                return _binary(operation, self, other)
            return general(self, other)
    else:

        def operator(self: Any, other: Any) -> Any:
            if type(other) in (float, int) and self.node.kind in _FLOATS:
                return _binary(operation, other, self)
            return general(self, other)

    return operator


def _add(name: str, function: Any, operation: str, symbol: str, *, is_left: bool) -> None:
    general = _general(function, symbol, is_left=is_left)
    quick = _quick(operation, general, is_left=is_left) if operation else general
    for kind, method in (
        (JaxArray, quick), (TrackedJaxArray, general), (BatchedJaxArray, general),
    ):  # fmt: skip
        setattr(kind, name, method)


for _name, _row in _BINARY.items():
    _add(f"__{_name}__", *_row, is_left=True)
    _add(f"__r{_name}__", *_row, is_left=False)
    if _name != "divmod":
        # x += y makes another array, as arrays cannot be changed.
        for _kind in (JaxArray, TrackedJaxArray, BatchedJaxArray):
            setattr(_kind, f"__i{_name}__", getattr(_kind, f"__{_name}__"))
for _name, _row in _COMPARISONS.items():
    _add(f"__{_name}__", *_row, is_left=True)
for _name, _function in (
    ("neg", FUNCTIONS["negative"]), ("pos", FUNCTIONS["positive"]), ("abs", FUNCTIONS["abs"]),
    ("invert", FUNCTIONS["bitwise_invert"]),
):  # fmt: skip
    for _kind in (JaxArray, TrackedJaxArray, BatchedJaxArray):
        setattr(_kind, f"__{_name}__", lambda self, _function=_function: _function(self))
for _kind in (JaxArray, TrackedJaxArray, BatchedJaxArray):
    _kind.__hash__ = None  # type: ignore[assignment]
