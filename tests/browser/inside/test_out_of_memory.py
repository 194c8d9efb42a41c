"""The buffer pool, its statistics and limits, and full memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu, random_array

MIB = 2**20


@contextmanager
def opened(**options: Any) -> Iterator[Any]:
    """Open an initialised backend with the given options."""
    from browsergpu import WasmBackend

    with WasmBackend(**options) as backend:
        backend.init()
        yield backend


def numbers(backend: Any) -> tuple[int, int, int]:
    """Return (bytes in use, bytes pooled, buffers)."""
    memory = backend.device.memory
    return memory.in_use, memory.pooled, memory.buffers


def test_statistics_of_a_history() -> None:
    with opened() as backend:
        memory = backend.device.memory
        a = backend.alloc(1000, label="weights")
        b = backend.alloc(5000, label="weights")
        c = backend.alloc(300)
        # The size classes of 1000, 5000 and 300 bytes.
        assert numbers(backend) == (1024 + 5120 + 512, 0, 3)
        assert memory.by_label == {"weights": 6144, "alloc": 512}
        backend.free(b)
        assert numbers(backend) == (1024 + 512, 5120, 2)
        assert memory.by_label == {"weights": 1024, "alloc": 512}
        assert backend.device.memory_usage == {
            "allocated": 6656, "in_use": 1536, "pooled": 5120, "peak": 6656, "buffers": 2
        }  # fmt: skip
        assert memory.trim() == 5120
        backend.free(a)
        backend.free(c)
        assert memory.by_label == {}
        assert numbers(backend) == (0, 1536, 0)
        assert memory.peak == 6656


@pytest.mark.parametrize("nbytes", [0, 1, 255, 256, 257, 4096, 4097, 100_000, 3 * MIB + 5])
def test_size_classes_waste_at_most_an_eighth(nbytes: int) -> None:
    from browsergpu.engine.gpu.memory import size_class

    capacity = size_class(nbytes)
    assert capacity >= nbytes
    assert capacity % 256 == 0
    assert capacity <= max(256, nbytes + 256, nbytes * 9 / 8)
    assert size_class(capacity) == capacity


def test_a_freed_buffer_serves_requests_of_its_size_class_only() -> None:
    import js

    with opened() as backend:
        backend.free(backend.alloc(10_000))
        made = js.gpuWatch.buffersAlive
        same = backend.alloc(10_100)
        assert js.gpuWatch.buffersAlive == made
        assert numbers(backend)[1] == 0
        backend.free(same)
        other = backend.alloc(20_000)
        assert js.gpuWatch.buffersAlive == made + 1
        assert numbers(backend)[1] > 0
        backend.free(other)


def test_the_pool_has_a_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    import js

    from browsergpu.engine.gpu import memory

    monkeypatch.setattr(memory, "_POOL_MOST", 576 * MIB)
    with opened() as backend:
        alive = js.gpuWatch.buffersAlive
        for pointer in [backend.alloc(32 * MIB) for _ in range(20)]:
            backend.free(pointer)
        assert backend.device.memory.pooled == 576 * MIB
        backend.synchronize()
        assert js.gpuWatch.buffersAlive == alive + 18
        assert backend.device.memory.trim() == 576 * MIB
        assert js.gpuWatch.buffersAlive == alive


def test_a_loop_finds_its_large_buffers_again() -> None:
    import js

    with opened() as backend:
        for _ in range(3):
            pointers = [backend.alloc(96 * MIB) for _ in range(7)]
            alive = js.gpuWatch.buffersAlive
            for pointer in pointers:
                backend.free(pointer)
            backend.synchronize()
            assert js.gpuWatch.buffersAlive == alive


@pytest.mark.parametrize("memory_of_gpu", [None, 1024 * MIB])
def test_a_loop_beside_much_data_finds_its_buffers_again(
    monkeypatch: pytest.MonkeyPatch, memory_of_gpu: int | None
) -> None:
    from browsergpu.engine.gpu import memory

    monkeypatch.setattr(memory, "_POOL_CEILING", 32 * MIB)
    monkeypatch.setattr(memory, "_POOL_MOST", 512 * MIB)
    with opened() as backend:
        pool = backend.device.memory
        monkeypatch.setattr(pool, "_share", (memory_of_gpu or 0) // 4)
        data = [backend.alloc(96 * MIB) for _ in range(6)]
        assert pool.pooled == 0
        for pointer in [backend.alloc(48 * MIB) for _ in range(3)]:
            backend.free(pointer)
        assert pool.pooled == 3 * 48 * MIB
        for pointer in data:
            backend.free(pointer)


def test_the_pool_drops_sizes_that_are_no_longer_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import js

    from browsergpu.engine.gpu import memory

    monkeypatch.setattr(memory, "_POOL_MOST", 512 * MIB)
    with opened() as backend:
        for pointer in [backend.alloc(128 * MIB) for _ in range(4)]:
            backend.free(pointer)
        backend.free(backend.alloc(32 * MIB))
        assert backend.device.memory.pooled == (512 - 128 + 32) * MIB
        backend.synchronize()
        alive = js.gpuWatch.buffersAlive
        backend.free(backend.alloc(32 * MIB))
        backend.synchronize()
        assert js.gpuWatch.buffersAlive == alive, "a buffer was made though one of its size is idle"


def test_trimming_also_destroys_the_buffers_that_read_back() -> None:
    import js

    with opened() as backend:
        x = backend.alloc(MIB)
        alive = js.gpuWatch.buffersAlive
        backend.copy_dtoh(bytearray(MIB), x)
        assert js.gpuWatch.buffersAlive == alive + 1
        backend.device.memory.trim()
        assert js.gpuWatch.buffersAlive == alive
        backend.copy_dtoh(bytearray(MIB), x)


# -- a limit of the config's -----------------------------------------------------------------------


def test_the_memory_limit_holds_and_is_in_the_error() -> None:
    from browsergpu.errors import OutOfMemory

    with opened(memory_limit=4 * MIB) as backend:
        held = backend.alloc(3 * MIB)
        before = numbers(backend)
        with pytest.raises(OutOfMemory) as caught:
            backend.alloc(2 * MIB)
        message = str(caught.value)
        assert caught.value.op == "alloc"
        assert isinstance(caught.value, MemoryError)
        assert "2 MiB (2,097,152 bytes) were requested" in message
        assert "3 MiB (3,145,728 bytes) are in use" in message
        assert "limit is 4 MiB (4,194,304 bytes)" in message
        assert numbers(backend) == before
        fits = backend.alloc(MIB)
        assert backend.device.memory.allocated == 4 * MIB
        for pointer in (held, fits):
            backend.free(pointer)


def refused(backend: Any, nbytes: int) -> Any:
    """Return the error of a request that exceeds the memory."""
    from browsergpu.errors import OutOfMemory

    with pytest.raises(OutOfMemory) as caught:
        backend.alloc(nbytes)
    return caught.value


@pytest.mark.parametrize("nbytes", [2 * MIB - 5, 1_402_850, 3 * MIB + 123_457, 2**33 + 1])
def test_requested_and_available_bytes(nbytes: int) -> None:
    with opened(memory_limit=3_500_001) as backend:
        held = backend.alloc(2 * MIB - 777)
        error = refused(backend, nbytes)
        assert error.requested == nbytes
        assert f"({nbytes:,} bytes) were requested" in str(error)
        assert f"({error.available:,} bytes) are available" in str(error)
        assert 3_500_001 - 2 * MIB - MIB / 8 < error.available <= 3_500_001 - 2 * MIB
        again = refused(backend, error.available + 1)
        assert (again.requested, again.available) == (error.available + 1, error.available)
        fits = backend.alloc(error.available)
        backend.free(fits)
        backend.free(held)


def test_a_limit_that_is_used_up_has_nothing_available() -> None:
    with opened(memory_limit=MIB + 100) as backend:
        held = backend.alloc(MIB)
        assert (refused(backend, 1).requested, refused(backend, 1).available) == (1, 0)
        backend.free(held)
        assert refused(backend, MIB + 101).available == MIB


def test_available_memory_is_the_largest_possible_buffer() -> None:
    with opened(max_buffer_size=100_000) as backend:
        error = refused(backend, 2**40)
        assert (error.requested, error.available) == (2**40, backend.device.largest_buffer)
        backend.free(backend.alloc(error.available))
    with opened(max_buffer_size=100_000, memory_limit=50_000) as backend:
        error = refused(backend, 100_001)
        assert error.available < 50_000
        backend.free(backend.alloc(error.available))


def test_an_operations_error_names_the_requested_bytes() -> None:
    from browsergpu import KernelExecutor
    from browsergpu.errors import OutOfMemory

    with opened(memory_limit=MIB) as backend:
        executor = KernelExecutor(backend.device)
        x = executor.full((100_001,), 1.0)
        y = executor.mul(x, x)
        with pytest.raises(OutOfMemory) as caught:
            executor.mul(x, y)
        assert caught.value.requested == 400_004
        assert caught.value.available < 400_004
        del x, y


def test_the_pool_is_trimmed_before_the_limit_refuses() -> None:
    with opened(memory_limit=4 * MIB) as backend:
        backend.free(backend.alloc(3 * MIB))
        assert numbers(backend) == (0, 3 * MIB, 0)
        x = backend.alloc(2 * MIB)
        assert numbers(backend) == (2 * MIB, 0, 1)
        backend.free(x)


def test_an_op_without_room_for_its_temporaries_leaves_nothing() -> None:
    from browsergpu import TensorBackend
    from browsergpu.errors import OutOfMemory

    with opened(memory_limit=1_300_000) as backend:
        tensors = TensorBackend(backend)
        n = 100_000
        x = tensors.alloc_tensor((n,), "f16")
        y = tensors.alloc_tensor((n,), "f16")
        tensors.write_tensor(x, np.ones(n, np.float16))
        before = numbers(backend)[::2]
        big = tensors.alloc_tensor((n,), "f32")
        with pytest.raises(OutOfMemory):  # needs two float32 buffers; one fits
            tensors.softmax(x, y, 0)
        tensors.free_tensor(big)
        assert numbers(backend)[::2] == before
        tensors.relu(x, x)
        assert tensors.read_numpy(x).tolist() == [1.0] * n


# -- the GPU's own limit ---------------------------------------------------------------------------


def largest(backend: Any) -> int:
    """Return the size of the largest buffer, which SwiftShader advertises but cannot allocate."""
    if backend.device.info["architecture"] != "swiftshader":
        pytest.skip("how to run out of memory without taking all of it is known of SwiftShader")
    size: int = backend.device.largest_buffer
    return size


def test_the_gpus_refusal_raises_in_the_call_and_leaves_nothing() -> None:
    import js

    from browsergpu.errors import OutOfMemory

    with opened() as backend:
        size = largest(backend)
        data = random_array(1, 1000)
        with on_gpu(backend) as gpu:
            x = gpu.upload(data)
            before = numbers(backend)
            alive = js.gpuWatch.buffersAlive
            for _ in range(3):
                with pytest.raises(OutOfMemory) as caught:
                    backend.alloc(size)
                assert caught.value.op == "alloc"
                assert f"({size:,} bytes) were requested" in str(caught.value)
                assert (caught.value.requested, caught.value.available) == (size, None)
                assert f"{before[0]:,} bytes" in str(caught.value)
                assert "the GPU's own" in str(caught.value)
                assert numbers(backend) == before
                assert js.gpuWatch.buffersAlive == alive
            backend.synchronize()  # the error is not raised again
            assert_same_bits(gpu.download(x, 1000), data, "what was there before")


def test_the_gpus_refusal_trims_the_pool_and_tries_once_more() -> None:
    import js

    from browsergpu.errors import OutOfMemory
    from inside.spies import watched

    with opened() as backend:
        size = largest(backend)
        backend.free(backend.alloc(MIB))
        alive = js.gpuWatch.buffersAlive
        with watched("GPUDevice", "createBuffer") as calls, pytest.raises(OutOfMemory):
            backend.alloc(size)
        assert [d["size"] for d in calls.of("createBuffer")] == [size, size]
        assert numbers(backend) == (0, 0, 0)
        assert js.gpuWatch.buffersAlive == alive - 1


def called_by_javascript(work: Callable[[], Any]) -> Any:
    """Call a function from JavaScript, where Python cannot block, and return its result."""
    from pyodide.code import run_js

    from browsergpu.engine.gpu import platform

    results = []

    def call() -> None:
        assert not platform.can_block()
        results.append(work())

    run_js("(call) => call()")(call)
    return results[0]


def test_where_python_cannot_block_the_next_wait_tells() -> None:
    from browsergpu.errors import OutOfMemory

    with opened() as backend:
        size = largest(backend)
        backend.free(backend.alloc(4096))
        before = numbers(backend)
        pointer = called_by_javascript(lambda: backend.alloc(size - 5, label="all of it"))
        with pytest.raises(
            OutOfMemory, match=rf"buffer 'all of it' of .*\({size - 5:,} bytes\)"
        ) as caught:
            backend.synchronize()
        assert caught.value.op == "alloc"
        assert (caught.value.requested, caught.value.available) == (size - 5, None)
        backend.synchronize()
        # A buffer that failed to allocate is not reused for the next request.
        backend.free(pointer)
        assert numbers(backend) == before
        # The pool is trimmed before a new allocation.
        x = backend.alloc(100_000)
        assert numbers(backend)[1] == 0
        data = random_array(1, 25_000)
        backend.copy_htod(x, data)
        result = np.zeros_like(data)
        backend.copy_dtoh(result, x)
        assert_same_bits(result, data, "after running out of memory")
        backend.free(x)


@pytest.mark.provokes_errors
def test_work_with_a_buffer_that_never_was_raises_out_of_memory() -> None:
    from browsergpu.errors import BackendError, OutOfMemory

    with opened() as backend:
        size = largest(backend)
        pointer = called_by_javascript(lambda: backend.alloc(size))
        backend.unary("neg", pointer, pointer, 8)
        with pytest.raises(OutOfMemory):
            backend.copy_dtoh(bytearray(32), pointer)
        with pytest.raises(BackendError):
            backend.copy_dtoh(bytearray(32), pointer)
        backend.free(pointer)
        with on_gpu(backend) as gpu:
            data = random_array(2, 9)
            assert_same_bits(gpu.download(gpu.upload(data), 9), data, "afterwards")


def test_many_requests_at_once_where_there_is_no_room() -> None:
    import asyncio

    from pyodide.ffi import run_sync

    from browsergpu.errors import OutOfMemory

    async def ask(backend: Any, size: int) -> None:
        backend.alloc(size)

    async def ask_all(backend: Any, size: int) -> list[Any]:
        asked = (ask(backend, size) for _ in range(4))
        return await asyncio.gather(*asked, return_exceptions=True)

    with opened(memory_limit=4 * MIB) as backend:
        answers = run_sync(ask_all(backend, 2 * MIB))
        assert sum(answer is None for answer in answers) == 2
        assert sum(isinstance(answer, OutOfMemory) for answer in answers) == 2
        assert backend.device.memory.allocated == 4 * MIB
