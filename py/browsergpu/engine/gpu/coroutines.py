"""Coroutines that began without a task."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def rest_of(coroutine: Coroutine[Any, Any, T], waited_for: Any) -> T:
    """Continue a coroutine in a task. ``waited_for`` is the future that it has yielded, or None."""
    if waited_for is not None:
        with suppress(Exception, asyncio.CancelledError):  # the coroutine gets it, too
            await _waiting_for(waited_for)
    return await _going_on(coroutine)


@types.coroutine
def _waiting_for(future: Any) -> Generator[Any, Any, None]:
    yield future


@types.coroutine
def _going_on(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    # ``await`` rejects a coroutine that is suspended already.
    return (yield from coroutine)  # type: ignore[no-any-return]
