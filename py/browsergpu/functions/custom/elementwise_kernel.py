"""Custom elementwise kernels in WGSL or C, with CuPy's interface."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.c_text.tree import CError
from browsergpu.engine.kernels.fused.operations import Operation
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


class ElementwiseKernel:
    """A custom elementwise function, in WGSL or C.

    Parameters
    ----------
    in_params, out_params : str
        Declarations, such as ``"float32 x, T y"``. Types are NumPy's dtype names, or capital
        letters, each of which stands for one type. ``raw T x`` is an array that the operation
        indexes: ``x[i + 1]``.
    operation : str
        Statements that assign to the outputs, in WGSL or C.
    name : str, optional
        The kernel's name in profiles and errors.
    reduce_dims : bool, optional
        Has no effect. Axes are always merged if possible.
    preamble : str, optional
        Functions and constants that the operation uses, in WGSL or C.
    no_return : bool, optional
        Whether calls return None.
    return_tuple : bool, optional
        Whether calls return a tuple even for a single output.
    loop_prep, after_loop, options : optional
        CuPy's options for CUDA. Refused unless empty.

    Raises
    ------
    InvalidArgument
        If a declaration is invalid, or C cannot be translated. The error names the line.

    Notes
    -----
    In WGSL, floats are f32, also float16. Integers are i32 and u32, and complex numbers vec2f.
    ``i`` is the index of the element in the result, a u32.

    C may have declarations, assignments, ``if``, ``for``, ``while``, ``?:``, casts and the
    functions of ``math.h``. ``double`` is float32, and ``i`` is an int.

    Calls broadcast arrays and numbers, and are fused with neighboring operations. Several outputs
    are a tuple. Arrays of other dtypes than declared raise TypeError. WGSL that does not compile
    raises ShaderCompilation when values are read, with the kernel's name and the line.

    Examples
    --------
    The distance of two arrays::

        distance = ElementwiseKernel("T x, T y", "T z", "z = abs(x - y)", "distance")
        z = distance(a, b)
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
        #: The kernel's name in profiles, ``explain`` and errors.
        self.name = name
        self._text, self._preamble = operation, preamble
        self._gives_tuple, self._gives_nothing = return_tuple, no_return

    @exclusive
    def __call__(self, *args: Any, size: Any = None) -> Any:
        """Apply the kernel to arrays and numbers, which broadcast to one shape.

        Parameters
        ----------
        *args : Array or number
            The inputs, with at least one array unless ``size`` is given. Arrays for the outputs may
            follow, and the results are written into them.
        size : int, optional
            Number of elements. Only if all arrays are raw.

        Returns
        -------
        Array, tuple of Array or None
            The outputs.

        Raises
        ------
        InvalidType
            If an input has another dtype than declared.
        InvalidArgument
            If the shapes do not broadcast, or ``size`` is missing or not allowed.
        """
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
                expected = "have an array for each output whose dtype is not declared"
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
    """Create an :class:`ElementwiseKernel` from a function that returns WGSL.

    The function is called once, with the names of its parameters.

    Parameters
    ----------
    function : callable
        Annotations of parameters are their types. The function returns an expression for the
        output, of the type of the return annotation. Or it returns a tuple of expressions for a
        tuple of types.

    Returns
    -------
    ElementwiseKernel
        The kernel.

    Raises
    ------
    InvalidType
        If ``function`` is not callable, or annotations are missing.
    InvalidArgument
        If the number of expressions does not match the return annotation.

    Examples
    --------
    A scaled sum of two arrays::

        @browsergpu.kernel
        def axpy(a: "float32", x: "T", y: "T") -> "T":
            return "T(a) * x + y"
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
    """Return an annotation, also if a module keeps it as text: "np.float32", "('T', 'bool')"."""
    if not isinstance(hint, str):
        return hint
    names = re.findall(r"[\w.]+", hint)
    return tuple(names) if hint.startswith("(") else hint.strip("'\"")


def _named(hint: Any) -> str:
    """Return a dtype or letter as in a declaration, of "np.float32" the last part."""
    if isinstance(hint, str):
        return hint.rpartition(".")[2]
    return str(getattr(hint, "name", None) or getattr(hint, "__name__", hint))
