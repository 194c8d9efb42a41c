"""KernelExecutor's sum to variance over any axes, against float64."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import random_array, whole_array
from inside.tolerances import SUBNORMAL, ULP, U

pytestmark = pytest.mark.native

OPS = ("sum", "mean", "max", "min")
SHAPES = [(5,), (3, 70), (4, 5, 7), (2, 3, 40, 3), (3, 1, 5, 1, 4)]


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


def allowed(op: str, x: np.ndarray, axis: Any) -> dict[str, Any]:
    """Return the tolerance of float32."""
    wide = np.abs(x.astype(np.float64))
    n = max(x.size // max(wide.sum(axis=axis).size, 1), 1)
    if op in ("max", "min"):
        return {"rtol": 0.0, "atol": 0.0, "why": "chooses an element: exact"}
    if op == "sum":
        atol = n * U * wide.sum(axis=axis) + SUBNORMAL
        return {"rtol": 0.0, "atol": atol, "why": f"sum of {n}"}
    # A mean over k groups of axes is scaled k times, each by a rounded quotient.
    atol = (n * U + 12 * ULP) * wide.sum(axis=axis) / n + SUBNORMAL
    return {"rtol": 0.0, "atol": atol, "why": f"sum of {n}, scaled"}


def check(executor: Any, op: str, x: np.ndarray, axis: Any, keepdims: bool = False) -> None:
    result = getattr(executor, op)(executor.from_numpy(x), axis, keepdims)
    tolerance = allowed(op, x, axis)
    if np.ndim(tolerance["atol"]) and keepdims:
        tolerance["atol"] = tolerance["atol"].reshape(result.shape)
    expected = getattr(np, op)(x.astype(np.float64), axis=axis, keepdims=keepdims)
    assert_matches(result.numpy(), expected, **tolerance)


def subsets(rank: int) -> list[Any]:
    chosen = [axes for size in range(rank + 1) for axes in combinations(range(rank), size)]
    return [None, -1, *chosen]


@pytest.mark.fast
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_axes(executor: Any, op: str, shape: tuple[int, ...]) -> None:
    x = random_array(1, *shape)
    for axis in subsets(len(shape)):
        check(executor, op, x, axis)
    check(executor, op, x, None, keepdims=True)
    check(executor, op, x, (0, -1) if len(shape) > 1 else 0, keepdims=True)


@pytest.mark.parametrize("op", OPS)
def test_long_axes_lose_no_element(executor: Any, op: str) -> None:
    x = whole_array(1, 3, 20_001, 2)
    for axis in ((0, 1), (1, 2), None, 1):
        expected = getattr(np, op)(x.astype(np.float64), axis=axis)
        result = getattr(executor, op)(executor.from_numpy(x), axis).numpy()
        assert_matches(
            result, expected, rtol=12 * ULP if op == "mean" else 0.0, atol=0.0,
            why="whole numbers have exact sums; a mean's scaling is rounded",
        )  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_a_scalar(executor: Any, op: str) -> None:
    check(executor, op, np.array(2.5, np.float32), None)
    check(executor, op, np.array(2.5, np.float32), ())


@pytest.mark.parametrize(("op", "expected"), [("sum", 0.0), ("mean", np.nan), ("variance", np.nan)])
def test_of_nothing(executor: Any, op: str, expected: float) -> None:
    array = executor.empty((2, 0, 3))
    for axis, shape in ((1, (2, 3)), ((0, 1), (3,)), (None, ())):
        result = getattr(executor, op)(array, axis).numpy()
        assert_matches(result, np.full(shape, expected), rtol=0.0, atol=0.0, why="NumPy's")
    assert getattr(executor, op)(array, 0).shape == (0, 3)


@pytest.mark.parametrize("op", ["max", "min"])
def test_extremes_of_nothing(executor: Any, op: str) -> None:
    from browsergpu.errors import InvalidArgument

    array = executor.empty((2, 0, 3))
    with pytest.raises(InvalidArgument, match=f"{op}: x must .*of no elements is undefined"):
        getattr(executor, op)(array, 1)
    assert getattr(executor, op)(array, 0).shape == (0, 3)


@pytest.mark.fast
@pytest.mark.parametrize("op", [*OPS, "variance"])
def test_nan_propagates(executor: Any, op: str) -> None:
    x = random_array(1, 4, 50, 3)
    x[2, 49, 1] = np.nan
    result = getattr(executor, op)(executor.from_numpy(x), (1, 2)).numpy()
    assert np.isnan(result).tolist() == [False, False, True, False]


@pytest.mark.fast
@pytest.mark.parametrize(
    ("dtype", "result_dtype"), [("i4", np.int32), ("u4", np.uint32), ("?", np.int32)]
)
def test_sums_of_integers(executor: Any, dtype: str, result_dtype: Any) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(0, 2 if dtype == "?" else 2**31 - 1, (5, 300, 7)).astype(dtype)
    for axis in subsets(3):
        expected = x.astype(np.int64).sum(axis=axis).astype(result_dtype)  # modulo 2^32
        result = executor.sum(executor.from_numpy(x), axis).numpy()
        assert_same_bits(result, np.asarray(expected), str(axis))
    assert executor.sum(executor.from_numpy(x[:, :0]), 1).numpy().sum() == 0


@pytest.mark.parametrize("op", OPS)
def test_half_precision(executor: Any, op: str) -> None:
    x = random_array(1, 6, 40, 5, dtype=np.float16)
    result = getattr(executor, op)(executor.from_numpy(x), (0, 2))
    expected = getattr(np, op)(x.astype(np.float64), axis=(0, 2))
    assert_matches(
        result.numpy(), expected, rtol=2.0**-10, atol=1e-5, dtype=np.float16,
        why="summed in float32, one rounding to float16",
    )  # fmt: skip
    wide = executor.empty((40,))
    assert getattr(executor, op)(executor.from_numpy(x), (0, 2), out=wide) is wide
    tolerance = allowed(op, x, (0, 2))
    assert_matches(wide.numpy(), expected, **tolerance)


def variance_allowed(x: np.ndarray, axis: Any) -> dict[str, Any]:
    """Return the tolerance of Chan's merges.

    Each level of the tree adds a relative error of a few u, and the mean has an error of the same
    share of the values' size.
    """
    wide = x.astype(np.float64)
    size = np.abs(wide).max(initial=0.0)
    spread = np.abs(wide - wide.mean(axis=axis, keepdims=True)).max(initial=0.0)
    return {
        "rtol": 64 * ULP, "atol": (16 * ULP * size) ** 2 + 64 * ULP * size * spread * U ** 0.5,
        "why": "merging moments",
    }  # fmt: skip


LARGER = [(5, 20_003), (3, 16_390), (1000, 132), (3001, 13), (2, 5000, 8), (3, 700, 6)]


@pytest.mark.parametrize("ddof", [0, 1, 2.5])
@pytest.mark.parametrize("shape", [*SHAPES, *LARGER], ids=str)
def test_variance(executor: Any, shape: tuple[int, ...], ddof: float) -> None:
    x = random_array(1, *shape)
    for axis in subsets(len(shape)):
        for keepdims in (False, True):
            result = executor.variance(executor.from_numpy(x), axis, keepdims, ddof=ddof).numpy()
            with np.errstate(all="ignore"):
                expected = np.var(x.astype(np.float64), axis=axis, keepdims=keepdims, ddof=ddof)
            assert_matches(result, expected, **variance_allowed(x, axis))


# Few and many values, along rows and columns, in whole vec4s or not, in one pass or several.
FAR = [(5,), (100,), (100_003,), (50, 5), (5, 51), (70, 100), (100, 72), (70_001, 2), (2, 70_001),
       (50, 3, 700), (7, 5, 3, 4)]  # fmt: skip


@pytest.mark.parametrize("shape", FAR, ids=str)
def test_variance_does_not_cancel(executor: Any, shape: tuple[int, ...]) -> None:
    # The textbook formula (mean of squares minus square of mean) has no correct digit here. Means
    # rounded to float32 have three.
    x = (10_000.0 + random_array(1, *shape)).astype(np.float32)
    for axis in subsets(len(shape)):
        if axis == ():
            continue
        result = executor.variance(executor.from_numpy(x), axis).numpy()
        expected = np.var(x.astype(np.float64), axis=axis)
        assert_matches(
            result, expected, rtol=16 * ULP, atol=0.0, why="differences from one value are exact"
        )


@pytest.mark.parametrize("first", [0.0, -3e4, 1e10])
def test_variance_with_a_first_value_far_from_the_others(executor: Any, first: float) -> None:
    x = (10_000.0 + random_array(1, 3, 30_011)).astype(np.float32)
    x[:, 0] = first
    expected = np.var(x.astype(np.float64), axis=1)
    for array, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        result = executor.variance(executor.from_numpy(array), axis).numpy()
        assert_matches(result, expected, rtol=64 * ULP, atol=0.0, why="merging moments")


EXTREMES = {
    "infinity": [np.inf], "one infinity": [1.0, np.inf], "infinity first": [-np.inf, 1.0, 2.0],
    "both infinities": [np.inf, -np.inf], "NaN": [np.nan], "NaN first": [np.nan, 1.0, 2.0],
    "too far apart": [3e38, -3e38], "one too far": [1.0, 2.0, 3e38, -3e38, 1.0],
    "equal and large": [3e38, 3e38, 3e38], "squares overflow": [1e30, 2e30],
}  # fmt: skip


@pytest.mark.parametrize("count", [1, 7, 9000])
@pytest.mark.parametrize("values", EXTREMES.values(), ids=EXTREMES.keys())
def test_variance_of_extremes_is_numpys(executor: Any, values: list[float], count: int) -> None:
    x = np.tile(np.array(values, np.float32), count)
    # As NumPy's float32, except that its mean's sums overflow.
    finite = np.isfinite(x).all()
    expected = np.nan if not finite else np.var(x.astype(np.float64))
    two = np.stack([x, np.ones_like(x)])
    for array, axis in ((two, 1), (np.ascontiguousarray(two.T), 0)):
        result = executor.variance(executor.from_numpy(array), axis).numpy()
        assert_matches(result, np.array([expected, 0.0]), rtol=64 * ULP, atol=0.0, why="NumPy's")
    both = executor.variance(executor.from_numpy(np.stack([x, x]))).numpy()
    assert_matches(both, np.array(expected), rtol=64 * ULP, atol=0.0, why="NumPy's")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_variance_of_infinities_is_nan(executor: Any, value: float) -> None:
    x = random_array(1, 3, 300)
    x[1, 7] = value
    result = executor.variance(executor.from_numpy(x), 1).numpy()
    assert np.isnan(result).tolist() == [False, True, False]


@given(data=st.data())
def test_any_shape(executor: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 7), max_size=5), "shape"))
    axis = data.draw(st.sampled_from(subsets(len(shape))), "axis")
    if axis == -1 and not shape:
        axis = None
    op = data.draw(st.sampled_from(OPS), "op")
    check(executor, op, random_array(1, *shape), axis, data.draw(st.booleans(), "keepdims"))


def test_out_is_the_input(executor: Any) -> None:
    x = random_array(1, 5)
    array = executor.from_numpy(x)
    assert executor.max(array, (), out=array) is array
    assert_same_bits(array.numpy(), x, "nothing is reduced")
    one = executor.from_numpy(x[:1])
    executor.sum(one, 0, keepdims=True, out=one)
    assert_same_bits(one.numpy(), x[:1], "one element")


def test_invalid_arguments_are_refused(executor: Any) -> None:
    from browsergpu.errors import InvalidArgument

    x, whole = executor.full((2, 3), 1.0), executor.full((2, 3), 1, "i32")
    for call, words in (
        (lambda: executor.sum(x, 2), "sum: axis must .*, got 2"),
        (lambda: executor.sum(x, -3), "sum: axis must .*, got -3"),
        (lambda: executor.mean(x, (0, 0)), "mean: axis must .*different axes"),
        (lambda: executor.mean(x, 1.0), "mean: axis must .*, got 1.0"),
        (lambda: executor.max(x, "0"), "max: axis must .*, got '0'"),
        (lambda: executor.max(whole), "max: x must .*cast"),
        (lambda: executor.variance(whole), "variance: x must .*cast"),
        (lambda: executor.variance(x, ddof=-1), "variance: ddof must .*, got -1"),
        (lambda: executor.variance(x, ddof=float("nan")), "variance: ddof must .*, got nan"),
        (lambda: executor.sum(x, 0, 1), "sum: keepdims must .*, got 1"),
        (lambda: executor.sum(x, 0, out=executor.empty((2,))), r"out must .*shape \(3,\)"),
        (lambda: executor.sum(whole, 0, out=executor.empty((3,))), "out must .*i32"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            call()
