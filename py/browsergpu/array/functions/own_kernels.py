"""Kernels of one's own on arrays, by CuPy's names: WGSL for one element, or for a reduction."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from browsergpu.array import reducing
from browsergpu.array.apply import full_node, recorded
from browsergpu.array.array import Array
from browsergpu.array.declarations import (
    Parameter,
    arguments,
    bound_letters,
    check_names,
    of_letters,
    parameters,
)
from browsergpu.core import shapes
from browsergpu.core.element_types import ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.kernels.fused.operations import Operation, Types, overload_of
from browsergpu.kernels.fused.written import ONE, Typed, operations

_NAME = re.compile(r"[A-Za-z_]\w*")


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
        _check_text(op, "operation", operation)
        _check_name(op, name)
        self._inputs = parameters(op, "in_params", in_params)
        outputs = parameters(op, "out_params", out_params)
        check_names(op, (*self._inputs, *outputs))
        _check_letters(op, self._inputs, outputs)
        #: What profiles, ``explain`` and errors call it.
        self.name = name
        self._operations = _operations(name, self._inputs, outputs, operation)

    def __call__(self, *args: Any) -> Any:
        """The results for arrays and numbers that broadcast to one shape; one at least is an
        array."""
        values, kinds = arguments(self.name, self._inputs, args)
        like = next(value for value in values if isinstance(value, Array))
        found = tuple(
            recorded(self.name, like, made, values, kinds)
            for operation in self._operations
            if (made := overload_of(operation, tuple(kinds))) is not None
        )
        return found[0] if len(found) == 1 else found

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def kernel(function: Callable[..., Any], /) -> ElementwiseKernel:
    """Makes an :class:`ElementwiseKernel` of a function that returns WGSL: its parameters'
    annotations are their types, and what it returns is an expression for the output, of the type
    of its return annotation, or a tuple of expressions for a tuple of types::

        @browsergpu.kernel
        def axpy(a: "float32", x: "T", y: "T") -> "T":
            return "a * x + y"

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
        expected = "annotations of all parameters and of the result: dtypes, or capital letters"
        raise InvalidType(op, "function", function, expected)
    expressions = function(*names)
    expressions = [expressions] if isinstance(expressions, str) else list(expressions)
    if len(expressions) != len(results):
        given = f"{len(expressions)} expressions"
        raise InvalidArgument(op, "function", given, f"{len(results)}, as its annotation has")
    for expression in expressions:
        _check_text(op, "function", expression)
    outputs = [f"result_{n}" for n in range(len(results))]
    made = ElementwiseKernel(
        ", ".join(f"{_named(hint)} {name}" for hint, name in zip(hints, names, strict=True)),
        ", ".join(f"{_named(hint)} {name}" for hint, name in zip(results, outputs, strict=True)),
        "\n".join(f"{name} = {one};" for name, one in zip(outputs, expressions, strict=True)),
        function.__name__,
    )
    made.__doc__ = function.__doc__
    return made


