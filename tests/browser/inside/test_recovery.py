"""A lost device and its recovery. tests/browser/test_gpu_crash.py crashes the GPU process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from inside import losing
from inside.comparison import assert_same_bits
from inside.gpu import random_array


@contextmanager
def opened(**options: Any) -> Iterator[Any]:
    """Open an initialised backend with the given options."""
    from browsergpu import WasmBackend

    with WasmBackend(**options) as backend:
        backend.init()
        yield backend


def wait_for(coroutine: Any) -> Any:
    """Return a coroutine's result; a timeout fails a test that hangs."""
    from pyodide.ffi import run_sync

    return run_sync(asyncio.wait_for(coroutine, 240))


def destroy(backend: Any) -> None:
    """Destroy the newest device, which must be the backend's; the loss is not known yet."""
    assert not backend.device.is_lost
    losing.destroy(backend.device)


def lose(backend: Any) -> None:
    """Destroy the newest device, and let the loss become known."""
    from browsergpu.errors import DeviceLost

    destroy(backend)
    with pytest.raises(DeviceLost):
        backend.synchronize()
    assert backend.device.is_lost


def read(backend: Any, pointer: int, count: int) -> np.ndarray:
    """Return the first float32 elements of a buffer."""
    result = np.full(count, np.nan, np.float32)
    backend.copy_dtoh(result, pointer)
    return result


CALLS: dict[str, Callable[[Any, int], Any]] = {
    "alloc": lambda b, x: b.alloc(64),
    "copy_htod": lambda b, x: b.copy_htod(x, np.ones(4, np.float32)),
    "copy_dtoh": lambda b, x: b.copy_dtoh(bytearray(16), x),
    "synchronize": lambda b, x: b.synchronize(),
    "unary": lambda b, x: b.unary("neg", x, x, 4),
    "binary": lambda b, x: b.binary("add", x, x, x, 4),
    "reduce": lambda b, x: b.reduce("sum", x, b.other, [4], 0),
    "gemm": lambda b, x: b.gemm("no_trans", "no_trans", 2, 2, 2, 1.0, x, 2, x, 2, 0.0, b.other, 2),
    "gemm_f16": lambda b, x: b.gemm_f16(2, 2, 2, 1.0, x, x, 0.0, b.other),
    "attention": lambda b, x: b.attention(x, x, x, b.other, 1, 1, 2, 2, 2, 1.0, False),
    "conv2d_forward": lambda b, x: b.conv2d_forward(
        x, [1, 1, 2, 2], x, [1, 1, 1, 1], b.other, [1, 1, 2, 2], 1, 0
    ),
    "draw": lambda b, x: b.draw(x, 2, 2, 1, "gpu-canvas"),
}


def test_every_call_after_a_loss_raises_device_lost_in_its_own_name() -> None:
    from browsergpu.errors import DeviceLost

    with opened() as backend:
        x = backend.alloc(64)
        backend.other = backend.alloc(64)
        lose(backend)
        for op, call in CALLS.items():
            with pytest.raises(DeviceLost, match="recover") as caught:
                call(backend, x)
            assert caught.value.op == op
        assert backend.buffer_bytes(x) == 64
        backend.free(x)
        backend.free(backend.other)
        assert backend.device.memory.buffers == 0


@pytest.mark.parametrize("op", CALLS)
def test_calls_before_the_loss_is_known_do_no_harm_and_do_not_hang(op: str) -> None:
    from browsergpu.errors import DeviceLost

    with opened() as backend:
        x = backend.alloc(64)
        backend.other = backend.alloc(64)
        backend.synchronize()
        destroy(backend)

        def call_and_wait() -> None:
            CALLS[op](backend, x)
            backend.synchronize()

        with pytest.raises(DeviceLost):
            call_and_wait()


def test_pending_calls_raise_and_none_hangs() -> None:
    from browsergpu.errors import DeviceLost

    async def lose_while_waiting(backend: Any, pointers: list[int]) -> list[Any]:
        waits = [backend.copy_dtoh_async(bytearray(2**16), p) for p in pointers]
        waits += [backend.synchronize_async() for _ in range(5)]
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.sleep(0)
        destroy(backend)
        return await asyncio.gather(*tasks, return_exceptions=True)

    with opened() as backend:
        pointers = [backend.alloc(2**16) for _ in range(10)]
        answers = wait_for(lose_while_waiting(backend, pointers))
        assert len(answers) == 15
        for answer in answers:
            assert answer is None or isinstance(answer, DeviceLost)
        assert any(isinstance(answer, DeviceLost) for answer in answers)
        assert backend.device.is_lost


