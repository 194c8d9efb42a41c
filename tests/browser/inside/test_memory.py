"""alloc, free, copy_htod, copy_dtoh, synchronize and their statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu, random_array

DTYPES = ["f2", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "c8", ">f4", ">i2"]


def random_bytes(seed: int, count: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8).tobytes()


def downloaded(backend: Any, pointer: int, count: int) -> bytes:
    result = bytearray(b"\xa5" * count)
    backend.copy_dtoh(result, pointer)
    return bytes(result)


@pytest.mark.parametrize("count", [*range(1, 10), 255, 256, 257, 4095, 4097, 65_537, 1_000_003])
def test_round_trips_of_any_byte_count(backend: Any, count: int) -> None:
    data = random_bytes(count, count)
    pointer = backend.alloc(count)
    try:
        backend.copy_htod(pointer, data)
        assert downloaded(backend, pointer, count) == data
    finally:
        backend.free(pointer)


@given(data=st.data())
def test_partial_writes_keep_the_rest(backend: Any, data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 40), "bytes of the buffer")
    first = random_bytes(1, total)
    pointer = backend.alloc(total)
    try:
        backend.copy_htod(pointer, first)
        expected = first
        for seed, count in enumerate(data.draw(st.lists(st.integers(0, total), max_size=3))):
            part = random_bytes(seed + 2, count)
            backend.copy_htod(pointer, part)
            expected = part + expected[count:]
        assert downloaded(backend, pointer, total) == expected
    finally:
        backend.free(pointer)


@given(data=st.data())
def test_partial_reads_fill_no_more_than_asked(backend: Any, data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 40), "bytes of the buffer")
    count = data.draw(st.integers(0, total), "bytes read")
    contents = random_bytes(1, total)
    pointer = backend.alloc(total)
    try:
        backend.copy_htod(pointer, contents)
        surroundings = bytearray(b"\xa5" * (total + 8))
        backend.copy_dtoh(memoryview(surroundings)[4 : 4 + count], pointer)
    finally:
        backend.free(pointer)
    assert surroundings == b"\xa5" * 4 + contents[:count] + b"\xa5" * (total + 4 - count)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")])
def test_sources_of_any_kind(backend: Any, kind: Any) -> None:
    data = random_bytes(3, 23)
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(23)
        backend.copy_htod(pointer, kind(data))
        assert downloaded(backend, pointer, 23) == data


@pytest.mark.parametrize("count", [1, 3, 4, 7])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_any_dtype(backend: Any, dtype: str, count: int) -> None:
    size = np.dtype(dtype).itemsize * count
    array = np.frombuffer(random_bytes(5, size), np.uint8).copy()
    if dtype == "?":
        array &= 1
    array = array.view(dtype)
    result = np.zeros_like(array)
    with on_gpu(backend) as gpu:
        # In a larger buffer, the last bytes take the path for partial words.
        for room in (0, 9):
            pointer = gpu.alloc(size + room)
            backend.copy_htod(pointer, array)
            backend.copy_dtoh(result, pointer)
            assert result.tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 3, 4), (0,), (3, 0)])
def test_arrays_of_any_shape(backend: Any, shape: tuple[int, ...]) -> None:
    array = random_array(1, *shape) if shape else np.array(1.5, np.float32)
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(array.nbytes)
        backend.copy_htod(pointer, array)
        result = np.zeros_like(array)
        backend.copy_dtoh(result, pointer)
    assert_same_bits(result, array, "array")


LAYOUTS = {
    "Fortran": lambda x: np.asfortranarray(x),
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda x: x.T.copy().T,
    "a slice": lambda x: np.pad(x, 2)[2:-2, 2:-2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_sources_of_any_layout_arrive_in_c_order(backend: Any, layout: Any) -> None:
    source = layout(random_array(1, 6, 7))
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(source.nbytes)
        backend.copy_htod(pointer, source)
        assert_same_bits(gpu.download(pointer, source.shape), np.array(source, order="C"), "array")


def test_a_source_may_change_after_the_copy(backend: Any) -> None:
    source = random_array(1, 100)
    expected = source.copy()
    with on_gpu(backend) as gpu:
        pointer = gpu.alloc(source.nbytes)
        backend.copy_htod(pointer, source)
        source[:] = np.nan
        assert_same_bits(gpu.download(pointer, 100), expected, "array")


@pytest.mark.fast
def test_copies_and_ops_keep_their_order(backend: Any) -> None:
    # Each upload must follow the ops recorded before it, also if it is a partial word.
    with on_gpu(backend) as gpu:
        a, total = gpu.alloc(28), gpu.upload(np.zeros(7, np.float32))
        expected = np.zeros(7, np.float32)
        for round_ in range(20):
            values = random_array(round_, 7)
            backend.copy_htod(a, values)
            backend.binary("add", total, a, total, 7)
            expected += values
            tail = values.tobytes()[:13]
            backend.copy_htod(a, tail)
            backend.binary("add", total, a, total, 7)
            expected += values
        assert_same_bits(gpu.download(total, 7), expected, "running sum")


def test_many_more_ops_than_one_batch_holds(backend: Any) -> None:
    rounds = 3000
    with on_gpu(backend) as gpu:
        one, total = gpu.upload(np.ones(3, np.float32)), gpu.upload(np.zeros(3, np.float32))
        for _ in range(rounds):
            backend.binary("add", total, one, total, 3)
        result = gpu.download(total, 3)
    assert_same_bits(result, np.full(3, rounds, np.float32), "one added again and again")


@pytest.mark.fast
def test_a_freed_buffer_serves_the_work_recorded_with_it(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        result = gpu.filled(64)
        source = backend.alloc(256)
        backend.copy_htod(source, np.full(64, 5.0, np.float32))
        backend.unary("neg", source, result, 64)
        backend.free(source)
        other = gpu.alloc(256)  # probably the same memory
        backend.copy_htod(other, np.full(64, 9.0, np.float32))
        assert_same_bits(gpu.download(result, 64), np.full(64, -5.0, np.float32), "result")


def test_pointers_are_distinct_and_never_zero(backend: Any) -> None:
    pointers = [backend.alloc(16) for _ in range(50)]
    for pointer in pointers:
        backend.free(pointer)
    assert len(set(pointers)) == 50
    assert all(type(pointer) is int and pointer > 0 for pointer in pointers)


def test_a_pointer_is_not_given_out_again(backend: Any) -> None:
    # A stale pointer must stay invalid, and not point to another buffer.
    first = backend.alloc(16)
    backend.free(first)
    second = backend.alloc(16)
    backend.free(second)
    assert first != second


def test_numpy_integers_are_pointers_and_sizes(backend: Any) -> None:
    pointer = np.int64(backend.alloc(np.int64(8)))
    try:
        backend.copy_htod(pointer, np.array([1.0, -2.0], np.float32))
        backend.unary("abs", pointer, pointer, np.int32(2))
        result = np.zeros(2, np.float32)
        backend.copy_dtoh(result, pointer)
    finally:
        backend.free(pointer)
    assert_same_bits(result, np.array([1.0, 2.0], np.float32), "array")


def test_statistics(backend: Any) -> None:
    memory = backend.device.memory
    before = (memory.buffers, memory.in_use)
    pointers = [backend.alloc(10_000) for _ in range(3)]
    assert memory.buffers == before[0] + 3
    assert memory.in_use >= before[1] + 30_000
    assert memory.allocated == memory.in_use + memory.pooled
    assert memory.peak >= memory.allocated
    for pointer in pointers:
        backend.free(pointer)
    assert (memory.buffers, memory.in_use) == before


def test_the_pool_is_used_again(backend: Any) -> None:
    memory = backend.device.memory
    backend.free(backend.alloc(123_456))
    allocated = memory.allocated
    for _ in range(20):
        backend.free(backend.alloc(123_456))
    assert memory.allocated == allocated


async def copy_async(backend: Any, pointer: int, result: np.ndarray) -> None:
    await backend.synchronize_async()
    await backend.copy_dtoh_async(result, pointer)


def test_async_twins(backend: Any) -> None:
    from pyodide.ffi import run_sync

    data = random_array(1, 33)
    result = np.zeros_like(data)
    with on_gpu(backend) as gpu:
        run_sync(copy_async(backend, gpu.upload(data), result))
    assert_same_bits(result, data, "array")


def test_many_reads_at_once(backend: Any) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    data = [random_array(seed, 10 + seed) for seed in range(25)]
    results = [np.zeros_like(x) for x in data]

    async def read_all(pointers: list[int]) -> None:
        await asyncio.gather(
            *(backend.copy_dtoh_async(r, p) for r, p in zip(results, pointers, strict=True))
        )

    with on_gpu(backend) as gpu:
        run_sync(read_all([gpu.upload(x) for x in data]))
    for result, expected in zip(results, data, strict=True):
        assert_same_bits(result, expected, "array")


def heap_bytes() -> int:
    """Return the size of Pyodide's memory."""
    import pyodide_js

    return int(pyodide_js._module.HEAPU8.length)


