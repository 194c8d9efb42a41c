"""KernelExecutor's arrays: created, copied, filled, cast, rearranged and freed."""

from __future__ import annotations

import gc
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_same_bits
from inside.gpu import random_array

pytestmark = pytest.mark.native

DTYPES = ["f32", "f16", "i32", "u32", "bool", "u8"]
SHAPES = [(), (1,), (7,), (0,), (3, 0), (2, 3, 5), (1, 1), (5, 1, 3), (257,), (33, 31)]


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


def of_dtype(dtype: str, *shape: int, seed: int = 1) -> np.ndarray:
    """Return random elements of a dtype, given by its enum's name."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype in ("f32", "f16"):
        return generator.uniform(-9, 9, shape).astype(np.float32 if dtype == "f32" else np.float16)
    bounds = np.iinfo({"i32": np.int32, "u32": np.uint32, "u8": np.uint8}[dtype])
    return generator.integers(bounds.min, bounds.max, shape, bounds.dtype, endpoint=True)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trips(executor: Any, dtype: str, shape: tuple[int, ...]) -> None:
    data = of_dtype(dtype, *shape)
    array = executor.from_numpy(data)
    assert (array.dtype, array.shape, array.size, array.ndim) == (
        dtype, shape, data.size, data.ndim
    )  # fmt: skip
    assert_same_bits(array.numpy(), data, "array")
    assert_same_bits(executor.copy(array).numpy(), data, "copy")


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, np.uint64])
def test_other_integers_are_converted_to_32_bits(executor: Any, dtype: Any) -> None:
    array = executor.from_numpy(np.array([1, 2, 100], dtype))
    assert array.dtype == ("i32" if np.dtype(dtype).kind == "i" else "u32")
    assert array.numpy().tolist() == [1, 2, 100]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([2**31]), "2147483648"),
        (np.zeros(3), "float64"),
        ([1.0, 2.0], "NumPy array"),
        (np.zeros(2, np.complex64), "complex64"),
        (np.array(["a"]), "<U1"),
    ],
)
def test_from_numpy_refuses_invalid_data(executor: Any, data: Any, words: str) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=words) as caught:
        executor.from_numpy(data)
    assert caught.value.op == "from_numpy"


@pytest.mark.parametrize("layout", ["strided", "transposed", "reversed"])
def test_sources_of_any_layout(executor: Any, layout: str) -> None:
    data = random_array(1, 6, 8)
    view = {"strided": data[::2, 1::3], "transposed": data.T, "reversed": data[::-1, ::-1]}[layout]
    assert_same_bits(executor.from_numpy(view).numpy(), np.ascontiguousarray(view), layout)


VALUES = {"f32": -1.5, "f16": 0.25, "i32": -(2**31), "u32": 2**32 - 1, "bool": True, "u8": 200}


@pytest.mark.parametrize("shape", [(), (1,), (3,), (5,), (0,), (4, 7), (1025,)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_full_and_fill(executor: Any, dtype: str, shape: tuple[int, ...]) -> None:
    array = executor.full(shape, VALUES[dtype], dtype)
    expected = np.full(shape, VALUES[dtype], array.numpy().dtype)
    assert_same_bits(array.numpy(), expected, "full")
    assert executor.fill(array, 1) is array if dtype != "bool" else True
    if dtype != "bool":
        assert_same_bits(array.numpy(), np.ones_like(expected), "fill")


@pytest.mark.parametrize("shape", [(), (3,), (0,), (4, 7)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros(executor: Any, dtype: str, shape: tuple[int, ...]) -> None:
    executor.fill(executor.empty(shape, dtype), True if dtype == "bool" else 1).free()
    array = executor.zeros(shape, dtype)  # probably the same memory
    assert array.dtype == dtype
    assert_same_bits(array.numpy(), np.zeros(shape, array.numpy().dtype), "zeros")
    assert executor.zeros((2,)).dtype == "f32"


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(np.float32, "f32"), (np.dtype("float16"), "f16"), ("int32", "i32"), ("u4", "u32"),
     (bool, "bool"), (np.uint8, "u8"), ("u8", "u8")],
    ids=str,
)  # fmt: skip
def test_numpys_names_of_dtypes(executor: Any, dtype: Any, name: str) -> None:
    x = executor.from_numpy(np.array([1, 0, 1], np.int32))
    for array in (
        executor.empty((3,), dtype), executor.zeros((3,), dtype), executor.cast(x, dtype),
        executor.full((3,), True if name == "bool" else 1, dtype),
    ):  # fmt: skip
        assert array.dtype == name
    assert executor.cast(x, dtype).numpy().tolist() == [1, 0, 1]
    assert executor.from_numpy(array.numpy(), dtype).dtype == name


@pytest.mark.parametrize("dtype", ["float64", np.float64, "int64", np.int64, "f", "f4,f4", None])
def test_dtypes_that_the_gpu_does_not_have(executor: Any, dtype: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"zeros: dtype must be one of 'f32'"):
        executor.zeros((3,), dtype)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0, 1e-45])
def test_special_values_fill_bit_by_bit(executor: Any, value: float) -> None:
    array = executor.full((3,), value)
    assert_same_bits(array.numpy(), np.full(3, value, np.float32), "full")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("i32", 2**31), ("u32", -1), ("u8", 256), ("i32", 1.5), ("bool", 2), ("f32", "1"),
     ("f32", None), ("i32", True)],
)  # fmt: skip
def test_values_that_a_dtype_cannot_hold(executor: Any, dtype: str, value: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="value must ") as caught:
        executor.full((2,), value, dtype)
    assert caught.value.op == "full"
    array = executor.full((2,), False if dtype == "bool" else 0, dtype)
    with pytest.raises(InvalidArgument, match="fill: value must "):
        executor.fill(array, value)
    assert not array.numpy().any()


@pytest.mark.fast
@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (np.array([1.9, -1.9, np.nan, 3e9], np.float32), "i32", [1, -1, 0, 2147483647]),
        (np.array([0.0, -0.0, 2.0, np.nan], np.float32), "bool", [False, False, True, True]),
        (np.array([1, 0, 7], np.int32), "f32", [1.0, 0.0, 7.0]),
        (np.array([1.0, 2.0, 3.0], np.float32), "f16", [1.0, 2.0, 3.0]),
        (np.array([True, False]), "f32", [1.0, 0.0]),
        (np.array([0, 255], np.uint8), "f32", [0.0, 255.0]),
        (np.array([5, 6], np.uint32), "u32", [5, 6]),
    ],
)
def test_cast(executor: Any, source: np.ndarray, target: str, expected: list[Any]) -> None:
    array = executor.from_numpy(source)
    result = executor.cast(array, target)
    assert result.dtype == target
    assert result.numpy().tolist() == expected
    out = executor.empty(array.shape, target)
    assert executor.cast(array, target, out) is out
    assert out.numpy().tolist() == expected


# Values at and beyond the limits of the integers.
BEYOND = np.array(
    [2147483520, 2147483648, -2147483648, -2147483904, 4294967040, 4294967296, -1, -0.5, 1e30,
     -1e30, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip


@pytest.mark.parametrize("target", ["i32", "u32"])
@pytest.mark.parametrize("source", [np.float32, np.float16])
def test_casts_clamp_to_all_that_an_integer_holds(executor: Any, source: Any, target: str) -> None:
    with np.errstate(over="ignore"):
        values = BEYOND.astype(source)
    limits = np.iinfo({"i32": np.int32, "u32": np.uint32}[target])
    exact = np.nan_to_num(values.astype(np.float64), posinf=1e300, neginf=-1e300)
    expected = np.clip(np.trunc(exact), limits.min, limits.max).astype(np.int64)
    result = executor.cast(executor.from_numpy(values), target).numpy()
    assert result.astype(np.int64).tolist() == expected.tolist()


def test_casts_to_half_precision_round_as_numpys(executor: Any) -> None:
    halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        between = (halves[1:-1] + halves[:-2]) / 2
    parts = [halves, between, np.nextafter(between, np.float32(9e9)), np.nextafter(between, 0)]
    ends = [65504, 65519.996, 65520, 1e30, 1e-30, np.inf]
    x = np.concatenate([*parts, np.array(ends, np.float32)])
    x = np.concatenate([x, -x]).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    result = executor.cast(executor.from_numpy(x), "f16").numpy()
    assert_same_bits(result, expected, "f16")
    assert np.isnan(executor.cast(executor.full((3,), np.nan), "f16").numpy()).all()


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_casts_of_large_integers_are_the_nearest_floats(executor: Any, dtype: Any) -> None:
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 2**32, 5000, dtype=np.uint32) >> generator.integers(0, 9, 5000)
    ends = [0, 1, 2**24 + 1, 2**31 - 65, 2**31 - 1, 2**31, 2**32 - 129, 2**32 - 1]
    x = np.concatenate([bits.astype(np.uint32), np.array(ends, np.uint32)]).view(dtype)
    result = executor.cast(executor.from_numpy(x), "f32").numpy()
    assert_same_bits(result, x.astype(np.float32), "f32")


@pytest.mark.fast
def test_reshape_shares_memory(executor: Any) -> None:
    data = random_array(1, 4, 6)
    array = executor.from_numpy(data)
    for shape in [(24,), (2, 3, 4), (-1,), (3, -1), (1, 24, 1), [8, 3]]:
        view = executor.reshape(array, shape)
        assert_same_bits(view.numpy(), data.reshape(shape), str(shape))
    executor.fill(executor.reshape(array, 24), 2.0)
    assert_same_bits(array.numpy(), np.full((4, 6), 2.0, np.float32), "the other array")


@pytest.mark.parametrize("shape", [(5, 5), (-1, -1), (7, -1), (-2, 12), "24", (0, -1), 23])
def test_shapes_that_do_not_fit(executor: Any, shape: Any) -> None:
    from browsergpu.errors import InvalidArgument

    array = executor.empty((4, 6))
    with pytest.raises(InvalidArgument, match="reshape: shape must "):
        executor.reshape(array, shape)


TRANSPOSED = [
    (3, 5), (32, 32), (33, 31), (1, 70), (70, 1), (129, 65), (2, 33, 35), (4, 3, 2), (2, 3, 4, 5),
    (1, 5, 1, 7), (0, 3), (7,), (), (2, 1, 3, 2, 3), (2, 3, 2, 2, 3, 2),
    (2, 3, 5, 8), (5, 3, 4), (3, 2, 2, 3, 12),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "bool", "u8"])
@pytest.mark.parametrize("shape", TRANSPOSED, ids=str)
def test_transpose(executor: Any, shape: tuple[int, ...], dtype: str) -> None:
    data = of_dtype(dtype, *shape)
    array = executor.from_numpy(data)
    orders: Any = [None, *permutations(range(len(shape)))]
    if len(shape) > 3:
        orders = [None, *list(permutations(range(len(shape))))[1 :: len(orders) // 9]]
    for order in orders:
        result = executor.transpose(array, order).numpy()
        assert_same_bits(result, np.array(data.transpose(order), order="C"), str(order))
    assert_same_bits(array.numpy(), data, "input")


def test_transpose_of_more_axes_than_the_kernel_has(executor: Any) -> None:
    from browsergpu.errors import Unsupported

    order = (8, 1, 7, 3, 6, 5, 4, 2, 0)
    array = executor.full((2,) * 9, 1.0)
    with pytest.raises(Unsupported, match="got 9"):
        executor.transpose(array, order)
    # Adjacent axes are merged, and axes of one element are dropped.
    data = random_array(1, *(2, 1) * 8)
    turned = executor.transpose(executor.from_numpy(data)).numpy()
    assert_same_bits(turned, np.ascontiguousarray(data.T), "8 axes and 8 of one element")


@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (0, 1, 2), "10", 1, (0.0, 1.0)])
def test_axes_that_are_no_order(executor: Any, axes: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="transpose: axes must "):
        executor.transpose(executor.empty((2, 3)), axes)


def test_outputs_may_be_inputs(executor: Any) -> None:
    data = random_array(1, 6, 6)
    array = executor.from_numpy(data)
    assert executor.transpose(array, out=array) is array
    assert_same_bits(array.numpy(), data.T.copy(), "transposed in place")
    assert executor.copy(array, array) is array
    assert_same_bits(array.numpy(), data.T.copy(), "copied onto itself")


@given(data=st.data())
def test_any_permutation(executor: Any, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 6), max_size=6), "shape")
    order = data.draw(st.permutations(range(len(shape))), "order")
    x = random_array(1, *shape)
    result = executor.transpose(executor.from_numpy(x), order).numpy()
    assert_same_bits(result, np.array(x.transpose(order), order="C"), "transposed")


def test_memory_is_freed_with_the_last_reference(executor: Any) -> None:
    memory = executor.device.memory
    gc.collect()
    before = (memory.buffers, memory.in_use)
    gc.disable()  # freeing must not need garbage collection
    try:
        array = executor.full((1000,), 1.0)
        view = executor.reshape(array, (10, 100))
        del array
        assert memory.buffers == before[0] + 1
        assert view.numpy().sum() == 1000
        del view
        assert (memory.buffers, memory.in_use) == before
    finally:
        gc.enable()


def test_free(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    buffers = executor.device.memory.buffers
    array = executor.full((10,), 1.0)
    view = executor.reshape(array, (2, 5))
    array.free()
    array.free()
    assert executor.device.memory.buffers == buffers
    assert "freed" in repr(array)
    for call in (
        array.numpy,
        view.numpy,
        lambda: executor.relu(view),
        lambda: executor.copy(array),
        lambda: array.write(np.zeros(10, np.float32)),
        lambda: executor.fill(array, 1.0),
    ):
        with pytest.raises(InvalidArgument, match="freed"):
            call()


def test_failed_operations_leave_nothing_behind(executor: Any) -> None:
    from browsergpu.errors import BackendError

    x = executor.full((2, 3), 1.0)
    whole = executor.full((2, 3), 1, "i32")
    before = executor.device.memory.buffers
    for call in (
        lambda: executor.add(x, whole),
        lambda: executor.matmul(x, x),
        lambda: executor.softmax(x, 2),
        lambda: executor.sum(x, (0, 0)),
        lambda: executor.add(x, x, executor.empty((3, 2))),
        lambda: executor.max_pool2d(x, 2),
    ):
        with pytest.raises(BackendError):
            call()
    gc.collect()
    assert executor.device.memory.buffers == before


def test_arrays_of_another_device(executor: Any) -> None:
    from browsergpu import KernelExecutor, WasmBackend
    from browsergpu.errors import InvalidArgument

    with WasmBackend() as other:
        other.init()
        foreign = KernelExecutor(other.device).full((3,), 1.0)
        with pytest.raises(InvalidArgument, match=r"relu: x must .*on this executor's device"):
            executor.relu(foreign)
    # Its device has already freed the memory, so releasing the array must be harmless.
    del foreign


@pytest.mark.parametrize("value", [None, 3, "x", np.zeros(3, np.float32)])
def test_values_that_are_not_arrays(executor: Any, value: Any) -> None:
    from browsergpu.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"relu: x must .*from_numpy"):
        executor.relu(value)
    with pytest.raises(InvalidArgument, match="KernelExecutor: device"):
        type(executor)(value)
