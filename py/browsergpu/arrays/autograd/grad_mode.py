"""Whether operations are recorded for gradients: always, except under ``no_grad``."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from browsergpu.engine.core.modes import Mode, within
from browsergpu.engine.core.showing import Shown

F = TypeVar("F", bound=Callable[..., Any])

#: Whether operations are recorded. Recorded calls read it without a call in Python.
GRAD = Mode("grad", True)

#: The functions that are being differentiated, outermost first: the name of the transform, and the
#: nodes of the inputs.
DIFFERENTIATED: ContextVar[tuple[tuple[str, frozenset[Any]], ...]]
DIFFERENTIATED = ContextVar("differentiated", default=())


class _Switch(Shown):
    """A context manager and decorator that sets the mode."""

    _to: bool

    def __enter__(self) -> None:
        GRAD.enter(self, self._to)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        GRAD.leave(self)

    def __call__(self, function: F) -> F:
        return within(type(self), function)


class no_grad(_Switch):
    """Disable gradients: ``with browsergpu.no_grad():`` or the decorator ``@browsergpu.no_grad()``.

    Operations in the block are not recorded, and their results require no gradient. The block
    applies to the current task or thread, and to tasks that it creates. The decorated function may
    be a coroutine function or a generator function.
    """

    _to = False


class enable_grad(_Switch):
    """Enable gradients within ``no_grad``: ``with browsergpu.enable_grad():``."""

    _to = True


def set_grad_mode(is_enabled: bool) -> None:
    """Set whether operations are recorded, until the innermost ``no_grad()`` block ends."""
    GRAD.change(is_enabled)


def is_grad_enabled() -> bool:
    """Return whether operations are recorded for gradients in this task or thread."""
    return GRAD.read()[0]
