"""Tensors: allocation, contents, handles, lifetime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.tensors.lab import DTYPES, on_bench, sent

SHAPES = [(), (0,), (1,), (3, 0, 2), (5,), (2, 3), (7, 11, 13), (1, 1, 1, 1, 1), (257,), (70_001,)]


def values(dtype: str, shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    """Return random bits that are valid for the dtype."""
    random = np.random.default_rng(seed)
    code = np.dtype(DTYPES[dtype])
    if dtype == "bool":
        return np.asarray(random.integers(0, 2, shape).astype(bool))
    size = int(np.prod(shape)) * code.itemsize
    return np.frombuffer(random.bytes(size), code).reshape(shape)


@pytest.mark.fast
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trips(tensors: Any, dtype: str) -> None:
    for shape in SHAPES:
        array = values(dtype, shape)
        with on_bench(tensors) as bench:
            for data in (array, array.tobytes(), bytearray(array.tobytes())):
                handle = bench.new(shape, dtype)
                tensors.write_tensor(handle, data)
                assert_same_bits(bench.get(handle), array, f"{dtype} {shape}")
                assert tensors.read_tensor(handle) == array.tobytes()


def test_true_is_any_byte_but_0(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        flags = bench.new((5,), "bool")
        tensors.write_tensor(flags, b"\x00\x01\x02\xff\x00")
        assert tensors.read_tensor(flags) == b"\x00\x01\x01\x01\x00"
        count = bench.new((), "i32")
        tensors.reduce_sum(flags, count, None)
        assert int(bench.get(count)) == 3


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("f32", 24), ("f16", 12), ("i32", 24), ("u32", 24), ("bool", 24), ("u8", 6)],
)
def test_meta(tensors: Any, dtype: str, size: int) -> None:
    from browsergpu import DType, TensorMeta

    with on_bench(tensors) as bench:
        meta = tensors.tensor_meta(bench.new((3, 2), dtype))
        assert meta == TensorMeta((3, 2), DType(dtype), size)
        assert meta.dtype == dtype
        assert tensors.tensor_meta(bench.new((), dtype)).shape == ()
        same = tensors.alloc_tensor(np.array([3, 2]), DType(dtype))
        try:
            assert tensors.tensor_meta(same) == meta
        finally:
            tensors.free_tensor(same)


@pytest.mark.parametrize("layout", ["Fortran", "reversed", "every second", "read-only"])
def test_arrays_of_any_layout_arrive_in_c_order(tensors: Any, layout: str) -> None:
    array = np.arange(30, dtype=np.float32).reshape(5, 6)
    source = {
        "Fortran": np.asfortranarray(array),
        "reversed": np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
        "every second": np.repeat(array, 2, 1)[:, ::2],
        "read-only": np.frombuffer(array.tobytes(), np.float32).reshape(5, 6),
    }[layout]
    with on_bench(tensors) as bench:
        assert_same_bits(bench.get(bench.up(source)), array, layout)


# ---- narrowing ----------------------------------------------------------------------------------

WHOLE = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8"]


@pytest.mark.parametrize("target", ["i32", "u32", "u8"])
@pytest.mark.parametrize("source", WHOLE)
def test_integers_that_fit_are_accepted(tensors: Any, source: str, target: str) -> None:
    limits, own = np.iinfo(DTYPES[target]), np.iinfo(source)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    array = np.array([low, 0, 1, 100, high], source)
    with on_bench(tensors) as bench:
        result = bench.get(bench.up(array, target))
    assert result.dtype == np.dtype(DTYPES[target])
    assert result.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("target", "value"),
    [("i32", 2**31), ("i32", -(2**31) - 1), ("u32", 2**32), ("u32", -1), ("u8", 256), ("u8", -1)],
)
def test_a_number_that_does_not_fit_is_refused(
    backend: Any, tensors: Any, target: str, value: int
) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        handle = bench.new((3,), target)
        before = bench.get(handle)
        uploads = sent(backend)["uploads"]
        with pytest.raises(
            InvalidArgument, match=rf"write_tensor: data must .*{target} holds, got .*{value}"
        ):
            tensors.write_tensor(handle, np.array([0, value, 1], np.int64))
        assert sent(backend)["uploads"] == uploads
        assert_same_bits(bench.get(handle), before, "the tensor")


def test_uint64_beyond_int64_is_refused(tensors: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench, pytest.raises(InvalidArgument, match=str(2**64 - 1)):
        bench.up(np.array([2**64 - 1], np.uint64), "u32")


@pytest.mark.parametrize("dtype", DTYPES)
def test_float64_is_refused_with_the_way_out(tensors: Any, dtype: str) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench, pytest.raises(InvalidArgument) as caught:
        bench.up(np.ones(3), dtype)
    assert "float64" in str(caught.value)
    assert f".astype(np.{np.dtype(DTYPES[dtype])})" in str(caught.value)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.ones(3, np.float32), "f16"),
        (np.ones(3, np.float32), "i32"),
        (np.ones(3, np.int32), "f32"),
        (np.ones(3, np.int32), "bool"),
        (np.ones(3, bool), "i32"),
        (np.ones(3, np.complex64), "f32"),
        (np.array(["a", "b", "c"]), "f32"),
        (np.array([1, 2, 3], object), "i32"),
    ],
)
def test_other_dtypes_are_refused(tensors: Any, array: np.ndarray, dtype: str) -> None:
    from browsergpu.errors import InvalidArgument

    with (
        on_bench(tensors) as bench,
        pytest.raises(InvalidArgument, match=re.escape(f"got {array.dtype}.")),
    ):
        bench.up(array, dtype)


def test_float16_widens(tensors: Any) -> None:
    array = np.array([1.5, -2.0, np.inf], np.float16)
    with on_bench(tensors) as bench:
        assert bench.get(bench.up(array, "f32")).tolist() == [1.5, -2.0, np.inf]


@pytest.mark.parametrize("wrong", [-1, 1, 4, 1000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_of_a_wrong_length(tensors: Any, dtype: str, wrong: int) -> None:
    from browsergpu.errors import InvalidArgument

    right = 6 * np.dtype(DTYPES[dtype]).itemsize
    with on_bench(tensors) as bench:
        handle = bench.new((2, 3), dtype)
        with pytest.raises(
            InvalidArgument, match=rf"must be {right} bytes.*got .*\b{right + wrong:,} bytes"
        ):
            tensors.write_tensor(handle, bytes(right + wrong))


@pytest.mark.parametrize("data", [None, 5, 1.5, [1, 2, 3], "abc", object()])
def test_data_of_a_wrong_kind(tensors: Any, data: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        handle = bench.new((3,))
        with pytest.raises(InvalidArgument, match="write_tensor: data"):
            tensors.write_tensor(handle, data)


@pytest.mark.parametrize("shape", [(), (6,), (3, 2), (2, 3, 1), (2, 4)])
def test_arrays_of_another_shape(tensors: Any, shape: tuple[int, ...]) -> None:
    from browsergpu.errors import InvalidArgument

    with on_bench(tensors) as bench:
        handle = bench.new((2, 3))
        with pytest.raises(InvalidArgument, match=r"must have shape \(2, 3\)"):
            tensors.write_tensor(handle, np.zeros(shape, np.float32))


# ---- allocation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [None, 3, "12", b"12", (-1,), (1.5,), (True,), (2, None), [[1]],
                                   (2**40,), {3}])  # fmt: skip
def test_bad_shapes(backend: Any, tensors: Any, shape: Any) -> None:
    from browsergpu.errors import InvalidArgument

    buffers = backend.device.memory.buffers
    with pytest.raises(InvalidArgument, match="alloc_tensor: shape"):
        tensors.alloc_tensor(shape, "f32")
    assert backend.device.memory.buffers == buffers


@pytest.mark.parametrize("dtype", ["f64", "float64", "F32", "", None, 3, np.float64, [], "i64"])
def test_bad_dtypes(tensors: Any, dtype: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"alloc_tensor: dtype .*'f32', 'f16', 'i32'"):
        tensors.alloc_tensor((3,), dtype)


def test_a_tensor_that_is_too_large(backend: Any, tensors: Any) -> None:
    from browsergpu.errors import OutOfMemory

    memory = backend.device.memory
    before = (memory.buffers, memory.in_use)
    with pytest.raises(OutOfMemory, match="alloc_tensor"):
        tensors.alloc_tensor((2**20, 2**20), "f32")
    assert (memory.buffers, memory.in_use) == before


# ---- handles ------------------------------------------------------------------------------------

USES = {
    "tensor_meta": lambda t, h: t.tensor_meta(h),
    "read_tensor": lambda t, h: t.read_tensor(h),
    "read_numpy": lambda t, h: t.read_numpy(h),
    "write_tensor": lambda t, h: t.write_tensor(h, bytes(12)),
    "free_tensor": lambda t, h: t.free_tensor(h),
    "relu": lambda t, h: t.relu(h, h),
    "dispatch_compute": lambda t, h: t.dispatch_compute("", [h], None, 1),
}


def refuse(tensors: Any, op: str, handle: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(
        InvalidArgument, match=rf"{op}: .*alloc_tensor that was not freed"
    ) as caught:
        USES[op](tensors, handle)
    assert caught.value.op == op
    assert caught.value.value is handle


@pytest.mark.parametrize(
    "handle", [0, -1, 10**9, 2**70, 1.0, True, False, None, "1", [1], np.True_]
)
@pytest.mark.parametrize("op", USES)
def test_unknown_handles(backend: Any, tensors: Any, op: str, handle: Any) -> None:
    before = sent(backend)
    refuse(tensors, op, handle)
    assert sent(backend) == before


@pytest.mark.parametrize("op", USES)
def test_freed_handles(tensors: Any, op: str) -> None:
    handle = tensors.alloc_tensor((3,), "f32")
    tensors.free_tensor(handle)
    refuse(tensors, op, handle)
    other = tensors.alloc_tensor((3,), "f32")
    try:
        assert other != handle  # never reused
        refuse(tensors, op, handle)
    finally:
        tensors.free_tensor(other)


@pytest.mark.parametrize("op", USES)
def test_handles_of_another_backend(backend: Any, tensors: Any, op: str) -> None:
    from browsergpu import TensorBackend

    other = TensorBackend(backend)
    handle = other.alloc_tensor((3,), "f32")
    try:
        refuse(tensors, op, handle)
    finally:
        other.free_tensor(handle)


def test_pointers_are_no_handles(backend: Any, tensors: Any) -> None:
    pointers = [backend.alloc(12) for _ in range(3)]
    try:
        with on_bench(tensors) as bench:
            mine = bench.new((3,))
            for pointer in set(pointers) - {mine}:
                refuse(tensors, "relu", pointer)
    finally:
        for pointer in pointers:
            backend.free(pointer)


def test_handles_are_ints_and_numpys_serve_too(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        handle = bench.up(np.array([-1.0, 2.0], np.float32))
        assert type(handle) is int
        assert handle > 0
        tensors.relu(np.int64(handle), np.uint32(handle))
        assert bench.get(handle).tolist() == [0.0, 2.0]


def test_a_freed_tensor_serves_the_work_recorded_with_it(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        result = bench.new((64,))
        source = tensors.alloc_tensor((64,), "f32")
        tensors.write_tensor(source, np.full(64, 5.0, np.float32))
        tensors.relu(source, result)
        tensors.free_tensor(source)
        bench.up(np.full(64, 9.0, np.float32))  # probably the same memory
        assert set(bench.get(result).tolist()) == {5.0}


# ---- a backend's life ---------------------------------------------------------------------------


@pytest.fixture
def own() -> Iterator[tuple[Any, Any]]:
    """A WasmBackend that the test may close, and its TensorBackend."""
    from browsergpu import TensorBackend, WasmBackend

    backend = WasmBackend()
    backend.init()
    yield backend, TensorBackend(backend)
    backend.close()


@pytest.mark.parametrize("op", [*USES, "alloc_tensor", "sync"])
def test_after_close(own: tuple[Any, Any], op: str) -> None:
    from browsergpu.errors import NotInitialized

    backend, tensors = own
    handle = tensors.alloc_tensor((3,), "f32")
    assert tensors.is_available is True
    backend.close()
    assert tensors.is_available is False
    uses = {**USES, "alloc_tensor": lambda t, h: t.alloc_tensor((3,), "f32"),
            "sync": lambda t, h: t.sync()}  # fmt: skip
    with pytest.raises(NotInitialized, match=rf"{op}: the backend is closed"):
        uses[op](tensors, handle)


def test_after_reopening_old_handles_are_unknown(own: tuple[Any, Any]) -> None:
    backend, tensors = own
    old = tensors.alloc_tensor((3,), "f32")
    backend.close()
    backend.init()
    refuse(tensors, "relu", old)
    with on_bench(tensors) as bench:
        assert bench.get(bench.up(np.ones(3, np.float32))).tolist() == [1, 1, 1]


def test_before_init() -> None:
    from browsergpu import TensorBackend, WasmBackend
    from browsergpu.errors import NotInitialized

    tensors = TensorBackend(WasmBackend())
    assert not tensors.is_available
    with pytest.raises(NotInitialized, match="alloc_tensor: call init"):
        tensors.alloc_tensor((3,), "f32")


@pytest.mark.parametrize("backend_", [None, 5, "webgpu", object()])
def test_over_something_else(backend_: Any) -> None:
    from browsergpu import TensorBackend
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="a WasmBackend"):
        TensorBackend(backend_)


def test_name(backend: Any, tensors: Any) -> None:
    assert tensors.name == backend.name == "webgpu"


@pytest.mark.parametrize("twin", ["sync", "sync_async"])
def test_sync_waits_for_all_that_was_recorded(backend: Any, tensors: Any, twin: str) -> None:
    from pyodide.ffi import run_sync

    recorder = backend.device.recorder
    with on_bench(tensors) as bench:
        x = bench.up(np.ones(2**16, np.float32))
        tensors.sync()
        before = sent(backend)["dispatches"]
        for _ in range(200):
            tensors.pointwise_add(x, x, x)
            tensors.relu(x, x)
        assert recorder.unfinished > 0
        run_sync(tensors.sync_async()) if twin == "sync_async" else tensors.sync()
        assert recorder.unfinished == 0
        assert sent(backend)["dispatches"] == before + 400


@pytest.mark.provokes_errors
@pytest.mark.parametrize("twin", ["sync", "sync_async"])
def test_sync_raises_reported_errors(tensors: Any, twin: str) -> None:
    from pyodide.ffi import run_sync

    from browsergpu.errors import ShaderCompilation

    with on_bench(tensors) as bench:
        out = bench.new((4,))
        tensors.sync()
        shader = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn f() { out[0] = nothing; }"""
        tensors.dispatch_compute(shader, [out], None, 1)
        with pytest.raises(ShaderCompilation, match="nothing"):
            run_sync(tensors.sync_async()) if twin == "sync_async" else tensors.sync()
        tensors.sync()  # raised once


def test_async_twins(tensors: Any) -> None:
    from pyodide.ffi import run_sync

    async def both(handle: int) -> tuple[bytes, np.ndarray]:
        await tensors.sync_async()
        return await tensors.read_tensor_async(handle), await tensors.read_numpy_async(handle)

    array = np.arange(7, dtype=np.int32)
    with on_bench(tensors) as bench:
        raw, read = run_sync(both(bench.up(array)))
    assert raw == array.tobytes()
    assert_same_bits(read, array, "array")


@given(data=st.data())
def test_any_bits_of_any_shape(tensors: Any, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(list(DTYPES)))
    shape = tuple(data.draw(st.lists(st.integers(0, 9), max_size=4)))
    array = values(dtype, shape, data.draw(st.integers(0, 2**32)))
    with on_bench(tensors) as bench:
        assert_same_bits(bench.get(bench.up(array)), array, "array")