def test_large_allocations_do_not_wait_for_a_gpu_that_is_gone() -> None:
    from browsergpu.errors import DeviceLost

    with opened() as backend:
        destroy(backend)

        def allocate() -> None:
            for _ in range(3):
                backend.alloc(2**21)

        with pytest.raises(DeviceLost):
            allocate()


# -- recover ---------------------------------------------------------------------------------------


def test_recover_on_a_healthy_device_does_nothing() -> None:
    with opened() as backend:
        data = random_array(1, 10)
        x = backend.alloc(40)
        backend.copy_htod(x, data)
        device = backend.device
        wait_for(backend.recover())
        assert backend.device is device
        assert_same_bits(read(backend, x, 10), data, "untouched")


def test_recover_before_init() -> None:
    from browsergpu import WasmBackend
    from browsergpu.errors import NotInitialized

    with pytest.raises(NotInitialized, match="recover: call init"):
        wait_for(WasmBackend().recover())


def test_kept_buffers_come_back_and_others_tell_their_label() -> None:
    from browsergpu.errors import DeviceLost

    with opened() as backend:
        data = random_array(1, 100)
        kept = backend.alloc(400, keep=True, label="weights")
        other = backend.alloc(400, label="activations")
        nameless = backend.alloc(400)
        backend.copy_htod(kept, data)
        lose(backend)
        wait_for(backend.recover())

        assert not backend.device.is_lost
        assert_same_bits(read(backend, kept, 100), data, "kept")
        assert backend.buffer_bytes(kept) == 400
        assert backend.device.memory.by_label == {"weights": 512}
        for use in (
            lambda: read(backend, other, 1),
            lambda: backend.copy_htod(other, data),
            lambda: backend.unary("neg", kept, other, 4),
            lambda: backend.buffer_bytes(other),
        ):
            with pytest.raises(DeviceLost, match=r"'activations'.*keep=True"):
                use()
        with pytest.raises(DeviceLost, match="'alloc'"):
            read(backend, nameless, 1)
        # A lost buffer can be freed once.
        backend.free(other)
        backend.free(nameless)
        from browsergpu.errors import InvalidArgument

        with pytest.raises(InvalidArgument, match="was not freed"):
            backend.free(other)
        backend.unary("neg", kept, kept, 100)
        assert_same_bits(read(backend, kept, 100), -data, "computed after the recovery")
        backend.free(kept)
        assert backend.device.memory.buffers == 0


def test_a_kept_buffer_holds_the_last_host_write_or_read() -> None:
    with opened() as backend:
        data = random_array(1, 16)
        written, partly, read_back, empty = (backend.alloc(64, keep=True) for _ in range(4))
        for pointer in (written, partly, read_back):
            backend.copy_htod(pointer, data)
        backend.unary("neg", written, written, 16)  # the host's copy does not see this
        backend.copy_htod(partly, b"\1\2\3\4\5")  # ends within a word
        backend.copy_htod(partly, b"\6")
        backend.unary("neg", read_back, read_back, 16)
        read(backend, read_back, 8)  # and sees only the first half of this
        lose(backend)
        wait_for(backend.recover())

        assert_same_bits(read(backend, written, 16), data, "last host write")
        expected = b"\6\2\3\4\5" + data.tobytes()[5:]
        assert read(backend, partly, 16).tobytes() == expected
        half = np.concatenate([-data[:8], data[8:]])
        assert_same_bits(read(backend, read_back, 16), half, "last host read")
        assert_same_bits(read(backend, empty, 16), np.zeros(16, np.float32), "never written")


def test_recovery_restores_contents_written_during_a_read() -> None:
    with opened() as backend:
        old, new = random_array(1, 100), random_array(2, 100)
        x = backend.alloc(400, keep=True)
        backend.copy_htod(x, old)
        seen = np.zeros(100, np.float32)

        async def write_during_a_read() -> None:
            reading = asyncio.ensure_future(backend.copy_dtoh_async(seen, x))
            await asyncio.sleep(0)
            backend.copy_htod(x, new[:40])
            await reading

        wait_for(write_during_a_read())
        assert_same_bits(seen, old, "what was read")
        expected = np.concatenate([new[:40], old[40:]])
        assert_same_bits(read(backend, x, 100), expected, "before the loss")
        backend.copy_htod(x, old)
        wait_for(write_during_a_read())
        lose(backend)
        wait_for(backend.recover())
        assert_same_bits(read(backend, x, 100), expected, "recovered")


