"""Whether operations are noted for gradients: in each thread by itself, and always unless
``no_grad`` says otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from browsergpu.core.showing import Shown

F = TypeVar("F", bound=Callable[..., Any])


class _State(threading.local):
    is_on = True
    #: The functions that are being differentiated, outermost first: the name of what does so, and
    #: the steps that their inputs are results of.
    differentiated: tuple[tuple[str, frozenset[Any]], ...] = ()


STATE = _State()


class _Switch(Shown):
    """A context, and a decorator, in which operations are noted or not."""

    _to: bool

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(STATE.is_on)
        STATE.is_on = self._to

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        STATE.is_on = self._before.pop()

    def __call__(self, function: F) -> F:
        kind = type(self)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with kind():
                return function(*args, **options)

        return call  # type: ignore[return-value]


class no_grad(_Switch):
    """``with browsergpu.no_grad():``, or above a function as ``@browsergpu.no_grad()``: what is
    computed in it needs no gradients and keeps nothing for them."""

    _to = False


class enable_grad(_Switch):
    """``with browsergpu.enable_grad():`` within ``no_grad``: operations are noted again."""

    _to = True


def is_grad_enabled() -> bool:
    """Whether operations on arrays that require gradients are noted."""
    return STATE.is_on