def test_recording_continues_when_pythons_memory_grows(backend: Any) -> None:
    # Growing detaches every JavaScript view of the memory, including the command ring's.
    with on_gpu(backend) as gpu:
        one, total = gpu.upload(np.ones(3, np.float32)), gpu.upload(np.zeros(3, np.float32))
        ballast = []
        for _ in range(3):
            backend.binary("add", total, one, total, 3)
            before = heap_bytes()
            while heap_bytes() == before:
                ballast.append(np.ones(2**23, np.uint8))
            backend.binary("add", total, one, total, 3)
            backend.copy_htod(one, np.ones(3, np.float32))
        result = gpu.download(total, 3)
    assert_same_bits(result, np.full(3, 6, np.float32), "one added six times")


def test_a_read_returns_the_contents_at_its_start(backend: Any) -> None:
    import asyncio

    from pyodide.ffi import run_sync

    data = random_array(1, 1000)
    result = np.zeros_like(data)

    async def read_free_and_write() -> None:
        pointer = backend.alloc(data.nbytes)
        backend.copy_htod(pointer, data)
        reading = asyncio.ensure_future(backend.copy_dtoh_async(result, pointer))
        await asyncio.sleep(0)
        backend.unary("neg", pointer, pointer, 1000)
        backend.free(pointer)
        other = backend.alloc(data.nbytes)  # probably the same memory
        backend.copy_htod(other, np.zeros_like(data))
        await reading
        backend.free(other)

    run_sync(read_free_and_write())
    assert_same_bits(result, data, "array")


