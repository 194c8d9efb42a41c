"""Modes that ``with`` blocks set for their tasks, such as ``no_grad()``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, Generic, TypeVar

from browsergpu.engine.core.showing import Shown

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Mode(Shown, Generic[T]):
    """A context variable that blocks set.

    A block sets it for its task or thread, and for tasks created in the block. Blocks of other
    tasks and of generators may overlap with it and end in any order.
    """

    def __init__(self, name: str, default: T) -> None:
        self._name = name
        # The value, the innermost block, and the same of the blocks around it.
        self._blocks: ContextVar[tuple[T, object, Any]]
        self._blocks = ContextVar(name, default=(default, None, None))
        #: Returns a tuple that begins with the value. A function in C, for every operation.
        self.read = self._blocks.get

    def _facts(self) -> str:
        return f"{self._name}={self.value}"

    @property
    def value(self) -> T:
        """The value of the innermost block."""
        return self._blocks.get()[0]

    def enter(self, block: object, value: T) -> None:
        """Begin a block, identified by an object."""
        self._blocks.set((value, block, self._blocks.get()))

    def change(self, value: T) -> None:
        """Set the value until the innermost block ends."""
        _, block, outer = self._blocks.get()
        self._blocks.set((value, block, outer))

    def leave(self, block: object) -> None:
        """End the block. Do nothing if it is not active in this task."""
        inner: list[tuple[T, object]] = []
        value, own, outer = self._blocks.get()
        while outer is not None:
            if own is block:
                for one in reversed(inner):
                    outer = (*one, outer)
                self._blocks.set(outer)
                return
            inner.append((value, own))
            value, own, outer = outer


def within(block: Callable[[], AbstractContextManager[Any]], function: F) -> F:
    """Return a function that runs within a block.

    Parameters
    ----------
    block : callable
        Creates the context manager for each call.
    function : callable
        A function, a coroutine function, or a generator function of either kind. A generator runs
        within the block, but its caller does not.

    Returns
    -------
    callable
        A function of the same kind.
    """
    made: Any
    if iscoroutinefunction(function):

        async def made(*args: Any, **options: Any) -> Any:
            with block():
                return await function(*args, **options)

    elif isgeneratorfunction(function):

        def made(*args: Any, **options: Any) -> Any:
            generator = function(*args, **options)
            step, value = generator.send, None
            while True:
                try:
                    with block():
                        given = step(value)
                except StopIteration as end:
                    return end.value
                try:
                    step, value = generator.send, (yield given)
                except BaseException as error:
                    step, value = generator.throw, error

    elif isasyncgenfunction(function):

        async def made(*args: Any, **options: Any) -> Any:
            generator = function(*args, **options)
            step, value = generator.asend, None
            while True:
                try:
                    with block():
                        given = await step(value)
                except StopAsyncIteration:
                    return
                try:
                    step, value = generator.asend, (yield given)
                except BaseException as error:
                    step, value = generator.athrow, error

    else:

        def made(*args: Any, **options: Any) -> Any:
            with block():
                return function(*args, **options)

    return wraps(function)(made)  # type: ignore[return-value]
