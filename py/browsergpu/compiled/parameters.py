"""The parameters of a compiled function, by name and by position."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown
from browsergpu.networks.module import Module

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters(Shown):
    """The parameters of a function.

    Attributes
    ----------
    names : list of str
        The names of the positional parameters.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        is_module = isinstance(function, Module)
        called: Any = type(function)
        try:
            found = inspect.signature(called.forward if is_module else function)
        except (TypeError, ValueError):  # unknown, as of some functions in C
            self.names: list[str] = []
            self._known: set[str] | None = None
            self._takes_more = True
            return
        given = [*found.parameters.values()][int(is_module) :]
        self.names = [one.name for one in given if one.kind in _POSITIONAL]
        kinds = {one.kind for one in given}
        self._known = None if inspect.Parameter.VAR_KEYWORD in kinds else {x.name for x in given}
        self._takes_more = inspect.Parameter.VAR_POSITIONAL in kinds

    def name_of(self, at: int) -> str:
        """Return the name of a positional argument."""
        return self.names[at] if at < len(self.names) else f"args[{at}]"

    def position(self, one: int | str) -> int | str:
        """Return a position counted from the start. Names are returned unchanged."""
        is_from_end = type(one) is int and one < 0
        return len(self.names) + one if is_from_end else one  # type: ignore[operator]

    def chosen(self, op: str, argument: str, given: Iterable[int | str]) -> frozenset[int | str]:
        """Return chosen parameters, each by its position and by its name.

        Raises InvalidArgument for a name or position that is not a parameter's.
        """
        found: set[int | str] = set()
        for one in (given,) if isinstance(given, int | str) else given:
            if isinstance(one, str) and (self._known is None or one in self._known):
                found.add(one)
                if one in self.names:
                    found.add(self.names.index(one))
            elif type(one) is int and one >= 0 and (self._takes_more or one < len(self.names)):
                found.add(one)
                if one < len(self.names):
                    found.add(self.names[one])
            else:
                known = ", ".join(self.names)
                expected = f"names or positions of parameters ({known})"
                raise InvalidArgument(op, argument, one, expected)
        return frozenset(found)