def test_more_than_one_row_of_workgroups_is_computed_to_its_end(backend: Any) -> None:
    # Computed on the GPU only, because Python's own memory is smaller. A new WebGPU buffer has
    # zeros, exp(0) is 1, and a sum of ones is exact.
    memory = backend.device.memory
    memory.trim()
    n = min(backend.device.largest_buffer // 4, 70_000_000)  # 65,535 × 256 × 4 are 67 million
    with on_gpu(backend) as gpu:
        x = gpu.alloc(4 * n)
        backend.unary("exp", x, x, n)
        total = gpu.filled(1)
        backend.reduce("sum", x, total, [n], 0)
        assert_same_bits(gpu.download(total, 1), np.array([n], np.float32), "the sum of ones")
    memory.trim()


def test_a_device_without_room_says_so_and_works_on(backend: Any) -> None:
    # The largest buffer that a device allows may exceed its memory.
    from browsergpu.errors import OutOfMemory

    memory = backend.device.memory
    memory.trim()
    refusal = ""
    try:
        backend.free(backend.alloc(backend.device.largest_buffer))
        backend.synchronize()
    except OutOfMemory as error:
        refusal = str(error)
    memory.trim()
    assert refusal == "" or "alloc" in refusal
    with on_gpu(backend) as gpu:
        data = random_array(1, 100)
        assert_same_bits(gpu.download(gpu.upload(data), 100), data, "array")
