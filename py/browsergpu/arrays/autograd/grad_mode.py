"""Whether operations are noted for gradients: always, unless ``no_grad`` says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from browsergpu.core.modes import Mode, within
from browsergpu.core.showing import Shown

F = TypeVar("F", bound=Callable[..., Any])

_MODE = Mode("grad", True)

#: The functions that are being differentiated, outermost first: the name of what does so, and the
#: nodes that their inputs are results of.
DIFFERENTIATED: ContextVar[tuple[tuple[str, frozenset[Any]], ...]]
DIFFERENTIATED = ContextVar("differentiated", default=())


class _Switch(Shown):
    """A context, and a decorator, in which operations are noted or not."""

    _to: bool

    def __enter__(self) -> None:
        _MODE.enter(self, self._to)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _MODE.leave(self)

    def __call__(self, function: F) -> F:
        return within(type(self), function)


class no_grad(_Switch):
    """``with browsergpu.no_grad():``, or above a function as ``@browsergpu.no_grad()``: what is
    computed in it needs no gradients and keeps nothing for them. Other tasks and threads are not in
    the block, but for tasks that are created in it. The function may be a coroutine function or a
    generator function."""

    _to = False


class enable_grad(_Switch):
    """``with browsergpu.enable_grad():`` within ``no_grad``: operations are noted again."""

    _to = True


def is_grad_enabled() -> bool:
    """Whether operations on arrays that require gradients are noted, in this task or thread."""
    return _MODE.value
