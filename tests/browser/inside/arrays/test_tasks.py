"""Several tasks of one event loop: what they open together, and whose modes are whose."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def nothing_open(bg: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """browsergpu as it is before its first array. Gives the devices that are opened since."""
    from browsergpu.array import context
    from browsergpu.device.device import open_devices

    monkeypatch.setattr(context, "_current", [])
    monkeypatch.setattr(context, "_by_number", {})
    before = open_devices()
    yield lambda: [one for one in open_devices() if one not in before]
    for device in open_devices():
        if device not in before:
            device.close()


def run(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


def test_tasks_that_open_the_gpu_together_get_one_device(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        return await asyncio.gather(
            bg.init_async(warm_up=False), bg.init_async(), bg.init_async(debug_mode=False)
        )

    first, *others = run(main())
    assert all(one is first for one in others)
    assert nothing_open() == [first]
    assert bg.ones(3).device is first


def test_tasks_that_list_the_devices_together_get_the_same(bg: Any, nothing_open: Any) -> None:
    from browsergpu.array.context import devices_async

    async def main() -> Any:
        return await asyncio.gather(devices_async(), devices_async())

    first, second = run(main())
    assert first == second
    assert len(nothing_open()) == len(first)


def test_an_opening_that_fails_lets_the_next_one_try(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        wrong = bg.init_async(adapter_index=1000)
        return await asyncio.gather(wrong, bg.init_async(warm_up=False), return_exceptions=True)

    error, device = run(main())
    assert isinstance(error, bg.errors.BackendError)
    assert nothing_open() == [device]


def test_an_opening_that_is_cancelled_lets_the_next_one_try(bg: Any, nothing_open: Any) -> None:
    async def main() -> Any:
        first, second, third = (
            asyncio.ensure_future(bg.init_async(warm_up=False)) for _ in range(3)
        )
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        return await third

    device = run(main())
    assert bg.ones(3).device is device
    assert len(nothing_open()) == 1


def test_an_open_device_is_not_another_one_by_options(bg: Any, nothing_open: Any) -> None:
    device = run(bg.init_async(memory_limit=2**28))
    assert run(bg.init_async()) is bg.init(memory_limit=2**28) is device
    with pytest.raises(ValueError, match=r"init: memory_limit must be 268435456.* got 1024"):
        bg.init(memory_limit=1024)
    with pytest.raises(ValueError, match="init: option must be one of"):
        bg.init(memory="much")


def test_tasks_that_open_a_backend_together_open_one_device(bg: Any, nothing_open: Any) -> None:
    backend = bg.WasmBackend(warm_up=False)

    async def main() -> None:
        await asyncio.gather(*[backend.init_async() for _ in range(3)])

    run(main())
    assert nothing_open() == [backend.device]
    backend.close()


def test_tasks_that_open_a_lost_gpu_again_get_one_device(bg: Any, nothing_open: Any) -> None:
    from inside.losing import destroy

    lost = bg.init(warm_up=False)
    destroy(lost)
    with pytest.raises(bg.errors.DeviceLost):
        bg.ones(3).numpy()

    async def main() -> Any:
        return await asyncio.gather(bg.recover_async(), bg.recover_async())

    first, second = run(main())
    assert first is second
    assert first is not lost