def test_the_read_that_began_last_comes_back_whichever_ended_last() -> None:
    n = 3 * 2**20  # the long read ends after the short one
    with opened() as backend:
        data = random_array(1, n)
        x = backend.alloc(4 * n, keep=True)
        backend.copy_htod(x, data)
        ended = []

        async def take(count: int) -> None:
            await backend.copy_dtoh_async(np.zeros(count, np.float32), x)
            ended.append(count)

        async def read_twice() -> None:
            long = asyncio.ensure_future(take(n))
            await asyncio.sleep(0)
            backend.unary("neg", x, x, n)
            await take(10)
            await long

        wait_for(read_twice())
        assert sorted(ended) == [10, n]
        lose(backend)
        wait_for(backend.recover())
        expected = np.concatenate([-data[:10], data[10:]])
        assert_same_bits(read(backend, x, n), expected, "recovered")


def test_changes_to_the_target_of_a_read_are_overwritten() -> None:
    with opened() as backend:
        data = random_array(1, 16)
        x, y = backend.alloc(64, keep=True), backend.alloc(64, keep=True)
        backend.copy_htod(x, data)
        backend.copy_htod(y, -data)
        backend.unary("abs", x, x, 16)
        shared = np.zeros(16, np.float32)

        async def read_both_into_one() -> None:
            await asyncio.gather(
                backend.copy_dtoh_async(shared, x), backend.copy_dtoh_async(shared, y)
            )

        wait_for(read_both_into_one())
        shared[:] = np.nan
        lose(backend)
        wait_for(backend.recover())
        assert_same_bits(read(backend, x, 16), np.abs(data), "x")
        assert_same_bits(read(backend, y, 16), -data, "y")


def test_a_failed_read_does_not_change_the_kept_contents() -> None:
    with opened() as backend:
        old, new = random_array(1, 16), random_array(2, 16)
        x = backend.alloc(64, keep=True)
        backend.copy_htod(x, old)

        async def cancel_a_read() -> None:
            reading = asyncio.ensure_future(backend.copy_dtoh_async(bytearray(64), x))
            await asyncio.sleep(0)
            backend.copy_htod(x, new)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading

        wait_for(cancel_a_read())
        lose(backend)
        wait_for(backend.recover())
        assert_same_bits(read(backend, x, 16), new, "recovered")


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_writes_reads_and_losses(seed: int) -> None:
    # The model: the host's last writes and reads, in the order in which the calls started.
    from pyodide.ffi import run_sync

    from browsergpu.errors import BackendError

    random = np.random.default_rng(seed)
    n = 24

    async def play(backend: Any) -> None:
        x = backend.alloc(4 * n, keep=True)
        backend.copy_htod(x, bytes(4 * n))
        device = np.zeros(n, np.float32)  # the buffer's contents
        known = device.copy()
        stamps = np.zeros(n, int)  # the time of each element in `known`
        reading: list[tuple[int, np.ndarray, Any]] = []

        def note(time: int, values: np.ndarray) -> None:
            newer = stamps[: len(values)] <= time
            known[: len(values)][newer] = values[newer]
            stamps[: len(values)][newer] = time

        async def end_reads() -> None:
            while reading:
                time, expected, task = reading.pop(int(random.integers(len(reading))))
                try:
                    await task
                except BackendError:
                    assert backend.device.is_lost
                    continue
                note(time, expected)

        for time in range(1, 60):
            step = random.choice(["write", "read", "compute", "wait", "pause", "lose"],
                                 p=[0.2, 0.3, 0.1, 0.15, 0.1, 0.15])  # fmt: skip
            count = int(random.integers(1, n + 1))
            if step == "write":
                values = random_array(time, count)
                backend.copy_htod(x, values)
                device[:count] = values
                note(time, values)
            elif step == "read":
                task = asyncio.ensure_future(
                    backend.copy_dtoh_async(np.zeros(count, np.float32), x)
                )
                await asyncio.sleep(0)  # it has started
                reading.append((time, device[:count].copy(), task))
            elif step == "compute":
                backend.unary("neg", x, x, count)
                device[:count] = -device[:count]
            elif step == "wait":
                await end_reads()
            elif step == "pause":
                await asyncio.sleep(0)
            else:
                destroy(backend)
                with pytest.raises(BackendError):
                    await backend.synchronize_async()
                await end_reads()
                await backend.recover()
                device = known.copy()
                result = np.zeros(n, np.float32)
                await backend.copy_dtoh_async(result, x)
                assert_same_bits(result, known, f"recovered at {time}")

    with opened() as backend:
        run_sync(play(backend))


