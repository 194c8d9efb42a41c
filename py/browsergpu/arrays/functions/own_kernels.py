"""Elementwise kernels of one's own on arrays, by CuPy's name: WGSL for one element."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from browsergpu.arrays.declarations import arguments, check_names, parameters
from browsergpu.arrays.own_operations import (
    applied,
    check_letters,
    check_name,
    check_text,
    operations_of,
)
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.core.turns import exclusive


class ElementwiseKernel:
    """A function of each element, in WGSL.

    ``in_params`` and ``out_params`` declare arrays and numbers, ``"float32 x, T y"``: dtypes by
    NumPy's names, or capital letters, each of which stands for one type. ``operation`` are WGSL
    statements that assign to the outputs; floats (float16, too) are f32 there, whole numbers i32
    and u32, complex numbers vec2f, and ``i`` is the element's place in the result, a u32. Called on
    arrays and numbers, it broadcasts, and is computed within one kernel with what is around it::

        distance = ElementwiseKernel("T x, T y", "T z", "z = abs(x - y)", "distance")
        z = distance(a, b)

    Several outputs come as a tuple. Arrays of other dtypes than declared raise TypeError; WGSL that
    does not compile raises ShaderCompilation when values are read, by ``name`` and its own line.
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel"
    ) -> None:
        op = "ElementwiseKernel"
        check_text(op, "operation", operation)
        check_name(op, name)
        self._inputs = parameters(op, "in_params", in_params)
        outputs = parameters(op, "out_params", out_params)
        check_names(op, (*self._inputs, *outputs))
        check_letters(op, self._inputs, outputs)
        #: What profiles, ``explain`` and errors call it.
        self.name = name
        self._operations = operations_of(name, self._inputs, outputs, operation)

    @exclusive
    def __call__(self, *args: Any) -> Any:
        """The results for arrays and numbers that broadcast to one shape; one at least is an
        array."""
        values, kinds = arguments(self.name, self._inputs, args)
        found = applied(self.name, self._operations, values, kinds)
        return found[0] if len(found) == 1 else found

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def kernel(function: Callable[..., Any], /) -> ElementwiseKernel:
    """Makes an :class:`ElementwiseKernel` of a function that returns WGSL: its parameters'
    annotations are their types, and what it returns is an expression for the output, of the type
    of its return annotation, or a tuple of expressions for a tuple of types::

        @browsergpu.kernel
        def axpy(a: "float32", x: "T", y: "T") -> "T":
            return "T(a) * x + y"

    The function is called once, with the parameters' names.
    """
    op = "kernel"
    if not callable(function):
        raise InvalidType(op, "function", function, "a function")
    signature = inspect.signature(function)
    names = list(signature.parameters)
    hints = [_annotated(one.annotation) for one in signature.parameters.values()]
    results = _annotated(signature.return_annotation)
    results = list(results) if isinstance(results, tuple) else [results]
    if inspect.Signature.empty in (*hints, *results):
        expected = "have annotations of all parameters and of the result"
        advice = "An annotation is a dtype or a capital letter."
        raise InvalidType(op, "function", function, expected, advice)
    expressions = function(*names)
    expressions = [expressions] if isinstance(expressions, str) else list(expressions)
    if len(expressions) != len(results):
        given = Description(f"{len(expressions)} expressions")
        raise InvalidArgument(
            op,
            "function",
            given,
            f"a function that returns {len(results)} expressions, as its annotation says",
        )
    for expression in expressions:
        check_text(op, "function", expression)
    outputs = [f"result_{n}" for n in range(len(results))]
    made = ElementwiseKernel(
        ", ".join(f"{_named(hint)} {name}" for hint, name in zip(hints, names, strict=True)),
        ", ".join(f"{_named(hint)} {name}" for hint, name in zip(results, outputs, strict=True)),
        "\n".join(f"{name} = {one};" for name, one in zip(outputs, expressions, strict=True)),
        function.__name__,
    )
    made.__doc__ = function.__doc__
    return made


def _annotated(hint: Any) -> Any:
    """An annotation, also of a module that keeps them as text: "np.float32", "('T', 'bool')"."""
    if not isinstance(hint, str):
        return hint
    names = re.findall(r"[\w.]+", hint)
    return tuple(names) if hint.startswith("(") else hint.strip("'\"")


def _named(hint: Any) -> str:
    """A dtype or a letter as it stands in a declaration; of ``np.float32`` as text the end."""
    if isinstance(hint, str):
        return hint.rpartition(".")[2]
    return str(getattr(hint, "name", None) or getattr(hint, "__name__", hint))
