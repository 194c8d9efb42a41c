"""uint8 is an integer from 0 to 255; only image functions read it as 0..1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.tensors.lab import DTYPES, LENGTHS, on_bench

ALL = np.arange(256, dtype=np.uint8)


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "u8"])
def test_casts_of_uint8_are_numpys(executor: Any, dtype: str) -> None:
    expected = ALL.astype(DTYPES[dtype])
    there = executor.cast(executor.from_numpy(ALL), dtype)
    assert_same_bits(there.numpy(), expected, "from u8")
    back = executor.cast(there, "u8")
    assert_same_bits(back.numpy(), expected.astype(np.uint8), "and back")


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_floats_become_uint8_by_truncation_and_clamped(executor: Any, dtype: Any) -> None:
    x = np.array([0.99, 1.0, 1.99, 254.9, 255.0, 256.0, 6e4, -0.5, -1.0, np.inf, -np.inf, np.nan],
                 dtype)  # fmt: skip
    expected = [0, 1, 1, 254, 255, 255, 255, 0, 0, 255, 0, 0]
    if dtype is np.float16:
        expected[3] = int(x[3])
    assert executor.cast(executor.from_numpy(x), "u8").numpy().tolist() == expected


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_integers_become_uint8_by_their_lowest_bits(executor: Any, dtype: Any) -> None:
    x = np.array([0, 1, 255, 256, 257, 511, 2**31 - 1], np.int64)
    if dtype is np.int32:
        x = np.concatenate([x, -x])
    result = executor.cast(executor.from_numpy(x.astype(dtype)), "u8").numpy()
    assert_same_bits(result, x.astype(np.uint8), "u8")


@pytest.mark.parametrize("n", LENGTHS)
def test_arithmetic_of_uint8_is_modulo_256(executor: Any, tensors: Any, n: int) -> None:
    random = np.random.default_rng(n)
    a, b = (random.integers(0, 256, n, np.uint8) for _ in range(2))
    x, y = executor.from_numpy(a), executor.from_numpy(b)
    for op, expected in (("add", a + b), ("sub", a - b), ("mul", a * b)):
        result = getattr(executor, op)(x, y)
        assert result.dtype == "u8"
        assert_same_bits(result.numpy(), expected, op)
    assert_same_bits(executor.add(x, 200).numpy(), a + np.uint8(200), "with a number")
    assert_same_bits(executor.add(x, y, x).numpy(), a + b, "in place")
    with on_bench(tensors) as bench:
        out, first = bench.new((n,), "u8"), bench.up(a)
        tensors.pointwise_add(first, bench.up(b), out)
        assert_same_bits(bench.get(out), a + b, "tensors")
        tensors.pointwise_add(first, first, first)
        assert_same_bits(bench.get(first), a + a, "tensors, in place")


def test_uint8_is_broadcast(executor: Any) -> None:
    a, b = ALL.reshape(64, 4), ALL[:4]
    result = executor.mul(executor.from_numpy(a), executor.from_numpy(b)).numpy()
    assert_same_bits(result, a * b, "product")


@pytest.mark.parametrize("shape", [(1,), (5,), (1021,), (13, 300), (2, 3, 700)], ids=str)
def test_sums_of_uint8(executor: Any, tensors: Any, shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    array = executor.from_numpy(data)
    for axis in (None, *range(len(shape))):
        expected = np.asarray(data.sum(axis, dtype=np.uint32))
        total = executor.sum(array, axis)
        assert total.dtype == "u32"
        assert_same_bits(total.numpy(), expected, f"axis {axis}")
        with on_bench(tensors) as bench:
            for dtype in ("u32", "i32"):
                out = bench.new(expected.shape, dtype)
                tensors.reduce_sum(bench.up(data), out, axis)
                assert_same_bits(bench.get(out), expected.astype(DTYPES[dtype]), dtype)


def test_operands_that_do_not_combine_with_uint8_are_refused(executor: Any, tensors: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x = executor.from_numpy(ALL)
    for call, words in (
        (lambda: executor.add(x, executor.full((256,), 1, "i32")), "cast"),
        (lambda: executor.add(x, 1.5), "integer from 0 to 255"),
        (lambda: executor.add(x, 256), "integer from 0 to 255"),
        (lambda: executor.div(x, x), "f32 or f16"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            call()
    with on_bench(tensors) as bench:
        pictures, floats = bench.up(ALL), bench.new((256,))
        with pytest.raises(InvalidArgument, match="only floats, or one of i32, u32 and u8"):
            tensors.pointwise_add(pictures, pictures, floats)
        with pytest.raises(InvalidArgument, match="float32"):
            tensors.write_tensor(pictures, np.ones(256, np.float32))


def test_only_image_functions_read_uint8_as_parts_of_one(executor: Any, tensors: Any) -> None:
    picture = ALL.reshape(16, 16)
    with on_bench(tensors) as bench:
        source, floats = bench.up(picture), bench.new((16, 16))
        tensors.brightness(source, floats, 1.0)
        difference = np.abs(bench.get(floats) - picture / 255.0)
        assert difference.max() <= 2.0**-22
        out = bench.new((16, 16), "u8")
        tensors.brightness(floats, out, 1.0)
        assert_same_bits(bench.get(out), picture, "bytes again")
        tensors.invert_colors(out, out)
        assert_same_bits(bench.get(out), 255 - picture, "inverted")
    assert_same_bits(executor.cast(executor.from_numpy(picture), "f32").numpy(),
                     picture.astype(np.float32), "cast")  # fmt: skip
