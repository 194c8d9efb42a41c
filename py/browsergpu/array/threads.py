"""Arrays in several threads, outside a page: their functions and methods take turns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from types import FunctionType, ModuleType
from typing import Any

from browsergpu.core.turns import TURN, in_turn

#: What an array is made and forgotten with, which is one step each, and what it is.
_NEED_NONE = {
    "__init__", "__del__", "__array_namespace__", "shape", "dtype", "ndim", "size", "itemsize",
    "nbytes", "device",
}  # fmt: skip


def take_turns(modules: Iterable[ModuleType], classes: Iterable[type]) -> None:
    """Makes the functions of modules that are of arrays, and the methods of classes, take turns.

    They are replaced where users find them and where they are defined, as pickle looks for them
    there; what they call among themselves is as it was."""
    for module in modules:
        for name, found in list(vars(module).items()):
            if isinstance(found, FunctionType) and found.__module__.startswith(f"{__package__}."):
                made = _taking(found)
                setattr(module, name, made)
                home = sys.modules[found.__module__]
                if vars(home).get(name) is found:
                    setattr(home, name, made)
    for one in classes:
        for name, found in list(vars(one).items()):
            is_private = name.startswith("_") and not name.startswith("__")
            if name in _NEED_NONE or is_private:  # which is called by what has the turn
                continue
            if isinstance(found, FunctionType):
                setattr(one, name, _taking(found))
            elif isinstance(found, property) and found.fget is not None:
                setter = found.fset and _taking(found.fset)
                setattr(one, name, property(_taking(found.fget), setter, doc=found.__doc__))


def _taking(work: Callable[..., Any]) -> Callable[..., Any]:
    if iscoroutinefunction(work):

        @wraps(work)
        async def steps(*args: Any, **options: Any) -> Any:
            return await in_turn(work(*args, **options))

        return steps

    kinds = [parameter.kind for parameter in signature(work).parameters.values()]
    if work.__name__.startswith("__") and kinds == [Parameter.POSITIONAL_OR_KEYWORD] * 2:
        # An operator: arguments that are packed and unpacked would cost as much as the turn.
        @wraps(work)
        def of_two(a: Any, b: Any, /) -> Any:
            with TURN:
                return work(a, b)

        return of_two

    @wraps(work)
    def call(*args: Any, **options: Any) -> Any:
        with TURN:
            return work(*args, **options)

    return call
