"""Strided arrays: the results of as_strided, and every operation on strided operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from inside.comparison import assert_same_bits
from inside.gpu import random_array
from inside.test_executor_arrays import DTYPES, of_dtype

pytestmark = [pytest.mark.native, pytest.mark.firefox]

# Shapes, strides and offsets in 240 elements.
PLACES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "tail": ((11,), (1,), 229),
    "aligned tail": ((200,), (1,), 40),
    "every third": ((60,), (3,), 2),
    "backwards": ((240,), (-1,), 239),
    "transposed": ((16, 15), (1, 16), 0),
    "transposed later": ((5, 16), (1, 12), 7),
    "columns": ((20, 4), (12, 1), 4),
    "odd columns": ((20, 5), (12, 1), 3),
    "both backwards": ((10, 8), (-24, -2), 239),
    "repeated": ((6, 7), (0, 1), 5),
    "one element": ((), (), 17),
    "one element seen often": ((3, 4), (0, 0), 9),
    "windows": ((100, 8), (2, 1), 1),
    "four axes": ((3, 2, 4, 5), (5, 120, 15, 1), 0),
    "five axes": ((2, 3, 2, 2, 2), (100, 20, 7, 3, 1), 11),
    "eight axes": ((2,) * 8, (1, 64, 2, 32, 4, 16, 8, 0), 0),
    "nothing": ((0, 5), (1, 1), 239),
    "packed": ((12, 20), (20, 1), 0),
}


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend)


def seen(data: np.ndarray, place: str) -> np.ndarray:
    """Return NumPy's strided view of an array."""
    shape, strides, offset = PLACES[place]
    return as_strided(data[offset:], shape, [step * data.itemsize for step in strides]).copy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", PLACES)
def test_elements_equal_numpys(executor: Any, place: str, dtype: str) -> None:
    data = of_dtype(dtype, 240)
    array = executor.from_numpy(data)
    view = array.as_strided(*PLACES[place])
    expected = seen(data, place)
    assert (view.shape, view.size, view.dtype) == (expected.shape, expected.size, dtype)
    assert_same_bits(view.numpy(), expected, place)
    assert_same_bits(executor.copy(view).numpy(), expected, "copy")
    assert_same_bits(executor.transpose(view).numpy(), expected.T, "transpose")
    assert_same_bits(executor.reshape(view, -1).numpy(), expected.reshape(-1), "reshape")
    assert_same_bits(array.numpy(), data, "the array beneath")


@pytest.mark.parametrize("place", ["every third", "transposed", "odd columns", "repeated"])
@pytest.mark.parametrize("source", ["f32", "f16", "i32", "u8", "bool"])
def test_casts(executor: Any, source: str, place: str) -> None:
    data = of_dtype(source, 240)
    view = executor.from_numpy(data).as_strided(*PLACES[place])
    for target in ("f32", "f16") if source in ("f32", "f16") else ("f32", "i32"):
        expected = executor.cast(executor.from_numpy(seen(data, place)), target).numpy()
        assert_same_bits(executor.cast(view, target).numpy(), expected, f"{source} to {target}")


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u8"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("transposed", "transposed"),
        ("columns", "every third"),
        ("four axes", "one element"),
        ("both backwards", "one element"),
        ("five axes", "five axes"),
    ],
)
def test_arithmetic(executor: Any, a: str, b: str, dtype: str) -> None:
    """Results equal those of packed arrays, bit for bit."""
    data = of_dtype(dtype, 240)
    array = executor.from_numpy(data)
    first, second = array.as_strided(*PLACES[a]), array.as_strided(*PLACES[b])
    if b == "every third":  # a broadcast column
        second = array.as_strided((20, 1), (3, 0), 2)
    expected = executor.sub(
        executor.from_numpy(first.numpy()), executor.from_numpy(second.numpy())
    ).numpy()
    assert_same_bits(executor.sub(first, second).numpy(), expected, "sub")


def test_results_may_go_to_the_memory_that_is_read(executor: Any) -> None:
    data = random_array(1, 12, 12)
    array = executor.from_numpy(data)
    turned = array.as_strided((12, 12), (1, 12))
    executor.add(turned, array, out=array)
    assert_same_bits(array.numpy(), data.T + data, "sum")
    executor.copy(array.as_strided((12, 12), (-12, 1), 132), out=array)
    assert_same_bits(array.numpy(), (data.T + data)[::-1], "upside down")


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda e, x: e.relu(x),
    "with a number": lambda e, x: e.mul(x, 2.5),
    "softmax": lambda e, x: e.softmax(x, 0),
    "layer_norm": lambda e, x: e.layer_norm(x),
    "factors of layer_norm": lambda e, x: e.layer_norm(
        e.full((3, 16), 2.0), x.as_strided((16,), (3,)), x.as_strided((16,), (-1,), 15)
    ),
    "sum": lambda e, x: e.sum(x, 1),
    "variance": lambda e, x: e.variance(x, 0),
    "matmul": lambda e, x: e.matmul(x, x, transpose_b=True),
    "linear": lambda e, x: e.linear(
        x, e.transpose(x), x.as_strided((16,), (2,)), activation="relu"
    ),
    "attention": lambda e, x: e.attention(x, x, x, mask=x.as_strided((16, 16), (1, 0))),
    "conv2d": lambda e, x: e.conv2d(
        x.as_strided((1, 3, 5, 6), (0, 1, 3, 7)), x.as_strided((2, 3, 2, 2), (5, 9, 2, 1), 4)
    ),
    "max_pool2d": lambda e, x: e.max_pool2d(x.as_strided((1, 2, 8, 9), (0, 1, 2, 11)), 2),
    "batch_norm": lambda e, x: e.batch_norm_training(x).output,
    "attention_block": lambda e, x: e.attention_block(
        x.as_strided((6, 4), (1, 7)), x.as_strided((4, 12), (1, 4)), x.as_strided((12,), (2,)),
        x.as_strided((4, 4), (4, 1), 3), None, heads=2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_reads_them(executor: Any, name: str, dtype: str) -> None:
    """Results for views equal results for packed copies, bit for bit."""
    operation = OPERATIONS[name]
    data = of_dtype(dtype, 240) / np.array(9, of_dtype(dtype, 1).dtype)
    view = executor.from_numpy(data).as_strided(*PLACES["transposed"])
    found = operation(executor, view).numpy()

    class Packing:
        """An executor that passes packed copies of its arguments."""

        def __getattr__(self, op: str) -> Any:
            def call(*args: Any, **options: Any) -> Any:
                def copied(x: Any) -> Any:
                    return x if not hasattr(x, "is_packed") else executor.from_numpy(x.numpy())

                options = {key: copied(value) for key, value in options.items()}
                return getattr(executor, op)(*map(copied, args), **options)

            return call

    expected = operation(Packing(), view).numpy()
    if name == "matmul":  # views are not packed, so sums differ in order
        np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "f32" else 1e-3)
    else:
        assert_same_bits(found, expected, name)