def test_a_small_write_to_a_large_kept_buffer_copies_a_small_part() -> None:
    import tracemalloc

    n = 2**24
    with opened() as backend:
        x = backend.alloc(n, keep=True)
        data = np.arange(n, dtype=np.uint32).view(np.uint8)[:n]
        backend.copy_htod(x, data)
        tracemalloc.start()
        try:
            for i in range(10):
                backend.copy_htod(x, bytes([i, 1, 2, 3]))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < n // 16, "bytes that Python took for writes of 4 bytes"
        lose(backend)
        wait_for(backend.recover())
        result = np.zeros(n, np.uint8)
        backend.copy_dtoh(result, x)
        assert result[:4].tolist() == [9, 1, 2, 3]
        assert_same_bits(result[4:], data[4:], "the rest")


@pytest.mark.parametrize("count", [1, 2, 3, 5, 63])
def test_kept_bytes_of_any_count(count: int) -> None:
    data = bytes(range(1, count + 1))
    with opened() as backend:
        x = backend.alloc(count, keep=True)
        backend.copy_htod(x, data)
        for _ in range(2):  # recovered buffers are kept again
            lose(backend)
            wait_for(backend.recover())
            result = bytearray(count)
            backend.copy_dtoh(result, x)
            assert result == data


def test_a_freed_buffer_is_not_kept() -> None:
    with opened() as backend:
        x = backend.alloc(64, keep=True)
        backend.free(x)
        lose(backend)
        wait_for(backend.recover())
        assert backend.device.memory.buffers == 0


def test_two_recoveries_at_once_open_one_device() -> None:
    import js

    with opened() as backend:
        x = backend.alloc(8, keep=True)
        backend.copy_htod(x, b"twofold!")
        lose(backend)
        before = js.gpuWatch.devices.length

        async def recover_twice() -> None:
            await asyncio.gather(backend.recover(), backend.recover(), backend.recover())

        wait_for(recover_twice())
        assert js.gpuWatch.devices.length == before + 1
        result = bytearray(8)
        backend.copy_dtoh(result, x)
        assert result == b"twofold!"


def test_a_recovery_without_room_can_be_tried_again() -> None:
    import js

    from browsergpu.errors import DeviceLost, OutOfMemory

    with opened(memory_limit=2**20) as backend:
        data = random_array(1, 16)
        x = backend.alloc(64, keep=True)
        y = backend.alloc(64)
        backend.copy_htod(x, data)
        lose(backend)
        # A limit that the new device exceeds. Both devices share the config object.
        good = backend._config
        backend._config = type(good)(memory_limit=4)
        alive = js.gpuWatch.buffersAlive
        with pytest.raises(OutOfMemory) as caught:
            wait_for(backend.recover())
        assert caught.value.op == "recover"
        assert js.gpuWatch.buffersAlive <= alive
        with pytest.raises(DeviceLost):
            backend.synchronize()
        backend._config = good
        wait_for(backend.recover())
        assert_same_bits(read(backend, x, 16), data, "kept")
        with pytest.raises(DeviceLost, match="'alloc'"):
            read(backend, y, 1)


def test_closing_while_recovering() -> None:
    from browsergpu.errors import NotInitialized

    async def recover_and_close(backend: Any) -> None:
        recovering = asyncio.ensure_future(backend.recover())
        await asyncio.sleep(0)
        backend.close()
        await recovering

    with opened() as backend:
        lose(backend)
        wait_for(recover_and_close(backend))
        assert not backend.is_initialized
        with pytest.raises(NotInitialized):
            backend.synchronize()


