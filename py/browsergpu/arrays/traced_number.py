"""Numbers that a compiled function gets as arguments, which differ from call to call."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from browsergpu.arrays.value import Value
from browsergpu.engine.core.element_types import ElementType

_BINARY = ("add", "sub", "mul", "truediv")
_UNARY = ("neg", "pos", "abs")
#: Uses that depend on the number itself, so it becomes a constant of the trace.
_FIXING = (
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__round__", "__floor__",
    "__ceil__", "__trunc__", "__format__", "__hash__", "__repr__", "__str__", "__reduce__",
)  # fmt: skip
_FIXING_BINARY = (
    "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor",
)  # fmt: skip
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class TracedNumber:
    """A number that each replay computes again.

    Arithmetic with numbers gives another traced number, and arithmetic with arrays is recorded. Any
    other use calls ``fix``, which makes the number part of the function's signature.

    Parameters
    ----------
    value : int, float or complex
        The number in the traced call. Code that depends on it calls :meth:`fixed`.
    compute : callable
        Returns the number in the current call.
    fix : callable
        Called when the value itself is used.
    """

    __slots__ = ("_compute", "_fix", "_key", "value")

    #: NumPy leaves operators to this class.
    __array_ufunc__ = None

    def __init__(self, value: Any, compute: Callable[[], Any], fix: Callable[[], None]) -> None:
        self.value = value
        self._compute = compute
        self._fix = fix
        self._key = object()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # so that isinstance(x, float) holds, as for the number
        return type(self.value)

    def fixed(self) -> Any:
        """Return the number, which becomes part of the signature."""
        self._fix()
        return self.value

    def computed(self) -> Any:
        """Return the number in the current call."""
        return self._compute()

    def beside(self, like: Value, kind: ElementType) -> Any:
        """Return the number as an array of a type without axes, or as a number outside a trace."""
        graphs = like.tracer.device.graphs
        graph = None if graphs is None else graphs.open
        if graph is None:
            return self.value
        return graph.number((self._key, kind), self._compute, like, kind)

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        raise TypeError(
            "a number in a compiled function cannot become a NumPy array. Use float(x)."
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fixed(), name)


def is_traced(x: Any) -> bool:
    """Return whether an operand is a traced number."""
    return type(x) is TracedNumber


def _number(x: Any) -> Any:
    return x.value if type(x) is TracedNumber else x


def _derived(function: Callable[..., Any], *operands: Any) -> TracedNumber:
    traced = [x for x in operands if type(x) is TracedNumber]

    def fix() -> None:
        for x in traced:
            x._fix()

    def compute() -> Any:
        return function(*[x._compute() if type(x) is TracedNumber else x for x in operands])

    return TracedNumber(function(*map(_number, operands)), compute, fix)


def _install() -> None:
    numbers = (int, float, complex, TracedNumber)

    def binary(name: str) -> None:
        function = getattr(operator, name)

        def forward(self: Any, other: Any) -> Any:
            if type(other) not in numbers:
                return NotImplemented
            return _derived(function, self, other)

        def backward(self: Any, other: Any) -> Any:
            if type(other) not in numbers:
                return NotImplemented
            return _derived(function, other, self)

        setattr(TracedNumber, f"__{name}__", forward)
        setattr(TracedNumber, f"__r{name}__", backward)

    def unary(name: str) -> None:
        function = getattr(operator, name)
        setattr(TracedNumber, f"__{name}__", lambda self: _derived(function, self))

    def fixing(name: str) -> None:
        def use(self: Any, *args: Any) -> Any:
            return getattr(self.fixed(), name)(*args)

        setattr(TracedNumber, name, use)

    def fixing_binary(name: str) -> None:
        function = getattr(operator, name)
        plain = name.strip("_")

        def forward(self: Any, other: Any) -> Any:
            return NotImplemented if isinstance(other, Value) else function(self.fixed(), other)

        def backward(self: Any, other: Any) -> Any:
            return NotImplemented if isinstance(other, Value) else function(other, self.fixed())

        setattr(TracedNumber, f"__{plain}__", forward)
        if name not in _COMPARISONS:
            setattr(TracedNumber, f"__r{plain}__", backward)

    for name in _BINARY:
        binary(name)
    for name in _UNARY:
        unary(name)
    for name in _FIXING:
        fixing(name)
    for name in (*_FIXING_BINARY, *_COMPARISONS):
        fixing_binary(name)


_install()
