"""Custom reductions in WGSL or C, with CuPy's interface."""

from __future__ import annotations

from typing import Any

from browsergpu.arrays.apply import cast_to, full_node
from browsergpu.arrays.array import Array
from browsergpu.arrays.numbers import words_of
from browsergpu.arrays.reduce import by_halves, reduced_by
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.c_text.translation import is_wgsl
from browsergpu.engine.kernels.c_text.tree import CError
from browsergpu.engine.kernels.fused.custom import ONE
from browsergpu.engine.kernels.fused.operations import overload_of
from browsergpu.engine.kernels.fused.reduction import WIDE
from browsergpu.engine.kernels.fused.reduction_plan import Reducer
from browsergpu.functions.custom.declarations import (
    Parameter,
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

_OUT = "own_out"  # the variable that each expression is assigned to


class ReductionKernel:
    """A custom reduction over axes, in WGSL or C.

    Parameters
    ----------
    in_params, out_params : str
        Declarations, such as ``"float32 x, T y"``, without ``raw``.
    map_expr : str
        An expression of the inputs.
    reduce_expr : str
        An expression of two mapped values ``a`` and ``b``. It must be associative and commutative.
    post_map_expr : str
        A statement that assigns the reduced value ``a`` to the output.
    identity : number, str or None
        The value of no elements. It may be combined any number of times. None means that there is
        none.
    name : str, optional
        The kernel's name in profiles and errors.
    reduce_type : dtype, optional
        The dtype of ``a`` and ``b``. That of the first output by default.
    reduce_dims : bool, optional
        Has no effect.
    preamble : str, optional
        Functions and constants for the expressions.
    options : tuple
        CuPy's compiler options. Refused unless empty.

    Raises
    ------
    InvalidArgument
        If a declaration is invalid, or C cannot be translated.

    Notes
    -----
    Pairs are combined in any order. The kernel that maps the inputs also reduces them. Without an
    identity, each kernel halves the number of elements.

    Examples
    --------
    The norm of rows::

        norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", 0, "norm")
        y = norm(x, axis=1)
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
        reduce_type: Any = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Any = (),
    ) -> None:
        op = "ReductionKernel"
        checks.flag(op, "reduce_dims", reduce_dims)
        refuse_options(op, options=options)
        check_name(op, name)
        self._inputs = parameters(op, "in_params", in_params)
        self._outputs = parameters(op, "out_params", out_params)
        declared = (*self._inputs, *self._outputs)
        check_names(op, declared)
        for argument, one in (("in_params", self._inputs), ("out_params", self._outputs)):
            if not one or any(each.is_raw for each in one):
                raise InvalidArgument(op, argument, declared, "have parameters, none of them raw")
        letters = letters_of(declared)
        for argument, text in (
            ("map_expr", map_expr), ("reduce_expr", reduce_expr), ("post_map_expr", post_map_expr),
        ):  # fmt: skip
            check_text(op, argument, text, letters)
        check_preamble(op, preamble, letters)
        self._preamble = preamble
        check_letters(op, self._inputs, self._outputs)
        kind = self._outputs[0].kind
        if reduce_type is not None:
            kind = parameters(op, "reduce_type", f"{reduce_type} a")[0].kind
        self._reduced = Parameter("a", kind)
        check_letters(op, self._inputs, (self._reduced,))
        check_names(op, (self._reduced, *self._outputs))
        #: The kernel's name in profiles, ``explain`` and errors.
        self.name = name
        self._map, self._reduce, self._post = map_expr, reduce_expr, post_map_expr
        self._identity = None if identity is None else _number(op, identity)

    @exclusive
    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False
    ) -> Any:
        """Reduce arrays and numbers, which broadcast to one shape.

        Parameters
        ----------
        *args : Array or number
            The inputs, with at least one array.
        out : Array or tuple of Array, optional
            Arrays that the results are assigned to.
        axis : int or tuple of int, optional
            The axes. All by default.
        keepdims : bool, optional
            Whether the reduced axes stay, with extent 1.

        Returns
        -------
        Array or tuple of Array
            The outputs.

        Raises
        ------
        InvalidArgument
            If there are no elements and no identity, or ``out`` does not fit.
        InvalidType
            If an input has another dtype than declared.
        """
        try:
            found = self._reduced_over(args, axis, keepdims)
        except CError as error:
            raise not_understood(self.name, "operation", error) from None
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            if len(targets) != len(found):
                raise InvalidArgument(self.name, "out", out, f"{len(found)} arrays")
            for target, one in zip(targets, found, strict=True):
                if not isinstance(target, Array) or target.shape != one.shape:
                    raise InvalidArgument(
                        self.name, "out", target, f"an array of shape {one.shape}"
                    )
                target[...] = one
            found = targets
        return found[0] if len(found) == 1 else found

    def _reduced_over(self, args: Any, axis: Any, keepdims: bool) -> tuple[Array, ...]:
        values, kinds = arguments(self.name, self._inputs, args)
        letters = bound_letters(self._inputs, kinds)
        (kind,) = of_letters((self._reduced,), letters)
        results = tuple(
            Parameter(x.name, y)
            for x, y in zip(self._outputs, of_letters(self._outputs, letters), strict=True)
        )
        value = f"{_OUT} = {self._map}"
        if is_wgsl(self._map):
            value = f"{_OUT} = {_converted(self._map, kind)}"
        mapped = self._applied(self._inputs, (Parameter(_OUT, kind),), value, values, kinds)[0]
        axes = shapes.axes(self.name, "axis", axis, mapped.ndim)
        shape = shapes.without(mapped.shape, axes, keepdims=keepdims)
        if 0 in (mapped.shape[n] for n in axes):
            if self._identity is None:
                raise InvalidArgument(self.name, "args", mapped, "have elements to reduce")
            total = mapped.like(full_node(mapped.tracer, shape, kind, self._identity))
        else:
            total = self._reduction(mapped, axes, shape)
        return self._applied((self._reduced,), results, self._post, [total], [total.node.kind])

    def _reduction(self, mapped: Array, axes: tuple[int, ...], shape: shapes.Shape) -> Array:
        """Reduce the mapped values in the 32-bit type that they are computed in."""
        wide = WIDE[mapped.node.kind.computed]
        pair = self._reduced, Parameter("b", self._reduced.kind)
        if isinstance(self._reduced.kind, ElementType):
            pair = Parameter("a", wide), Parameter("b", wide)
        out, text = (Parameter(_OUT, wide),), f"{_OUT} = {self._reduce}"
        if self._identity is None:
            return by_halves(
                lambda x, y: self._applied(pair, out, text, [x, y], [wide, wide])[0],
                cast_to(self.name, mapped, wide, copy=False), axes, shape,
            )  # fmt: skip
        (operation,) = operations_of(self.name, pair, out, text, preamble=self._preamble)
        made = overload_of(operation, (wide, wide))
        assert made is not None
        nothing = words_of(self._identity, wide)
        return reduced_by(mapped, Reducer(self.name, made, nothing), axes, shape)

    def _applied(
        self,
        inputs: tuple[Parameter, ...],
        outputs: tuple[Parameter, ...],
        body: str,
        values: list[Any],
        kinds: list[ElementType],
    ) -> tuple[Array, ...]:
        made = operations_of(self.name, inputs, outputs, body, preamble=self._preamble)
        return applied(self.name, made, values, kinds)

    def __repr__(self) -> str:
        return f"<ReductionKernel {self.name}>"


def _converted(expression: str, kind: ElementType) -> str:
    """Convert an expression to the reduced type, on the same lines."""
    # The line break ends a comment at the end of the expression.
    return expression if kind.computed == "c" else f"{ONE[kind.computed]}({expression}\n)"


def _number(op: str, value: Any) -> Any:
    """Return a number, also from CuPy's form as text."""
    if isinstance(value, str):
        for kind in (int, float, complex):
            try:
                return kind(value)
            except ValueError:
                continue
    if isinstance(value, bool | int | float | complex):
        return value
    raise InvalidType(op, "identity", value, "a number, its text, or None")
