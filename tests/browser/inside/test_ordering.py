"""Sorting, argmax and argmin, and bisection against NumPy, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from inside.comparison import assert_same_bits
from inside.test_executor_arrays import DTYPES

pytestmark = [pytest.mark.native, pytest.mark.firefox]

# Near the length that one workgroup sorts, and near the tile length of longer rows.
LENGTHS = [0, 1, 2, 3, 255, 256, 257, 1023, 1024, 1025, 2048, 2049, 5000]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3.4e38, -3.4e38, -np.nan]


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend)


def elements(dtype: str, *shape: int, seed: int = 1) -> np.ndarray:
    """Return elements of a dtype, many of them equal, with special values among floats."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype in ("f32", "f16"):
        values = (generator.integers(-300, 300, shape) / 8).astype(np.float32)
        with np.errstate(over="ignore"):
            # A cast of NaN loses its sign, and float16 is sorted as float32.
            chosen = SPECIAL[:-1] if dtype == "f16" else SPECIAL
            special = generator.choice(np.array(chosen, np.float32), shape)
            values = np.where(generator.random(shape) < 0.1, special, values)
            return np.asarray(values, np.float16 if dtype == "f16" else np.float32)
    bounds = np.iinfo({"i32": np.int32, "u32": np.uint32, "u8": np.uint8}[dtype])
    values = generator.integers(bounds.min, bounds.max, shape, bounds.dtype, endpoint=True)
    near = generator.integers(0, 100, shape, bounds.dtype)
    return np.where(generator.random(shape) < 0.5, near, values)


