"""Cumulative sums, products, maxima and minima, and nonzero indices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import random_array, whole_array
from inside.tensors.lab import DTYPES
from inside.tolerances import ULP

pytestmark = [pytest.mark.native, pytest.mark.firefox]

FUNCTIONS = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip
# Near the elements per thread, per workgroup, and per pass.
LENGTHS = [0, 1, 2, 7, 8, 9, 255, 256, 257, 1023, 1025, 2047, 2048, 2049, 5000, 100_000]
# Roundings between an element and a running sum of up to 100,000 elements: at most 21 in each of
# three passes along a row, 34 in each of four along a column.
ROW_ROUNDINGS, COLUMN_ROUNDINGS = 64, 136


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend)


def run_scan(
    executor: Any, function: str, x: Any, axis: int, *, dtype: str = "", initial: bool = False,
    exclusive: bool = False,
) -> np.ndarray:  # fmt: skip
    from browsergpu.engine.tensors import scans

    array = executor.from_numpy(x) if isinstance(x, np.ndarray) else x
    shape = list(array.shape)
    shape[axis] += initial
    y = executor.empty(tuple(shape), dtype or array.dtype)
    scans.scan(executor.device, "scan", function, array, y, axis, exclusive=exclusive)
    result: np.ndarray = y.numpy()
    return result


def scanned(function: str, x: np.ndarray, axis: int) -> np.ndarray:
    """Return NumPy's result in x's dtype."""
    with np.errstate(over="ignore", invalid="ignore"):
        return FUNCTIONS[function].accumulate(x, axis, x.dtype)


def begun(function: str, x: np.ndarray, axis: int) -> np.ndarray:
    """Return the exclusive result, which starts with the identity."""
    if x.dtype.kind == "f":
        least, most = -np.inf, np.inf
    else:
        least, most = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    first = {"sum": 0, "prod": 1, "max": least, "min": most}[function]
    shape = [*x.shape]
    shape[axis] = 1
    return np.concatenate([np.full(shape, first, x.dtype), scanned(function, x, axis)], axis)


def exact(function: str, dtype: str, *shape: int) -> np.ndarray:
    """Return elements whose running results are exact in any order."""
    generator = np.random.default_rng(5)
    if dtype == "f32" and function == "sum":
        return whole_array(5, *shape)
    if dtype == "f32" and function == "prod":
        return generator.choice(np.array([-1, 1], np.float32), shape)
    if dtype == "f32":
        return random_array(5, *shape)
    bounds = np.iinfo(DTYPES[dtype])
    return generator.integers(bounds.min, bounds.max, shape, bounds.dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["f32", "i32", "u32"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows(executor: Any, function: str, dtype: str) -> None:
    for length in LENGTHS:
        x = exact(function, dtype, length)
        expected = scanned(function, x, 0)
        assert_same_bits(run_scan(executor, function, x, 0), expected, f"{length}")
        expected = begun(function, x, 0)
        result = run_scan(executor, function, x, 0, initial=True)
        assert_same_bits(result, expected, f"{length} from nothing on")
        if length in (9, 5000):
            result = run_scan(executor, function, x, 0, exclusive=True)
            assert_same_bits(result, expected[:-1], f"{length} exclusive")


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((700, 3), 1), ((700, 3), 0), ((5, 30, 7), 1), ((33, 257), 0), ((33, 257), 1), ((3, 5000), 1),
     ((2, 5000, 3), 1), ((40_000, 2), 0), ((4, 1, 3), 1), ((0, 3), 1), ((3, 0, 2), 0)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("function", ["sum", "max"])
def test_axes(executor: Any, function: str, shape: tuple[int, ...], axis: int) -> None:
    x = exact(function, "f32", *shape)
    assert_same_bits(run_scan(executor, function, x, axis), scanned(function, x, axis), "results")
    expected = begun(function, x, axis)
    assert_same_bits(run_scan(executor, function, x, axis, initial=True), expected, "begun")


@pytest.mark.parametrize(
    ("shape", "axis", "roundings"),
    [((100_000,), 0, ROW_ROUNDINGS), ((3, 5000), 1, ROW_ROUNDINGS),
     ((20_000, 5), 0, COLUMN_ROUNDINGS)],
)  # fmt: skip
def test_sums_are_rounded_as_seldom_as_pairs(
    executor: Any, shape: tuple[int, ...], axis: int, roundings: int
) -> None:
    for x in (random_array(1, *shape), np.full(shape, 0.1, np.float32)):
        wide = x.astype(np.float64)
        assert_matches(
            run_scan(executor, "sum", x, axis), np.cumsum(wide, axis), rtol=0.0,
            atol=roundings * ULP * np.cumsum(np.abs(wide), axis), why="each sum is rounded",
        )  # fmt: skip


def test_products_of_fractions(executor: Any) -> None:
    x = np.random.default_rng(1).uniform(0.9, 1.1, 3000).astype(np.float32)
    assert_matches(
        run_scan(executor, "prod", x, 0), np.cumprod(x.astype(np.float64)),
        rtol=ULP * np.arange(1, 3001), atol=0.0, why="each product is rounded",
    )  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nan_and_infinities_stay(executor: Any, function: str) -> None:
    for shape, axis in (((5000,), 0), ((5000, 2), 0), ((20, 30), 1)):
        for place in (0, 3, 299, 599):
            x = whole_array(2, *shape)
            x.reshape(-1)[place] = np.nan
            results = run_scan(executor, function, x, axis)
            expected = scanned(function, x, axis)
            assert (np.isnan(results) == np.isnan(expected)).all(), (shape, place)
    x = np.array([1, np.inf, 2, -np.inf, 3, 0], np.float32)
    expected = scanned(function, x, 0)
    assert_matches(
        run_scan(executor, function, x, 0), expected, rtol=0.0, atol=0.0, why="no rounding"
    )


def test_zeros_keep_their_sign(executor: Any) -> None:
    x = np.array([-0.0, -0.0, 0.0, -0.0], np.float32)
    for function in ("sum", "prod"):
        expected = scanned(function, x, 0)
        assert_same_bits(run_scan(executor, function, x, 0), expected, function)
    assert_same_bits(
        run_scan(executor, "sum", x, 0, initial=True), np.zeros(5, np.float32), "from 0 on"
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [("bool", "i32"), ("u8", "u32"), ("u8", "u8"), ("i32", "f32"), ("f16", "f32"), ("f32", "i32"),
     ("f16", "f16"), ("bool", "f32")],
)  # fmt: skip
def test_dtypes_of_results(executor: Any, source: str, target: str) -> None:
    x = np.random.default_rng(1).integers(0, 2 if source == "bool" else 20, 90)
    data = x.astype(DTYPES[source])
    expected = np.cumsum(data, dtype=DTYPES[target])
    assert_same_bits(run_scan(executor, "sum", data, 0, dtype=target), expected, "sums")


def test_views_and_in_place(executor: Any) -> None:
    from browsergpu.engine.tensors import scans

    data = whole_array(3, 240)
    array = executor.from_numpy(data)
    for shape, strides, offset in (((60,), (3,), 2), ((16, 15), (1, 16), 0)):
        x = as_strided(data[offset:], shape, [4 * step for step in strides])
        view = array.as_strided(shape, strides, offset)
        assert_same_bits(run_scan(executor, "sum", view, 0), scanned("sum", x, 0), "view")
    scans.scan(executor.device, "scan", "sum", array, array, 0)
    assert_same_bits(array.numpy(), np.cumsum(data), "in place")


def check_places(executor: Any, mask: np.ndarray, view: Any = None) -> None:
    from browsergpu.engine.tensors import scans

    array = executor.from_numpy(mask) if view is None else view
    expected = np.flatnonzero(mask).astype(np.int32)
    before = np.full(mask.size, -7, np.int32)
    places, count = executor.from_numpy(before), executor.empty((1,), "i32")
    scans.true_places(executor.device, "nonzero", array, places, count)
    assert scans.true_count(executor.device, "nonzero", count) == expected.size
    before[: expected.size] = expected
    assert_same_bits(places.numpy(), before, "places, and what stays behind them")


@pytest.mark.parametrize("length", LENGTHS)
def test_where_a_mask_is_true(executor: Any, length: int) -> None:
    for share in (0.0, 0.01, 0.5, 1.0):
        check_places(executor, np.random.default_rng(length).random(length) < share)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_of_other_dtypes_and_shapes(executor: Any, dtype: str) -> None:
    x = np.random.default_rng(1).integers(0, 3, (50, 60)).astype(DTYPES[dtype])
    check_places(executor, x)
    view = executor.from_numpy(x).as_strided((60, 25), (1, 120), 0)
    check_places(executor, x[::2].T, view)
    check_places(executor, x[:0], executor.from_numpy(x).as_strided((0, 60), (60, 1), 5))


def test_nan_is_true_and_no_zero_is(executor: Any) -> None:
    check_places(executor, np.array([0.0, -0.0, np.nan, 1e-40, -np.inf], np.float32))


async def _awaited(executor: Any) -> int:
    from browsergpu.engine.tensors import scans

    mask = executor.from_numpy(np.ones(5, bool))
    places, count = executor.empty((5,), "i32"), executor.empty((1,), "i32")
    scans.true_places(executor.device, "nonzero", mask, places, count)
    return await scans.true_count_async(executor.device, count)


def test_the_count_can_be_awaited(executor: Any) -> None:
    from browsergpu.engine.gpu import platform

    assert platform.block_on(_awaited(executor), "test") == 5


def test_more_workgroups_than_a_dimension_holds(
    executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from browsergpu.engine.core import grids

    monkeypatch.setattr(grids, "MAX_PER_DIMENSION", 5)
    for shape, axis in (
        ((23, 2049), 1),
        ((23 * 256, 5), 1),
        ((2, 23 * 256), 0),
        ((300, 23 * 9), 0),
    ):
        x = exact("sum", "f32", *shape)
        assert_same_bits(run_scan(executor, "sum", x, axis), scanned("sum", x, axis), str(shape))
    check_places(executor, np.random.default_rng(1).random(23 * 2048 - 5) < 0.5)
