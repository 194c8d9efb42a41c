"""Synchronous waits for coroutines, also for those that Python's own awaitables wrap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.fast, pytest.mark.firefox]


def waited(coroutine: Any) -> Any:
    """Wait for a coroutine as the package's blocking functions do."""
    from browsergpu.engine.gpu.platform import block_on

    return block_on(coroutine, "test")


async def values(bg: Any, count: int) -> AsyncIterator[float]:
    for i in range(count):
        yield float(await bg.full((), float(i)).numpy_async())


def test_items_of_an_asynchronous_iterator(bg: Any) -> None:
    found = values(bg, 2)
    assert waited(anext(found, None)) == 0.0
    assert waited(anext(found)) == 1.0
    assert waited(anext(found, None)) is None


def test_reads_at_once(bg: Any) -> None:
    async def both() -> list[Any]:
        first = await bg.ones(2).numpy_async()
        rest = await asyncio.gather(bg.zeros(2).numpy_async(), (2 * bg.ones(2)).numpy_async())
        return [first, *rest, await bg.full(2, 3.0).numpy_async()]

    np.testing.assert_array_equal(waited(both()), [[1, 1], [0, 0], [2, 2], [3, 3]])


def test_a_blocking_read_within_a_wait(bg: Any) -> None:
    async def work() -> Any:
        first = await bg.ones(2).numpy_async()
        return first + (2 * bg.ones(2)).numpy() + await bg.full(2, 3.0).numpy_async()

    np.testing.assert_array_equal(waited(work()), [6, 6])


def test_a_task_reads_during_a_wait(bg: Any) -> None:
    async def work() -> Any:
        task = asyncio.ensure_future(bg.ones(2).numpy_async())
        await asyncio.sleep(0)
        return (2 * bg.ones(2)).numpy() + await task

    np.testing.assert_array_equal(waited(work()), [3, 3])


def test_an_error_is_that_of_the_coroutine(bg: Any) -> None:
    async def work() -> None:
        await bg.ones(2).numpy_async()
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        waited(work())
