"""Recovery of a lost GPU by following the advice in the error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample
from inside.losing import destroy

X = sample("float32", (3, 4))


@pytest.fixture
def alone(bg: Any, backend: Any) -> Iterator[Any]:
    """A device for arrays that only this test uses."""
    from browsergpu.engine.gpu.platform import block_on

    yield bg.use(block_on(bg.Device.request(warm_up=False), "test"))
    bg.use(backend)


def advice(bg: Any, device: Any, use: Any) -> str:
    """Return the error message after a device was lost."""
    destroy(device)

    def use_often() -> None:
        for _ in range(3):  # an engine may notice the loss only at the first call that waits
            use()

    with pytest.raises(bg.errors.DeviceLost) as caught:
        use_often()
    assert device.is_lost
    return str(caught.value)


@pytest.mark.provokes_errors
def test_arrays_work_again_after_recover(bg: Any, alone: Any) -> None:
    before = bg.asarray(X)
    bg.eval(before)
    text = advice(bg, alone, lambda: (before + 1).numpy())
    assert "browsergpu.recover()" in text
    assert "backend" not in text
    opened = bg.recover()
    assert opened is not alone
    assert bg.default_device() is opened
    assert opened.config == alone.config
    assert_same(bg.asarray(X) @ bg.asarray(X).T, X @ X.T, rtol=1e-5)
    with pytest.raises(bg.errors.DeviceLost, match="make its arrays again"):
        (before + 1).numpy()
    assert bg.recover() is opened, "nothing is lost now"
    opened.close()


@pytest.mark.provokes_errors
def test_recover_without_blocking_opens_one_device(bg: Any, alone: Any) -> None:
    from browsergpu.engine.gpu.platform import block_on

    bg.eval(bg.asarray(X))
    advice(bg, alone, lambda: bg.asarray(X).numpy())

    async def both() -> list[Any]:
        return list(await asyncio.gather(bg.recover_async(), bg.recover_async()))

    first, second = block_on(both(), "test")
    assert first is second is bg.default_device()
    np.testing.assert_array_equal(bg.asarray(X).numpy(), X)
    first.close()


@pytest.mark.provokes_errors
def test_a_lost_device_is_none_of_the_devices(bg: Any, alone: Any) -> None:
    advice(bg, alone, lambda: bg.asarray(X).numpy())
    assert alone not in bg.devices()
    assert not bg.default_device(0).is_lost


def test_recover_without_an_open_gpu_says_so(bg: Any, alone: Any) -> None:
    assert bg.recover() is alone, "which is not lost"
    alone.close()
    with pytest.raises(bg.errors.NotInitialized, match=r"recover: .*init\(\)"):
        bg.recover()


@pytest.mark.provokes_errors
def test_the_advice_names_the_users_interface(bg: Any) -> None:
    from browsergpu.engine.gpu.platform import block_on

    with bg.WasmBackend(warm_up=False) as own:
        own.init()
        text = advice(bg, own.device, own.synchronize)
        assert "`await backend.recover()`" in text
        assert "browsergpu.recover()" not in text
    device = block_on(bg.Device.request(warm_up=False), "test")
    executor = bg.KernelExecutor(device)
    array = executor.full((4,), 1.0)
    text = advice(bg, device, lambda: executor.relu(array).numpy())
    assert "Device.request()" in text
    assert "recover" not in text
    device.close()
