"""Buffer: usage, ranges, mapping and lifetime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu import Buffer, BufferUsage
from browsergpu.errors import InvalidArgument, NotInitialized, OutOfMemory

pytestmark = [pytest.mark.fast, pytest.mark.firefox]


@st.composite
def edits(draw: st.DrawFn) -> tuple[int, list[tuple[int, bytes]]]:
    size = draw(st.integers(0, 41))
    steps = []
    for _ in range(draw(st.integers(0, 6))):
        offset = draw(st.integers(0, size))
        steps.append((offset, draw(st.binary(max_size=size - offset))))
    return size, steps


@given(case=edits())
def test_any_bytes_anywhere(backend: Any, case: tuple[int, list[tuple[int, bytes]]]) -> None:
    size, steps = case
    buffer = Buffer(backend.device, size)
    expected = bytearray(b"\xa5" * size)
    buffer.write_data(expected)
    for offset, data in steps:
        buffer.write_data(data, offset)
        expected[offset : offset + len(data)] = data
        assert buffer.read_data(offset, len(data)) == data
        assert buffer.read_data(offset) == expected[offset:]
    assert buffer.read_data() == expected
    buffer.free()


def test_ranges_share_the_memory(backend: Any) -> None:
    buffer = Buffer(backend.device, 20)
    buffer.write_data(bytes(range(20)))
    part = buffer.range(3, 10)
    assert (len(part), part.read_data()) == (10, bytes(range(3, 13)))
    inner = part.range(2)
    assert inner.read_data() == bytes(range(5, 13))
    inner.write_data(b"\xff\xfe", 1)
    assert buffer.read_data(5, 4) == b"\x05\xff\xfe\x08"
    with pytest.raises(InvalidArgument):
        part.read_data(4, 7)


def test_mapping(backend: Any) -> None:
    buffer = Buffer(backend.device, 32)
    values = np.arange(8, dtype=np.float32)
    buffer.write_data(values)
    with buffer.map("read") as array:
        np.testing.assert_array_equal(array.view(np.float32), values)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with buffer.map("read_write", 4, 8) as array:
        array.view(np.float32)[:] *= 10
    with buffer.map("write", 28) as array:
        assert not array.any()
        array.view(np.float32)[:] = -1
    expected = np.array([0, 10, 20, 3, 4, 5, 6, -1], np.float32)
    np.testing.assert_array_equal(np.frombuffer(buffer.read_data(), np.float32), expected)

    def fail() -> None:
        with buffer.map("write") as array:
            array[:] = 7
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    np.testing.assert_array_equal(np.frombuffer(buffer.read_data(), np.float32), expected)


def test_the_async_forms(backend: Any) -> None:
    from pyodide.ffi import run_sync

    buffer = Buffer(backend.device, 6)
    buffer.write_data(b"abcdef")

    async def work() -> bytes:
        async with buffer.map_async("read_write", 1, 2) as array:
            array[:] = list(b"XY")
        return await buffer.read_data_async(0, 4)

    assert run_sync(work()) == b"aXYd"


@pytest.mark.parametrize(
    ("usage", "refused"),
    [
        ({"storage"}, {"write_data", "read_data", "map read", "map write"}),
        ({"copy_dst"}, {"read_data", "map read", "map write"}),
        ({"copy_src"}, {"write_data", "map read", "map write"}),
        ({"map_read"}, {"write_data", "map write"}),
        ({"map_write"}, {"read_data", "map read"}),
        (set(BufferUsage), set()),
    ],
)
def test_usage(backend: Any, usage: set[str], refused: set[str]) -> None:
    buffer = Buffer(backend.device, 4, usage=usage)
    calls = {
        "write_data": lambda: buffer.write_data(b"1234"),
        "read_data": buffer.read_data,
        "map read": lambda: buffer.map("read").__enter__(),
        "map write": lambda: buffer.map("write").__enter__(),
    }
    for name, call in calls.items():
        if name in refused:
            with pytest.raises(InvalidArgument, match="usage"):
                call()
        else:
            call()


def test_invalid_arguments_are_refused(backend: Any) -> None:
    device = backend.device
    buffer = Buffer(device, 8, label="weights")
    before = device.recorder.counters["dispatches"]
    for call in (
        lambda: Buffer(device, -1),
        lambda: Buffer(device, 4.0),
        lambda: Buffer(device, 4, usage=()),
        lambda: Buffer(device, 4, usage="vertex"),
        lambda: Buffer(backend, 4),
        lambda: buffer.write_data(b"123456789"),
        lambda: buffer.write_data(b"1", 8),
        lambda: buffer.write_data(b"", 9),
        lambda: buffer.write_data(np.zeros(1, np.float64)),
        lambda: buffer.write_data("text"),
        lambda: buffer.read_data(-1),
        lambda: buffer.read_data(0, 9),
        lambda: buffer.range(4, 5),
        lambda: buffer.map("append").__enter__(),
    ):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(OutOfMemory):
        Buffer(device, 2**50)
    assert device.recorder.counters["dispatches"] == before


def test_its_life(backend: Any) -> None:
    memory = backend.device.memory
    before = memory.buffers
    buffer = Buffer(backend.device, 100, label="weights")
    assert memory.by_label["weights"] >= 100
    part = buffer.range(0, 8)
    del buffer
    assert memory.buffers == before + 1, "a range keeps the memory"
    part.write_data(b"alive!!!")
    assert part.read_data() == b"alive!!!"
    del part
    assert memory.buffers == before, "freed without the cycle collector"
    freed = Buffer(backend.device, 4)
    freed.free()
    freed.free()
    assert memory.buffers == before
    with pytest.raises(NotInitialized):
        freed.write_data(b"1234")
    with pytest.raises(NotInitialized):
        freed.read_data()
