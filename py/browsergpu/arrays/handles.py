"""Handles that remove hooks, of modules and of gradients."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from browsergpu.engine.core.changes import CHANGES
from browsergpu.engine.core.showing import Shown

_numbers = count()


class Handle(Shown):
    """A registered hook. It can be a context manager."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], number: int) -> None:
        self._hooks = hooks
        self._number = number

    def remove(self) -> None:
        """Remove the hook."""
        CHANGES.count += 1
        self._hooks.pop(self._number, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def added(
    hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any], is_first: bool = False
) -> Handle:
    """Append a hook to ``hooks``, or insert it before all, and return its handle."""
    CHANGES.count += 1
    number = next(_numbers)
    others = dict(hooks) if is_first else {}
    for key in others:
        del hooks[key]
    hooks[number] = hook
    hooks.update(others)
    return Handle(hooks, number)
