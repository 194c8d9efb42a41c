"""Big-endian arrays: all interfaces upload and download their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu
from inside.tensors.lab import on_bench

# Values whose bytes all differ, and NaNs whose bits must be kept.
BIG = {
    "f4": np.array([1.5, -2.25, 3e-9, np.nan, np.inf, -0.0], ">f4"),
    "f2": np.array([1.5, -2.25, 3e-3, np.nan, np.inf, -0.0], ">f2"),
    "i2": np.array([1, -2, 300, -32768, 32767, 0], ">i2"),
    "u2": np.array([1, 2, 300, 32768, 65535, 0], ">u2"),
    "i4": np.array([1, -2, 70_000, -(2**31), 2**31 - 1, 0], ">i4"),
    "u4": np.array([1, 2, 70_000, 2**31, 2**32 - 1, 0], ">u4"),
    "i8": np.array([1, -2, 2**40, -(2**63), 2**63 - 1, 0], ">i8"),
    "c8": np.array([1.5 - 2j, 3e-9 + 4j, 5, 6j, -7, 0], ">c8"),
}
TENSORS = {"f4": "f32", "f2": "f16", "i4": "i32", "u4": "u32"}
LAYOUTS = {
    "plain": lambda x: x,
    "matrix": lambda x: x.reshape(2, 3),
    "transposed": lambda x: x.reshape(2, 3).T,
    "every second": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1],
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype),
    "no axes": lambda x: x[:1].reshape(()),
    "empty": lambda x: x[:0],
    "memoryview": memoryview,
}


def native(array: Any) -> np.ndarray:
    """Return the same values in C order and little-endian, as on the GPU."""
    array = np.asarray(array)
    return np.array(array, array.dtype.newbyteorder("<"), order="C")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("code", BIG)
def test_a_big_endian_source_arrives_by_its_values(backend: Any, code: str, layout: Any) -> None:
    source = layout(BIG[code])
    expected = native(source)
    with on_gpu(backend) as gpu:
        # In a larger buffer, the last bytes take the path for partial words.
        for room in (0, 9):
            pointer = gpu.alloc(expected.nbytes + room)
            backend.copy_htod(pointer, source)
            result = gpu.download(pointer, expected.shape, expected.dtype)
            assert_same_bits(result, expected, "what is on the GPU")


@pytest.mark.parametrize("code", BIG)
def test_a_big_endian_target_is_filled_with_the_values(backend: Any, code: str) -> None:
    from pyodide.ffi import run_sync

    values = BIG[code].reshape(2, 3)
    with on_gpu(backend) as gpu:
        pointer = gpu.upload(native(values))
        for target in (np.zeros_like(values), np.zeros((), values.dtype)):
            expected = values[0, :1] if target.ndim == 0 else values
            backend.copy_dtoh(target, pointer)
            assert target.tobytes() == expected.tobytes()
            target[...] = 0
            run_sync(backend.copy_dtoh_async(target, pointer))
            assert target.tobytes() == expected.tobytes()
            target[...] = 0
            backend.copy_dtoh(memoryview(target), pointer)
            assert target.tobytes() == expected.tobytes()


def test_a_part_of_a_big_endian_array_is_filled_and_no_more(backend: Any) -> None:
    whole = np.full(5, 7.0, ">f4")
    with on_gpu(backend) as gpu:
        backend.copy_dtoh(whole[1:3], gpu.upload(np.array([1.5, 2.5, 3.5], np.float32)))
    assert whole.tolist() == [7.0, 1.5, 2.5, 7.0, 7.0]


def test_big_endian_targets_that_cannot_be_filled_are_refused_as_others(backend: Any) -> None:
    from browsergpu.errors import InvalidArgument

    frozen = np.zeros(4, ">f4")
    frozen.flags.writeable = False
    strided = np.zeros(8, ">f4")[::2]
    with on_gpu(backend) as gpu:
        pointer = gpu.filled(4, 1.0)
        for target, words in (
            (frozen, "writable memory"),
            (strided, "C-contiguous"),
            (np.zeros(4, ">f8"), r"float32.*float64"),
            (np.zeros(9, ">f4"), "at most as large as src, 16 bytes"),
        ):
            with pytest.raises(InvalidArgument, match=words):
                backend.copy_dtoh(target, pointer)
            assert not np.asarray(target).any()
        with pytest.raises(InvalidArgument, match=r"astype\(np\.float32\)"):
            backend.copy_htod(pointer, np.zeros(2, ">f8"))


def test_a_kept_buffer_comes_back_with_the_values_of_a_big_endian_array() -> None:
    import js
    from pyodide.ffi import run_sync

    from browsergpu import WasmBackend
    from browsergpu.errors import DeviceLost

    values = np.array([1.5, -2.0, 3e-9], ">f4")
    with WasmBackend() as backend:
        backend.init()
        written, read = (backend.alloc(12, keep=True) for _ in range(2))
        backend.copy_htod(written, values)
        backend.unary("neg", written, read, 3)
        backend.copy_dtoh(np.zeros(3, ">f4"), read)
        js.gpuWatch.devices[-1].destroy()
        with pytest.raises(DeviceLost):
            backend.synchronize()
        run_sync(backend.recover())
        result = np.zeros(3, np.float32)
        backend.copy_dtoh(result, written)
        assert_same_bits(result, native(values), "what was written")
        backend.copy_dtoh(result, read)
        assert_same_bits(result, -native(values), "what was read")


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "memoryview"])
@pytest.mark.parametrize("code", TENSORS)
def test_big_endian_tensors(backend: Any, tensors: Any, code: str, layout: str) -> None:
    from browsergpu import KernelExecutor

    source = LAYOUTS[layout](BIG[code])
    expected = native(source)
    with on_bench(tensors) as bench:
        handle = bench.new(source.shape, TENSORS[code])
        tensors.write_tensor(handle, source)
        assert_same_bits(bench.get(handle), expected, "tensor")
        tensors.write_tensor(handle, memoryview(np.ascontiguousarray(source)))
        assert_same_bits(bench.get(handle), expected, "tensor from a memoryview")
    array = KernelExecutor(backend.device).from_numpy(source)
    assert array.dtype == TENSORS[code]
    assert_same_bits(array.numpy(), expected, "array")
    array.write(np.zeros_like(source))
    array.write(source)
    assert_same_bits(array.numpy(), expected, "array, written again")


def test_big_endian_halves_widen(tensors: Any) -> None:
    with on_bench(tensors) as bench:
        handle = bench.new((2,), "f32")
        tensors.write_tensor(handle, np.array([1.5, -2.0], ">f2"))
        assert bench.get(handle).tolist() == [1.5, -2.0]


def test_big_endian_bytes_of_a_buffer(backend: Any) -> None:
    from browsergpu import Buffer

    buffer = Buffer(backend.device, 11)
    buffer.write_data(BIG["i2"][:3], 1)
    buffer.write_data(BIG["u4"][1:2], 7)
    assert buffer.read_data(1) == native(BIG["i2"][:3]).tobytes() + native(BIG["u4"][1:2]).tobytes()


def test_big_endian_uniforms_and_push_constants(backend: Any, tensors: Any) -> None:
    from browsergpu import KernelExecutor

    values = np.array([1.5, -2.25, 3.0, 4.5], ">f4")
    executor = KernelExecutor(backend.device)
    out = executor.empty((4,))
    executor.execute_custom_kernel(
        """
@group(0) @binding(0) var<uniform> given: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(4) fn f(@builtin(local_invocation_id) id: vec3u) {
  out[id.x] = given[id.x];
}""",
        None, [out], 1, uniform_data=values,
    )  # fmt: skip
    assert_same_bits(out.numpy(), native(values), "uniform")
    if not backend.device.immediate_bytes:
        pytest.skip("this browser has no immediates")
    with on_bench(tensors) as bench:
        result = bench.new((4,))
        tensors.dispatch_compute(
            """
var<immediate> given: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(4) fn f(@builtin(local_invocation_id) id: vec3u) {
  out[id.x] = given[id.x];
}""",
            [result], values, 1,
        )  # fmt: skip
        assert_same_bits(bench.get(result), native(values), "push constants")
