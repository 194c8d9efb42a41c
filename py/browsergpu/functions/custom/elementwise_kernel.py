"""Elementwise kernels of one's own on arrays, by CuPy's name: WGSL for one element."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.core import checks
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.showing import Description
from browsergpu.core.turns import exclusive
from browsergpu.functions.custom import places
from browsergpu.functions.custom.declarations import (
    arguments,
    bound_letters,
    check_names,
    of_letters,
    parameters,
)
from browsergpu.functions.custom.operations import (
    applied,
    check_letters,
    check_name,
    check_preamble,
    check_text,
    letters_of,
    not_understood,
    operations_of,
    refuse_options,
)
from browsergpu.kernels.c_text.tree import CError
from browsergpu.kernels.fused.operations import Operation


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

    The operation may be C, as for CuPy, as far as it has a meaning in WGSL: declarations,
    assignments, ``if``, ``for``, ``while``, ``?:``, casts and the functions of ``math.h``. C that
    cannot be translated raises InvalidArgument with its line. ``double`` is float32, and ``i`` is
    an int.

    Parameters
    ----------
    in_params, out_params : str
        Declarations. ``raw T x`` is an array that the operation indexes: ``x[i + 1]``.
    operation : str
        Statements, in WGSL or C.
    name : str, optional
        The kernel's name in profiles and errors.
    reduce_dims : bool, optional
        Taken as in CuPy. Axes are always merged where they can be.
    preamble : str, optional
        Functions and constants that the operation uses, in WGSL or C.
    no_return : bool, optional
        True has calls give None.
    return_tuple : bool, optional
        True has calls give a tuple also of one output.
    loop_prep, after_loop, options : optional
        CUDA's, refused.
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel",
        reduce_dims: bool = True, preamble: str = "", no_return: bool = False,
        return_tuple: bool = False, *, loop_prep: str = "", after_loop: str = "", options: Any = (),
    ) -> None:  # fmt: skip
        op = "ElementwiseKernel"
        check_name(op, name)
        for argument, flag in (
            ("reduce_dims", reduce_dims), ("no_return", no_return), ("return_tuple", return_tuple),
        ):  # fmt: skip
            checks.flag(op, argument, flag)
        refuse_options(op, loop_prep=loop_prep, after_loop=after_loop, options=options)
        self._inputs = parameters(op, "in_params", in_params)
        self._outputs = parameters(op, "out_params", out_params)
        declared = (*self._inputs, *self._outputs)
        check_names(op, declared)
        if not self._outputs:
            raise InvalidArgument(op, "out_params", out_params, "have at least one output")
        self._is_raw = any(one.is_raw for one in declared)
        if not self._is_raw:
            check_letters(op, self._inputs, self._outputs)
        letters = letters_of(declared)
        check_text(op, "operation", operation, letters)
        check_preamble(op, preamble, letters)
        #: What profiles, ``explain`` and errors call it.
        self.name = name
        self._text, self._preamble = operation, preamble
        self._gives_tuple, self._gives_nothing = return_tuple, no_return

    @exclusive
    def __call__(self, *args: Any, size: Any = None) -> Any:
        """The results for arrays and numbers that broadcast to one shape. One at least is an array,
        unless ``size`` says how many elements there are. Arrays for the outputs may follow: the
        results are written into them."""
        op = self.name
        count = None if size is None else checks.integer(op, "size", size)
        has_outputs = len(args) == len(self._inputs) + len(self._outputs)
        try:
            if self._is_raw or has_outputs or count is not None:
                found = self._by_places(args, has_outputs, count)
            else:
                values, kinds = arguments(op, self._inputs, args)
                found = applied(op, self._operations, values, kinds)
        except CError as error:
            raise not_understood(op, "operation", error) from None
        if self._gives_nothing:
            return None
        return found[0] if len(found) == 1 and not self._gives_tuple else found

    @property
    def _operations(self) -> tuple[Operation, ...]:
        return operations_of(
            self.name, self._inputs, self._outputs, self._text, preamble=self._preamble
        )

    def _by_places(self, args: Any, has_outputs: bool, size: int | None) -> tuple[Array, ...]:
        op = self.name
        declared = (*self._inputs, *(self._outputs if has_outputs else ()))
        values, kinds = arguments(op, declared, args, needs_array=False)
        letters = bound_letters(declared, kinds)
        for one in self._outputs:
            if isinstance(one.kind, str) and one.kind not in letters:
                expected = "have an array for each output, as nothing else says its dtype"
                raise InvalidArgument(op, "args", Description("none"), expected)
        given = None
        if has_outputs:
            given = values[len(self._inputs) :]
            for one, value in zip(self._outputs, given, strict=True):
                if not isinstance(value, Array):
                    raise InvalidType(op, one.name, value, "an array on the GPU")
        kinds = [*kinds[: len(self._inputs)], *of_letters(self._outputs, letters)]
        return places.run(
            op, self._inputs, self._outputs, kinds, values[: len(self._inputs)], given, letters,
            self._text, self._preamble, size,
        )  # fmt: skip

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
