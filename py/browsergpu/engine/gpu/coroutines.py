"""Coroutines that began without a task."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


async def rest_of(coroutine: Coroutine[Any, Any, T], waited_for: Any) -> T:
    """Continue a coroutine in a task. ``waited_for`` is the future that it has yielded, or None."""
    if waited_for is not None:
        try:
            await _wait_for(waited_for)
        except asyncio.CancelledError:
            if not waited_for.cancelled():  # the task is cancelled
                coroutine.close()
                raise
        except Exception:
            pass  # the coroutine gets it, too
    return await _continue(coroutine)


@types.coroutine
def _wait_for(future: Any) -> Generator[Any, Any, None]:
    yield future


@types.coroutine
def _continue(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    # ``await`` rejects a coroutine that is suspended already.
    return (yield from coroutine)  # type: ignore[no-any-return]
