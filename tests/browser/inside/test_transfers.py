"""Large arrays, which are transferred to and from the GPU in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu
from inside.losing import destroy

pytestmark = pytest.mark.firefox

MIB = 2**20
# Near one piece of 4 MiB, and more than are in flight at a time.
SIZES = [MIB - 1, MIB, 4 * MIB - 4, 4 * MIB, 4 * MIB + 4, 9 * MIB + 3, 22 * MIB + 2]


def some_bytes(nbytes: int, seed: int = 1) -> np.ndarray:
    """Return random bytes, so that all pieces differ."""
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


def wait_for(coroutine: Any) -> Any:
    from pyodide.ffi import run_sync

    return run_sync(coroutine)


def let_go() -> None:
    """Let the browser run, so that buffers become mapped again."""
    from asyncio import sleep

    wait_for(sleep(0.05))


@pytest.mark.parametrize("nbytes", SIZES)
def test_there_and_back(backend: Any, nbytes: int) -> None:
    with on_gpu(backend) as gpu:
        x = gpu.alloc(nbytes)
        for turn in range(3):  # the first turn has no mapped buffers
            data = some_bytes(nbytes, turn)
            backend.copy_htod(x, data)
            assert_same_bits(gpu.download(x, nbytes, np.uint8), data, f"turn {turn}")
            let_go()
    backend.device.memory.trim()


@pytest.mark.parametrize(("offset", "nbytes"), [(1, 5 * MIB), (4, 5 * MIB + 1), (7, 9 * MIB)])
def test_ranges(backend: Any, offset: int, nbytes: int) -> None:
    from browsergpu import Buffer

    room = 10 * MIB
    expected = some_bytes(room)
    buffer = Buffer(backend.device, room)
    buffer.write_data(expected)
    for turn in range(2):
        piece = some_bytes(nbytes, 10 + turn)
        buffer.write_data(piece, offset)
        expected[offset : offset + nbytes] = piece
        let_go()
    read = np.frombuffer(buffer.read_data(offset - 1, nbytes + 1), np.uint8)
    assert_same_bits(read, expected[offset - 1 : offset + nbytes], "the range")
    assert_same_bits(np.frombuffer(buffer.read_data(), np.uint8), expected, "the whole")
    buffer.free()


def test_uploads_and_commands_keep_their_order(backend: Any) -> None:
    n = 2 * MIB
    with on_gpu(backend) as gpu:
        x, y = gpu.alloc(4 * n), gpu.alloc(4 * n)
        for turn in range(3):
            first, second = (np.full(n, value, np.float32) for value in (turn + 1, turn + 10))
            backend.copy_htod(x, first)
            backend.unary("neg", x, y, n)
            backend.copy_htod(x, second)
            assert_same_bits(gpu.download(y, n), -first, "of what x was before")
            assert_same_bits(gpu.download(x, n), second, "x")
            let_go()


def test_a_long_read_shows_one_moment(backend: Any) -> None:
    from asyncio import ensure_future, sleep

    n = 8 * MIB

    async def read_and_change() -> None:
        reading = ensure_future(backend.copy_dtoh_async(result, x))
        await sleep(0)
        backend.unary("neg", x, x, n)
        backend.copy_htod(x, data[: n // 2])
        backend.synchronize()
        await reading

    with on_gpu(backend) as gpu:
        data = np.arange(1, n + 1, dtype=np.float32)
        result = np.zeros(n, np.float32)
        x = gpu.upload(data)
        backend.synchronize()
        wait_for(read_and_change())
        assert_same_bits(result, data, "before the change")
        expected = -data
        expected[: n // 2] = data[: n // 2]
        assert_same_bits(gpu.download(x, n), expected, "after it")


def test_memory_may_grow_during_a_read(backend: Any) -> None:
    from asyncio import ensure_future, sleep

    async def read_and_grow() -> list[np.ndarray]:
        reading = ensure_future(backend.copy_dtoh_async(result, x))
        grown = []
        for _ in range(8):
            grown.append(np.ones(4 * MIB, np.float32))
            await sleep(0)
        await reading
        return grown

    data = some_bytes(30 * MIB)
    result = np.zeros_like(data)
    with on_gpu(backend) as gpu:
        x = gpu.upload(data)
        assert len(wait_for(read_and_grow())) == 8
    assert_same_bits(result, data, "what was read")


def test_a_cancelled_read_does_not_write_the_array(backend: Any) -> None:
    from asyncio import CancelledError, ensure_future, sleep

    async def cancel() -> None:
        reading = ensure_future(backend.copy_dtoh_async(result, x))
        await sleep(0)
        reading.cancel()
        with pytest.raises(CancelledError):
            await reading
        before = result.copy()
        await sleep(0.05)
        backend.synchronize()
        assert_same_bits(result, before, "after it was cancelled")

    data = some_bytes(20 * MIB)
    result = np.zeros_like(data)
    with on_gpu(backend) as gpu:
        x = gpu.upload(data)
        wait_for(cancel())
        assert_same_bits(gpu.download(x, data.size, np.uint8), data, "the next read")


@pytest.mark.provokes_errors
def test_a_read_after_an_error_does_not_write_the_array(backend: Any) -> None:
    from browsergpu.errors import ValidationError

    result = np.zeros(9 * MIB, np.uint8)
    with on_gpu(backend) as gpu:
        x = gpu.upload(some_bytes(result.size))
        device = backend.device
        pipeline = device.pipeline("fill")
        device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[x].id, 4, 0)
        with pytest.raises(ValidationError):
            backend.copy_dtoh(result, x)
    assert not result.any()


def test_staging_is_bounded_and_trimmed(backend: Any) -> None:
    import js

    device = backend.device
    device.memory.trim()
    alive = js.gpuWatch.buffersAlive
    assert device.recorder.counters["staging"] == 0
    data = some_bytes(80 * MIB)
    with on_gpu(backend) as gpu:
        x = gpu.alloc(data.size)
        while device.recorder.counters["staging"] < 16:  # 64 MiB
            backend.copy_htod(x, data)
            backend.synchronize()  # more are created once the GPU is idle
            let_go()
        for _ in range(3):  # but no more than that
            backend.copy_htod(x, data)
            backend.synchronize()
            let_go()
        assert device.recorder.counters["staging"] == 16
        backend.copy_dtoh(data, x)
        assert device.recorder.counters["staging"] <= 16 + 8  # plus 32 MiB
    device.memory.trim()
    assert device.recorder.counters["staging"] == 0
    assert js.gpuWatch.buffersAlive == alive


def test_a_lost_device_ends_a_long_read() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import DeviceLost

    backend = WasmBackend()
    backend.init()
    data = some_bytes(20 * MIB)
    x = backend.alloc(data.size)
    backend.copy_htod(x, data)

    async def read_and_lose() -> None:
        from asyncio import ensure_future, sleep

        reading = ensure_future(backend.copy_dtoh_async(data, x))
        await sleep(0)
        destroy(backend.device)
        await reading

    with pytest.raises(DeviceLost):
        wait_for(read_and_lose())
    backend.close()


@pytest.mark.provokes_errors
def test_an_upload_survives_an_invalid_command_before_it(backend: Any) -> None:
    from browsergpu.errors import ValidationError

    device = backend.device
    with on_gpu(backend) as gpu:
        data = some_bytes(9 * MIB)
        x, y = gpu.upload(data[::-1].copy()), gpu.alloc(64)
        let_go()  # now there are mapped buffers
        pipeline = device.pipeline("fill")
        device.recorder.dispatch(pipeline, 2**20, 1, 1, backend._buffers[y].id, 4, 0)
        backend.copy_htod(x, data)
        with pytest.raises(ValidationError):
            backend.synchronize()
        assert_same_bits(gpu.download(x, data.size, np.uint8), data, "the upload")