def order_of(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Return the expected argsort: all NaN are equal and largest."""
    if not descending:
        return np.argsort(x, axis, kind="stable").astype(np.int32)
    _, ranks = np.unique(x, return_inverse=True)
    return np.argsort(-ranks.reshape(x.shape), axis, kind="stable").astype(np.int32)


def check_sort(executor: Any, x: np.ndarray, axis: int = -1, view: Any = None) -> None:
    from browsergpu.engine.tensors import ordering

    axis %= x.ndim
    array = executor.from_numpy(x) if view is None else view
    for descending in (False, True):
        expected = order_of(x, axis, descending)
        result = executor.empty(x.shape, array.dtype)
        places = executor.empty(x.shape, "i32")
        ordering.sort(executor.device, "sort", array, result, axis, descending=descending)
        ordering.argsort(executor.device, "argsort", array, places, axis, descending=descending)
        assert_same_bits(places.numpy(), expected, f"places, descending {descending}")
        elements = np.take_along_axis(x, expected, axis)
        assert_same_bits(result.numpy(), elements, f"elements, descending {descending}")
    assert_same_bits(array.numpy(), x, "input")


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(executor: Any, length: int) -> None:
    check_sort(executor, elements("f32", length, seed=length))


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "f32"])
@pytest.mark.parametrize("length", [0, 300, 3000])
def test_other_dtypes(executor: Any, dtype: str, length: int) -> None:
    check_sort(executor, elements(dtype, length, seed=length))


def test_a_long_row(executor: Any) -> None:
    check_sort(executor, elements("f32", 100_000))


def test_special_floats(executor: Any) -> None:
    check_sort(executor, np.array(SPECIAL, np.float32))
    check_sort(executor, np.tile(np.array(SPECIAL, np.float32), 300))


def test_orders_that_are_there_already(executor: Any) -> None:
    for length in (700, 2500):
        rising = np.arange(length, dtype=np.float32)
        for x in (rising, rising[::-1].copy(), np.zeros(length, np.float32)):
            check_sort(executor, x)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((5, 30, 7), 0), ((5, 30, 7), 1), ((5, 30, 7), 2), ((2, 1500, 3), 1), ((9, 1100), 1),
     ((700, 3), 1), ((700, 1), 1), ((700, 1), 0), ((3, 1, 5), 1), ((0, 5), 1), ((5, 0, 2), 1)],
    ids=str,
)  # fmt: skip
def test_axes(executor: Any, shape: tuple[int, ...], axis: int) -> None:
    check_sort(executor, elements("f32", *shape), axis)


def test_in_place(executor: Any) -> None:
    from browsergpu.engine.tensors import ordering

    for dtype, length in (("f32", 50), ("f32", 1500), ("f16", 70)):
        x = elements(dtype, 2, length)
        array = executor.from_numpy(x)
        ordering.sort(executor.device, "sort", array, array, 1)
        assert_same_bits(array.numpy(), np.sort(x, 1, kind="stable"), "sorted")


@pytest.mark.parametrize("dtype", ["f32", "u8"])
@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [((60,), (3,), 2), ((240,), (-1,), 239), ((16, 15), (1, 16), 0), ((6, 7), (0, 1), 5)],
    ids=str,
)
def test_strided(executor: Any, dtype: str, shape: Any, strides: Any, offset: int) -> None:
    data = elements(dtype, 240)
    view = executor.from_numpy(data).as_strided(shape, strides, offset)
    x = as_strided(data[offset:], shape, [step * data.itemsize for step in strides]).copy()
    check_sort(executor, x, 0, view)
    check_extremes(executor, x, None, view)


def check_extremes(executor: Any, x: np.ndarray, axis: int | None, view: Any = None) -> None:
    from browsergpu.engine.tensors import ordering

    array = executor.from_numpy(x) if view is None else view
    for function, expected in (("max", np.argmax(x, axis)), ("min", np.argmin(x, axis))):
        places = executor.empty(np.shape(expected), "i32")
        ordering.arg_reduce(executor.device, "argmax", function, array, places, axis)
        assert_same_bits(places.numpy(), np.asarray(expected, np.int32), f"arg{function}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (7, 300), (3, 40, 5), (2, 300, 33)], ids=str)
def test_places_of_extremes(executor: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = elements(dtype, *shape)
    for axis in (None, *range(len(shape))):
        check_extremes(executor, x, axis)


@pytest.mark.parametrize(
    ("shape", "axis"), [((100_000,), 0), ((3, 40_000), 1), ((40_000, 3), 0), ((2, 5000, 300), 1)]
)
def test_places_of_extremes_along_an_axis_of_many_chunks(
    executor: Any, shape: tuple[int, ...], axis: int
) -> None:
    generator = np.random.default_rng(3)
    x = generator.integers(-10_000, 10_000, shape).astype(np.float32)
    check_extremes(executor, x, axis)
    x.reshape(-1)[[x.size // 3, x.size - 1]] = np.nan
    check_extremes(executor, x, axis)


def test_places_of_extremes_that_are_the_last_numbers_there_are(executor: Any) -> None:
    for x in (
        np.array([-(2**31), 5, 2**31 - 1, -(2**31)], np.int32),
        np.array([2**32 - 1, 5, 0, 0, 2**32 - 1], np.uint32),
        np.array([2**32 - 1] * 3, np.uint32),
        np.array([-np.inf, 1, np.inf, -np.inf], np.float32),
        np.array([0.0, -0.0, 0.0], np.float32),
        np.array([-np.inf, np.nan, np.inf, np.nan], np.float32),
    ):
        check_extremes(executor, x, 0)


def test_a_scalar_is_its_own_extreme(executor: Any) -> None:
    check_extremes(executor, np.array(3.0, np.float32), None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [0, 1, 2, 100, 5000])
def test_bisection(executor: Any, dtype: str, length: int) -> None:
    from browsergpu.engine.tensors import ordering

    ordered = np.sort(elements(dtype, length))
    values = elements(dtype, 30, 20, seed=2)
    arrays = executor.from_numpy(ordered), executor.from_numpy(values)
    for side in ("left", "right"):
        places = executor.empty(values.shape, "i32")
        ordering.searchsorted(
            executor.device, "searchsorted", *arrays, places, right=side == "right"
        )
        expected = np.searchsorted(ordered, values, side).astype(np.int32)
        assert_same_bits(places.numpy(), expected, side)


def test_bisection_of_views(executor: Any) -> None:
    from browsergpu.engine.tensors import ordering

    ordered = np.arange(40, dtype=np.float32)
    values = np.linspace(-1, 41, 30, dtype=np.float32)
    places = executor.empty((15,), "u32")
    ordering.searchsorted(
        executor.device, "searchsorted", executor.from_numpy(ordered).as_strided((20,), (2,), 0),
        executor.from_numpy(values).as_strided((15,), (-2,), 29), places,
    )  # fmt: skip
    expected = np.searchsorted(ordered[::2], values[::-2]).astype(np.uint32)
    assert_same_bits(places.numpy(), expected, "places")


def test_more_workgroups_than_a_dimension_holds(
    executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from browsergpu.engine.core import grids

    monkeypatch.setattr(grids, "MAX_PER_DIMENSION", 5)
    check_sort(executor, elements("i32", 23, 600))  # one row each
    check_sort(executor, elements("i32", 23, 1030))
    check_extremes(executor, elements("i32", 23, 4099), 1)
    check_extremes(executor, elements("i32", 23, 2, 3000), 1)
