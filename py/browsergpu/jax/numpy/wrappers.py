"""Functions of ``jax.numpy`` made of functions of NumPy's namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import numpy as np

from browsergpu.compat.numpy.coercion import OPERANDS
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import JAX, as_jax, unwrapped
from browsergpu.jax.arrays.operands import array, operand

#: The functions of the namespace by name.
FUNCTIONS: dict[str, Any] = {}
#: Arguments of NumPy's functions that JAX refuses too.
_REFUSED = ("out", "order", "subok", "casting", "like")
#: Names of array parameters beside those of NumPy's.
_ARRAYS = OPERANDS | {"x1", "x2", "c", "y"}


def public(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function under names, by default its own without a final underscore."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (function.__name__.removesuffix("_"),):
            FUNCTIONS[name] = function
        return function

    return decorate


def own(name: str) -> Any:
    """Return the function of browsergpu with a name, such as "linalg.norm"."""
    found = ABOVE.namespace
    for part in name.split("."):
        found = getattr(found, part)
    return found


def refuse(op: str, **given: Any) -> None:
    """Raise InvalidArgument for the first argument that is not None."""
    for name, value in given.items():
        if value is not None and value is not np._NoValue:
            raise InvalidArgument(op, name, value, "None", "browsergpu.jax has no other value.")


def general(name: str, of: str = "") -> Callable[..., Any]:
    """Return the function of a name, whose arguments and results are JAX arrays.

    Parameters
    ----------
    name : str
        JAX's name.
    of : str
        The name in browsergpu, such as "linalg.norm".
    """
    theirs = own(of or name)
    places, several = _array_places(theirs)

    def call(*args: Any, **options: Any) -> Any:
        for key in _REFUSED:
            if key in options:
                if options[key] is not None:
                    raise InvalidArgument(name, key, options[key], "None")
                del options[key]
        if "dtype" in options:
            options["dtype"] = dtypes.dtype_of(name, options["dtype"])
        given = [
            _coerced(name, x, at in places, at >= several, places.get(at, ""))
            for at, x in enumerate(args)
        ]  # fmt: skip
        named = {key: _coerced(name, x, key in _ARRAYS, False, key) for key, x in options.items()}
        return as_jax(theirs(*given, **named))

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = f"Return the result of ``browsergpu.{of or name}`` as JAX arrays."
    return call


def _array_places(function: Any) -> tuple[dict[int, str], int]:
    """Return the names of array parameters by place, and the first place of ``*arrays``."""
    try:
        known = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}, 2**31
    rest = [at for at, one in enumerate(known) if one.kind is Parameter.VAR_POSITIONAL]
    return (
        {at: one.name for at, one in enumerate(known) if one.name in _ARRAYS and at not in rest},
        rest[0] if rest else 2**31,
    )


def _coerced(op: str, x: Any, is_array: bool, may_be: bool, name: str = "") -> Any:
    if type(x) in JAX:
        return unwrapped(x)
    if is_array:
        return x if x is None or isinstance(x, str) else unwrapped(operand(op, x))
    if isinstance(x, np.ndarray) or may_be:
        return unwrapped(operand(op, x)) if _is_data(x) else x
    if isinstance(x, list | tuple):
        made = [_coerced(op, one, False, True) for one in x]
        return x._make(made) if hasattr(x, "_make") else type(x)(made)
    return unwrapped(x)


def _is_data(x: Any) -> bool:
    return isinstance(x, np.ndarray) or type(x) in JAX or hasattr(x, "__array_namespace__")


def of_arrays(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """Return a function that takes its first arguments as JAX arrays, and returns JAX arrays."""
    name = function.__name__

    def call(*args: Any, **options: Any) -> Any:
        given = [array(name, x) for x in args[:count]]
        return as_jax(function(*given, *args[count:], **options))

    return wraps(function)(call)


def enter(names: Iterable[str]) -> None:
    """Enter the functions of names as :func:`general` makes them."""
    for name in names:
        FUNCTIONS[name] = general(name)
