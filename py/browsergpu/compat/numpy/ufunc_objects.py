"""NumPy's universal functions as objects: ``browsergpu.add``, ``browsergpu.add.reduce``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, Self

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.variable import Variable
from browsergpu.arrays.numbers import PYTHON_TYPES
from browsergpu.compat.numpy.coercion import OnHostOnly, device_among, operand
from browsergpu.compat.numpy.docstrings import docstring
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.core.errors import InvalidType
from browsergpu.core.turns import exclusive
from browsergpu.functions.elementwise import OPERATIONS

#: Types of operands that need no conversion.
_READY = frozenset((Array, Variable))
#: In place of an input that was not given.
_NONE: Any = object()
_unary, _binary = exclusive(apply.unary), exclusive(apply.binary)


class Ufunc(partial[Any]):
    """A function of each element, with NumPy's arguments and methods.

    Calling it takes arrays, lists and numbers, which broadcast, and ``out``, ``where``, ``dtype``.
    It is a ``partial`` of nothing because C code calls those: a ``__call__`` in Python costs an
    operation 0.2 µs more in a page.
    """

    def __new__(
        cls, theirs: np.ufunc, own: Callable[..., Any] | None, dispatch: Callable[..., Any]
    ) -> Self:
        made = super().__new__(cls, _call(theirs.nin, own, lambda *given: made._called(*given)))
        return made

    def __init__(
        self, theirs: np.ufunc, own: Callable[..., Any] | None, dispatch: Callable[..., Any]
    ) -> None:
        self._theirs = theirs
        self._own = own
        self._dispatch = dispatch
        known = [*signature(own).parameters.values()] if own else []
        #: Arguments beside NumPy's, as ``precision`` of matmul.
        self._further = frozenset(one.name for one in known if one.kind is one.KEYWORD_ONLY)
        self.__name__ = theirs.__name__
        self.__module__ = "browsergpu"  # where pickle finds it
        self.__signature__ = _signature(theirs, known)
        self.__doc__ = (own and own.__doc__) or docstring(theirs.__name__, theirs)

    def __repr__(self) -> str:
        return f"<ufunc 'browsergpu.{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def is_on_gpu(self) -> bool:
        """Whether the GPU computes it, and not NumPy on the host."""
        return self._own is not None

    @property
    def nin(self) -> int:
        """The number of inputs."""
        return self._theirs.nin

    @property
    def nout(self) -> int:
        """The number of outputs."""
        return self._theirs.nout

    @property
    def nargs(self) -> int:
        """The number of inputs and outputs."""
        return self._theirs.nargs

    @property
    def identity(self) -> Any:
        """The number that changes nothing, or None."""
        return self._theirs.identity

    @property
    def signature(self) -> str | None:
        """The core dimensions of a generalized function, or None."""
        return self._theirs.signature

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = np._NoValue, where: Any = True,
    ) -> Any:  # fmt: skip
        """Bring the elements along axes together, as ``numpy.ufunc.reduce``."""
        options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims,
                   "initial": initial, "where": where}  # fmt: skip
        return self._called("reduce", (array,), _given(options))

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results of bringing ever more elements together, as ``numpy.ufunc.accumulate``."""
        options = {"axis": axis, "dtype": dtype, "out": out}
        return self._called("accumulate", (array,), _given(options))

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of each element of one array with each of another."""
        return self._called("outer", (A, B), options)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Bring the elements between indices together, as ``numpy.ufunc.reduceat``."""
        options = {"axis": axis, "dtype": dtype, "out": out}
        return self._called("reduceat", (array, indices), _given(options))

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Change the elements at indices in place, one time for each index that is there."""
        if not isinstance(a, Array):
            if b is None:
                self._theirs.at(a, indices)
            else:
                self._theirs.at(a, indices, b)
            return
        self._called("at", (a, indices) if b is None else (a, indices, b), {})

    def _called(self, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        nin = self._theirs.nin
        if method == "__call__" and not nin <= len(inputs) <= self._theirs.nargs:
            raise InvalidType(
                self.__name__, "inputs", len(inputs), f"{nin} arrays, and the outputs if wanted"
            )
        if method == "__call__" and len(inputs) > nin:
            options = {**options, "out": inputs[nin:]}
            inputs = inputs[:nin]
        out = options.get("out")
        if out is not None and not isinstance(out, tuple):
            options = {**options, "out": (out,)}
        operands = inputs[:1] if method == "at" else inputs
        device = device_among(operands)
        try:
            own = [operand(x, device, device is None and at == 0) for at, x in enumerate(operands)]
        except OnHostOnly:
            call = self._theirs if method == "__call__" else getattr(self._theirs, method)
            return on_host(f"np.{self.__name__}", call, inputs, options)
        if options and self._further.issuperset(options) and method == "__call__":
            return self._own(*own, **options)  # type: ignore[misc]
        return self._dispatch(self._theirs, method, (*own, *inputs[len(own) :]), options)


def _call(
    nin: int, own: Callable[..., Any] | None, called: Callable[..., Any]
) -> Callable[..., Any]:
    """Return what calls a function of so many inputs, ``own`` on arrays of the GPU.

    It is called for each operation, so arrays and numbers take the shortest way.
    """

    def call(*inputs: Any, **options: Any) -> Any:
        return called("__call__", inputs, options)

    if own is None:
        return call
    operation = OPERATIONS.get(own)

    def of_one(x: Any = _NONE, /, *more: Any, **options: Any) -> Any:
        if not more and not options:
            kind = type(x)
            if kind is Array and operation is not None:
                return _unary(operation, x)
            if kind in _READY:
                return own(x)
        return called("__call__", () if x is _NONE else (x, *more), options)

    def of_two(a: Any = _NONE, b: Any = _NONE, /, *more: Any, **options: Any) -> Any:
        if not more and not options:
            first, second = type(a), type(b)
            if first is second is Array and operation is not None:
                return _binary(operation, a, b)
            if first in _READY and (second in _READY or second in PYTHON_TYPES):
                return own(a, b)
            if first in PYTHON_TYPES and second in _READY:
                return own(a, b)
        inputs = tuple([x for x in (a, b) if x is not _NONE])
        return called("__call__", (*inputs, *more), options)

    return {1: of_one, 2: of_two}.get(nin, call)


def _signature(theirs: np.ufunc, known: Iterable[Parameter]) -> Signature:
    """NumPy's parameters, and what there is beside them."""
    single = theirs.nin == 1
    inputs = ["x"] if single else [f"x{n + 1}" for n in range(theirs.nin)]
    options = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
    return Signature([
        *(Parameter(name, Parameter.POSITIONAL_ONLY) for name in inputs),
        Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=None),
        *(Parameter(name, Parameter.KEYWORD_ONLY, default=one) for name, one in options.items()),
        *(one for one in known if one.kind is one.KEYWORD_ONLY),
    ])  # fmt: skip


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are not NumPy's defaults; axis always counts."""
    defaults = {"dtype": None, "out": None, "keepdims": False, "initial": np._NoValue}
    return {
        name: value for name, value in options.items()
        if not (name in defaults and value is defaults[name])
        and not (name == "where" and value is True)
    }  # fmt: skip