def test_caches_and_settings_after_a_recovery() -> None:
    with opened(preferred_workgroup_size=64, debug_mode=True) as backend:
        x = backend.alloc(64, keep=True)
        backend.copy_htod(x, np.ones(16, np.float32))
        backend.unary("neg", x, x, 16)
        lose(backend)
        wait_for(backend.recover())
        assert backend.device.workgroup_sizes.elementwise == 64
        assert backend.device.config.debug_mode
        backend.unary("neg", x, x, 16)  # compiled for the new device
        assert_same_bits(read(backend, x, 16), np.full(16, -1.0, np.float32), "negated")


def test_drawing_after_a_recovery() -> None:
    from js import browsergpuCanvases

    with opened() as backend:
        x = backend.alloc(48, keep=True)
        backend.copy_htod(x, np.ones(12, np.float32))
        backend.draw(x, 2, 2, 3, "gpu-canvas")
        backend.synchronize()
        lose(backend)
        wait_for(backend.recover())
        backend.draw(x, 3, 4, 1, "gpu-canvas")
        backend.synchronize()
        canvas = browsergpuCanvases.get("gpu-canvas")
        assert (canvas.height, canvas.width) == (3, 4)


# -- with_retry ------------------------------------------------------------------------------------


def test_with_retry_recovers_and_calls_again() -> None:
    with opened() as backend:
        x = backend.alloc(40, keep=True)
        data = random_array(1, 10)
        backend.copy_htod(x, data)
        calls = []

        def work() -> np.ndarray:
            calls.append(1)
            if len(calls) == 1:
                destroy(backend)
            return read(backend, x, 10)

        assert_same_bits(wait_for(backend.with_retry(work)), data, "second attempt")
        assert len(calls) == 2

        async def work_async() -> np.ndarray:
            calls.append(1)
            if len(calls) < 5:
                destroy(backend)
            result = np.zeros(10, np.float32)
            await backend.copy_dtoh_async(result, x)
            return result

        assert_same_bits(wait_for(backend.with_retry(work_async, 3)), data, "third attempt")
        assert len(calls) == 5


def test_with_retry_gives_up() -> None:
    from browsergpu.errors import DeviceLost

    with opened() as backend:
        calls = []

        def work() -> None:
            calls.append(1)
            destroy(backend)
            backend.synchronize()

        with pytest.raises(DeviceLost):
            wait_for(backend.with_retry(work, attempts=2))
        assert len(calls) == 2


def test_with_retry_passes_other_exceptions_on() -> None:
    with opened() as backend:
        calls = []

        def work() -> None:
            calls.append(1)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            wait_for(backend.with_retry(work))
        assert len(calls) == 1
        assert wait_for(backend.with_retry(lambda: 42)) == 42


@pytest.mark.parametrize(
    ("argument", "fn", "attempts"),
    [("fn", None, 3), ("fn", "f", 3), ("attempts", int, 0), ("attempts", int, 1.5)],
)
def test_with_retry_checks_its_arguments(argument: str, fn: Any, attempts: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with opened() as backend:
        with pytest.raises(InvalidArgument) as caught:
            wait_for(backend.with_retry(fn, attempts))
        assert (caught.value.op, caught.value.argument) == ("with_retry", argument)


# -- tensors ---------------------------------------------------------------------------------------


def test_tensors_after_a_recovery() -> None:
    from browsergpu import TensorBackend
    from browsergpu.errors import DeviceLost, InvalidArgument

    with opened() as backend:
        tensors = TensorBackend(backend)
        stale = tensors.alloc_tensor((4,), "f32")
        tensors.write_tensor(stale, np.ones(4, np.float32))
        lose(backend)
        for use in (
            lambda: tensors.read_tensor(stale),
            lambda: tensors.relu(stale, stale),
            lambda: tensors.alloc_tensor((4,), "f32"),
            tensors.sync,
        ):
            with pytest.raises(DeviceLost):
                use()
        wait_for(backend.recover())
        fresh = tensors.alloc_tensor((4,), "f32")
        assert fresh != stale
        for use in (
            lambda: tensors.read_tensor(stale),
            lambda: tensors.relu(stale, fresh),
            lambda: tensors.free_tensor(stale),
        ):
            with pytest.raises((InvalidArgument, DeviceLost)):
                use()
        data = random_array(1, 4)
        tensors.write_tensor(fresh, data)
        tensors.relu(fresh, fresh)
        assert_same_bits(tensors.read_numpy(fresh), np.maximum(data, 0), "relu")
        tensors.free_tensor(fresh)
        assert backend.device.memory.buffers == 0
