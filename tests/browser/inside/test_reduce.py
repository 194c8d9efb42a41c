"""reduce against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, on_gpu, random_array, whole_array
from inside.reference import REDUCE_OPS

pytestmark = [pytest.mark.native, pytest.mark.firefox]

SHAPES = [
    (1,), (2,), (31,), (32,), (33,), (256,), (257,), (1021,),
    (1, 1), (1, 7), (7, 1), (13, 17), (3, 300), (300, 3), (257, 5),
    (2, 3, 5), (7, 1, 33), (4, 67, 6), (2, 3, 4, 5), (5, 1, 3, 40), (2, 3, 2, 5, 7),
    (1, 2, 1, 3, 1), (5, 20_003), (9, 16_390), (1000, 130), (3000, 12), (2, 5000, 8), (3, 700, 6),
    (70, 3, 400),
]  # fmt: skip


def run_reduce(backend: Any, op: str, x: np.ndarray, axis: int) -> np.ndarray:
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    count = int(np.prod(shape))
    with on_gpu(backend) as gpu:
        x_ptr = gpu.upload(x)
        # One element more than the result: it must not change.
        y_ptr = gpu.filled(count + 1, SENTINEL)
        backend.reduce(op, x_ptr, y_ptr, x.shape, axis)
        result = gpu.download(y_ptr, count + 1)
        assert_same_bits(gpu.download(x_ptr, x.shape), x, "input")
    assert result[-1] == np.float32(SENTINEL), "the element behind the result was overwritten"
    return result[:-1].reshape(shape)


def check(backend: Any, op: str, x: np.ndarray, axis: int) -> None:
    tolerance = tolerances.reduce(op, x, axis)
    expected = reference.reduce(op, x, axis)
    assert_matches(run_reduce(backend, op, x, axis), expected, **tolerance._asdict())


def check_exact(backend: Any, op: str, x: np.ndarray, axis: int) -> None:
    """Sums of integers are exact; a mean is rounded only by its scaling."""
    assert_matches(
        run_reduce(backend, op, x, axis), reference.reduce(op, x, axis),
        rtol=3 * tolerances.ULP if op == "mean" else 0.0, atol=0.0,
        why="whole numbers have exact sums; the mean's scaling costs up to 3 ULP",
    )  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("op", REDUCE_OPS)
def test_every_axis(backend: Any, op: str, shape: tuple[int, ...]) -> None:
    x = random_array(len(shape), *shape)
    for axis in range(len(shape)):
        check(backend, op, x, axis)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((16_384,), 0), ((16_385,), 0), ((65_537,), 0), ((1_000_003,), 0), ((3, 70_001), 1),
     ((70_001, 3), 0), ((2, 66_000, 2), 1), ((70_001, 1), 1), ((66_000, 1), 0)],
)  # fmt: skip
@pytest.mark.parametrize("op", REDUCE_OPS)
def test_long_axes(backend: Any, op: str, shape: tuple[int, ...], axis: int) -> None:
    # Integers have exact sums: a sum's rounding would hide a single lost element.
    check_exact(backend, op, whole_array(7, *shape), axis)


@pytest.mark.parametrize("where", [0, 1, 255, 256, 20_000, 69_999])
@pytest.mark.parametrize("op", ["max", "min"])
def test_the_extreme_is_found_anywhere(backend: Any, op: str, where: int) -> None:
    x = random_array(3, 70_000)
    x[where] = 9.0 if op == "max" else -9.0
    check(backend, op, x, 0)
    check(backend, op, np.stack([x, x], axis=1), 0)


@pytest.mark.parametrize("op", ["max", "min"])
def test_all_on_one_side_of_zero(backend: Any, op: str) -> None:
    # A wrong identity (0 for max) would be the result here.
    sign = np.float32(-1.0 if op == "max" else 1.0)
    x = sign * np.abs(random_array(4, 5, 300))
    for axis in (0, 1):
        check(backend, op, x, axis)


@pytest.mark.fast
@pytest.mark.parametrize("op", REDUCE_OPS)
def test_infinities_and_nan(backend: Any, op: str) -> None:
    x = random_array(5, 9, 300)
    x[1, 299] = np.nan
    x[2, 0] = np.nan
    x[3, 7] = np.inf
    x[4, 256] = -np.inf
    x[5, [3, 200]] = np.inf, -np.inf
    x[6, [3, 200]] = np.nan, np.inf
    x[7, :] = np.inf
    x[8, :] = -np.inf
    clean = np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
    for axis, data, bound in ((1, x, clean), (0, x.T.copy(), clean.T.copy())):
        tolerance = tolerances.reduce(op, bound, axis)
        expected = reference.reduce(op, data, axis)
        assert_matches(run_reduce(backend, op, data, axis), expected, **tolerance._asdict())


@pytest.mark.parametrize("op", REDUCE_OPS)
def test_nan_far_into_a_long_axis(backend: Any, op: str) -> None:
    x = random_array(6, 70_000)
    x[69_998] = np.nan
    assert np.isnan(run_reduce(backend, op, x, 0))
    assert np.isnan(run_reduce(backend, op, x.reshape(-1, 1), 0)).all()


@pytest.mark.fast
@pytest.mark.parametrize(("op", "expected"), [("sum", 0.0), ("mean", np.nan)])
@pytest.mark.parametrize(("shape", "axis"), [((0,), 0), ((3, 0), 1), ((0, 5), 0), ((2, 0, 3), 1)])
def test_an_axis_of_length_zero(
    backend: Any, op: str, expected: float, shape: tuple[int, ...], axis: int
) -> None:
    result = run_reduce(backend, op, np.zeros(shape, np.float32), axis)
    assert_matches(
        result, np.full(result.shape, expected), rtol=0.0, atol=0.0, why="NumPy's result of nothing"
    )


@pytest.mark.parametrize("op", REDUCE_OPS)
def test_an_empty_result(backend: Any, op: str) -> None:
    assert run_reduce(backend, op, np.zeros((0, 5), np.float32), 1).shape == (0,)
    assert run_reduce(backend, op, np.zeros((5, 0, 3), np.float32), 0).shape == (0, 3)


@given(data=st.data())
def test_any_shape(backend: Any, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=5), "shape"))
    axis = data.draw(st.integers(0, len(shape) - 1), "axis")
    op = data.draw(st.sampled_from(REDUCE_OPS), "op")
    check(backend, op, random_array(data.draw(st.integers(0, 99), "seed"), *shape), axis)