class ReductionKernel:
    """A reduction over some axes, in WGSL.

    ``map_expr`` is an expression of the inputs, ``reduce_expr`` one of two such values ``a`` and
    ``b``, and ``post_map_expr`` a statement that assigns what ``a`` has become to the output;
    ``identity`` is the value of no elements (None: there is none). ``reduce_type`` is the dtype of
    ``a`` and ``b``, that of the first output if it is None::

        norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", 0, "norm")
        y = norm(x, axis=1)

    Pairs are brought together by halves in any order: ``reduce_expr`` is to be associative and
    commutative. It takes a kernel for each halving.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        *,
        reduce_type: Any = None,
    ) -> None:
        op = "ReductionKernel"
        for argument, text in (
            ("map_expr", map_expr), ("reduce_expr", reduce_expr), ("post_map_expr", post_map_expr),
        ):  # fmt: skip
            _check_text(op, argument, text)
        _check_name(op, name)
        self._inputs = parameters(op, "in_params", in_params)
        self._outputs = parameters(op, "out_params", out_params)
        check_names(op, (*self._inputs, *self._outputs))
        _check_letters(op, self._inputs, self._outputs)
        kind = self._outputs[0].kind
        if reduce_type is not None:
            kind = parameters(op, "reduce_type", f"{reduce_type} a")[0].kind
        self._reduced = Parameter("a", kind)
        _check_letters(op, self._inputs, (self._reduced,))
        #: What profiles, ``explain`` and errors call it.
        self.name = name
        self._map, self._reduce, self._post = map_expr, reduce_expr, post_map_expr
        self._identity = None if identity is None else _number(op, identity)

    def __call__(self, *args: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """The results for arrays and numbers that broadcast to one shape, over some of its axes or
        all. Raises InvalidArgument, a ValueError, where there are no elements and no identity."""
        values, kinds = arguments(self.name, self._inputs, args)
        letters = bound_letters(self._inputs, kinds)
        (kind,) = of_letters((self._reduced,), letters)
        results = tuple(
            Parameter(x.name, y)
            for x, y in zip(self._outputs, of_letters(self._outputs, letters), strict=True)
        )
        pair = self._reduced, Parameter("b", self._reduced.kind)
        out = Parameter("out", kind)
        value = f"out = {_converted(self._map, kind)}"
        mapped = self._applied(self._inputs, (out,), value, values, kinds)[0]
        axes = shapes.axes(self.name, "axis", axis, mapped.ndim)
        shape = shapes.without(mapped.shape, axes, keepdims=keepdims)
        if 0 in (mapped.shape[n] for n in axes):
            if self._identity is None:
                raise InvalidArgument(self.name, "args", mapped.shape, "elements to reduce")
            total = mapped.like(full_node(mapped.tape, shape, kind, self._identity))
        else:
            combined = f"out = {self._reduce}"
            total = reducing.folded(
                lambda x, y: self._applied(pair, (out,), combined, [x, y], [kind, kind])[0],
                mapped, axes, shape,
            )  # fmt: skip
        found = self._applied(pair[:1], results, self._post, [total], [kind])
        return found[0] if len(found) == 1 else found

    def _applied(
        self,
        inputs: tuple[Parameter, ...],
        outputs: tuple[Parameter, ...],
        body: str,
        values: list[Any],
        kinds: list[ElementType],
    ) -> tuple[Array, ...]:
        like = next(value for value in values if isinstance(value, Array))
        return tuple(
            recorded(self.name, like, made, values, kinds)
            for operation in _operations(self.name, inputs, outputs, body)
            if (made := overload_of(operation, tuple(kinds))) is not None
        )

    def __repr__(self) -> str:
        return f"<ReductionKernel {self.name}>"


@lru_cache(maxsize=1024)
def _operations(
    name: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...], body: str
) -> tuple[Operation, ...]:
    """The same text gives the same operations, so that its kernels are compiled once."""

    def typed(types: Types) -> Typed:
        letters = bound_letters(inputs, types)
        return Typed(of_letters(outputs, letters), letters)

    return operations(
        name, tuple(one.name for one in inputs), tuple(one.name for one in outputs), body, typed
    )


def _converted(expression: str, kind: ElementType) -> str:
    """An expression as the type of what is reduced, on the lines that it has."""
    return expression if kind.computed == "c" else f"{ONE[kind.computed]}({expression})"


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


def _number(op: str, value: Any) -> Any:
    """A number, or the text of one, as CuPy has it."""
    if isinstance(value, str):
        for kind in (int, float, complex):
            try:
                return kind(value)
            except ValueError:
                continue
    if isinstance(value, bool | int | float | complex):
        return value
    raise InvalidType(op, "identity", value, "a number, its text, or None")


def _check_text(op: str, argument: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InvalidType(op, argument, value, "WGSL as text")


def _check_name(op: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidType(op, "name", name, "a name of letters, digits and _")


def _check_letters(op: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...]) -> None:
    known = {one.kind for one in inputs}
    for one in outputs:
        if isinstance(one.kind, str) and one.kind not in known:
            expected = "a letter that stands at an input, too, or a dtype"
            raise InvalidArgument(op, "out_params", one.kind, expected)
