"""Functions that are called with what passes: what a module gets and gives, a gradient."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from browsergpu.core.showing import Shown

_numbers = count()


class Handle(Shown):
    """What ends that a function is called."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], number: int) -> None:
        self._hooks = hooks
        self._number = number

    def remove(self) -> None:
        """The function is not called any more."""
        self._hooks.pop(self._number, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def added(hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> Handle:
    """Puts a function behind others."""
    number = next(_numbers)
    hooks[number] = hook
    return Handle(hooks, number)
