"""Ufunc objects such as ``browsergpu.add``, with methods such as ``browsergpu.add.reduce``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, Self

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import ARRAYS
from browsergpu.arrays.numbers import PYTHON_TYPES
from browsergpu.compat.numpy.coercion import OnHostOnly, device_among, operand
from browsergpu.compat.numpy.docstrings import docstring
from browsergpu.compat.numpy.fallback import on_host
from browsergpu.engine.core.errors import InvalidType
from browsergpu.engine.core.turns import exclusive
from browsergpu.functions.elementwise import OPERATIONS

#: The default of an omitted input.
_NONE: Any = object()
_unary, _binary = exclusive(apply.unary), exclusive(apply.binary)


class Ufunc(partial[Any]):
    """An elementwise function, with the arguments and methods of ``numpy.ufunc``.

    It takes arrays, lists and numbers, which broadcast, and ``out``, ``where`` and ``dtype``.

    Notes
    -----
    It subclasses ``partial`` for speed, because C code calls a partial. A ``__call__`` in Python
    adds 0.2 µs to each operation in a page.
    """

    def __new__(
        cls, theirs: np.ufunc, own: Callable[..., Any] | None, dispatch: Callable[..., Any]
    ) -> Self:
        made = super().__new__(
            cls, _entry_point(theirs.nin, own, lambda *given: made._general_call(*given))
        )
        return made

    def __init__(
        self, theirs: np.ufunc, own: Callable[..., Any] | None, dispatch: Callable[..., Any]
    ) -> None:
        self._theirs = theirs
        self._own = own
        self._dispatch = dispatch
        known = [*signature(own).parameters.values()] if own else []
        #: Keyword arguments that NumPy does not have, such as ``precision`` of matmul.
        self._further = frozenset(one.name for one in known if one.kind is one.KEYWORD_ONLY)
        self.__name__ = theirs.__name__
        self.__module__ = "browsergpu"  # for pickle
        self.__signature__ = _signature(theirs, known)
        self.__doc__ = (own and own.__doc__) or docstring(theirs.__name__, theirs)

    def __repr__(self) -> str:
        return f"<ufunc 'browsergpu.{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def is_on_gpu(self) -> bool:
        """Whether there is a GPU implementation. Otherwise NumPy computes it on the host."""
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
        """The identity element, or None."""
        return self._theirs.identity

    @property
    def signature(self) -> str | None:
        """The core dimensions of a generalized function, or None."""
        return self._theirs.signature

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = np._NoValue, where: Any = True,
    ) -> Any:  # fmt: skip
        """Reduce an array along axes, as ``numpy.ufunc.reduce``."""
        options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims,
                   "initial": initial, "where": where}  # fmt: skip
        return self._general_call("reduce", (array,), _given(options))

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Return the cumulative results along an axis, as ``numpy.ufunc.accumulate``."""
        options = {"axis": axis, "dtype": dtype, "out": out}
        return self._general_call("accumulate", (array,), _given(options))

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Apply the function to all pairs of elements, as ``numpy.ufunc.outer``."""
        return self._general_call("outer", (A, B), options)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Reduce the slices between indices, as ``numpy.ufunc.reduceat``."""
        options = {"axis": axis, "dtype": dtype, "out": out}
        return self._general_call("reduceat", (array, indices), _given(options))

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Apply the function in place at indices, as ``numpy.ufunc.at``.

        Repeated indices apply it repeatedly.
        """
        if not isinstance(a, Array):
            if b is None:
                self._theirs.at(a, indices)
            else:
                self._theirs.at(a, indices, b)
            return
        self._general_call("at", (a, indices) if b is None else (a, indices, b), {})

    def _general_call(self, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        nin = self._theirs.nin
        if method == "__call__" and not nin <= len(inputs) <= self._theirs.nargs:
            raise InvalidType(
                self.__name__, "inputs", len(inputs), f"{nin} arrays and optional outputs"
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


def _entry_point(
    nin: int, own: Callable[..., Any] | None, called: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the function that a call of a ufunc with ``nin`` inputs runs.

    It has fast paths for arrays and numbers, because each operation calls it.

    Parameters
    ----------
    nin : int
        The number of inputs.
    own : callable or None
        The GPU implementation.
    called : callable
        Handles all other calls.
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
            if kind in ARRAYS:
                return own(x)
        return called("__call__", () if x is _NONE else (x, *more), options)

    def of_two(a: Any = _NONE, b: Any = _NONE, /, *more: Any, **options: Any) -> Any:
        if not more and not options:
            first, second = type(a), type(b)
            if first is second is Array and operation is not None:
                return _binary(operation, a, b)
            if first in ARRAYS and (second in ARRAYS or second in PYTHON_TYPES):
                return own(a, b)
            if first in PYTHON_TYPES and second in ARRAYS:
                return own(a, b)
        inputs = tuple([x for x in (a, b) if x is not _NONE])
        return called("__call__", (*inputs, *more), options)

    return {1: of_one, 2: of_two}.get(nin, call)


def _signature(theirs: np.ufunc, known: Iterable[Parameter]) -> Signature:
    """Return the signature: NumPy's parameters and further keyword arguments of ``known``."""
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
    """Return the options that differ from NumPy's defaults. ``axis`` is always included."""
    defaults = {"dtype": None, "out": None, "keepdims": False, "initial": np._NoValue}
    return {
        name: value for name, value in options.items()
        if not (name in defaults and value is defaults[name])
        and not (name == "where" and value is True)
    }  # fmt: skip