@given(data=st.data())
def test_views_of_views(executor: Any, data: st.DataObject) -> None:
    """Slices of slices follow NumPy's rules, converted to as_strided's arguments."""
    size = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 40)), data.draw(st.integers(1, 9))
    expected = np.arange(np.prod(size), dtype=np.float32).reshape(size)
    view = executor.from_numpy(expected)
    for _ in range(data.draw(st.integers(1, 3))):
        shape, strides, offset = [], [], 0
        cuts = []
        for extent, step in zip(view.shape, view.strides, strict=True):
            cut = data.draw(st.slices(extent))
            first, last, stride = cut.indices(extent)
            count = len(range(first, last, stride))
            offset += first * step if count else 0
            shape.append(count)
            strides.append(step * stride)
            cuts.append(cut)
        expected = expected[tuple(cuts)]
        if 0 in shape:
            break
        view = view.as_strided(shape, strides, offset)
        assert_same_bits(view.numpy(), expected, str(cuts))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((2, 200), (1, 1), 41), "elements 0 to 239 of the memory, got .*elements 41 to 241"),
        (((3,), (-1,), 1), "elements -1 to 1"),
        (((3,), (1, 2)), "1 numbers, as shape has"),
        (((3,), (1.5,)), "strides"),
        (((-3,), (1,)), "shape"),
        (((3,), (1,), "a"), "offset"),
        (((3,), 5), "strides"),
    ],
)
def test_invalid_arguments_are_refused(
    executor: Any, arguments: tuple[Any, ...], words: str
) -> None:
    from browsergpu.errors import InvalidArgument

    array = executor.zeros((240,))
    with pytest.raises(InvalidArgument, match=words) as caught:
        array.as_strided(*arguments)
    assert caught.value.op == "as_strided"


def test_too_many_axes_are_refused_when_the_view_is_made(executor: Any) -> None:
    from browsergpu.errors import Unsupported

    array = executor.zeros((1024,))
    with pytest.raises(Unsupported, match="at most 5"):
        array.as_strided((2,) * 6, (1, 64, 2, 32, 4, 16), 1)
    with pytest.raises(Unsupported, match="at most 8"):
        array.as_strided((2,) * 9, (1, 256, 2, 128, 4, 64, 8, 32, 24))


def test_outputs_must_be_packed(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    array = executor.zeros((4, 4))
    view = array.as_strided((4, 4), (1, 4))
    x = executor.zeros((4, 4))
    writes: list[Callable[[], Any]] = [
        lambda: executor.relu(x, out=view),
        lambda: executor.fill(view, 1.0),
        lambda: view.write(np.ones((4, 4), np.float32)),
        lambda: executor.add_layer_norm(x, x, summed=view),
        lambda: executor.batch_norm_training(x, view.as_strided((4,), (4,))),
    ]
    for write in writes:
        with pytest.raises(InvalidArgument, match="a packed array, not one of as_strided"):
            write()
    with pytest.raises(InvalidArgument, match="its whole buffer"):
        executor.execute_custom_kernel(
            "@group(0) @binding(0) var<storage, read_write> a: array<f32>;"
            "@compute @workgroup_size(1) fn main() { a[0] = 1; }",
            None, [array.as_strided((2,), (1,))], 1,
        )  # fmt: skip
    assert not array.numpy().any()


def test_memory_lives_as_long_as_its_last_view(executor: Any, backend: Any) -> None:
    before = backend.device.memory.buffers
    array = executor.from_numpy(np.arange(6, dtype=np.float32))
    view = array.as_strided((3,), (2,))
    del array
    assert backend.device.memory.buffers == before + 1
    assert view.numpy().tolist() == [0, 2, 4]
    del view
    assert backend.device.memory.buffers == before


def test_freeing_a_view_frees_all_views_of_its_memory(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    array = executor.zeros((6,))
    array.as_strided((3,), (2,)).free()
    with pytest.raises(InvalidArgument, match="freed"):
        array.numpy()
