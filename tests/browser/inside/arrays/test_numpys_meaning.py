"""Arguments of NumPy's functions whose meaning is easily missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def test_initial_takes_the_dtype_of_the_result(bg: Any) -> None:
    x = np.array([1, -2, 3])
    for name, options in (
        ("sum", {"initial": 1.5}), ("prod", {"initial": 2.5}), ("max", {"initial": 3.7}),
        ("min", {"initial": -2.5, "where": x > 0}),
    ):  # fmt: skip
        found, expected = (getattr(module, name)(x, **options) for module in (bg, np))
        assert (found.item(), found.dtype) == (expected, expected.dtype)
    assert bg.max(bg.zeros((0, 2)), axis=0, initial=2).tolist() == [2, 2]
    with pytest.raises(OverflowError):
        bg.max(np.int8([1]), initial=1000)


def test_sets_have_one_nan(bg: Any) -> None:
    x = np.float32([3, np.nan, 1, np.nan])
    for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d"):
        found, expected = (getattr(module, name)(x, x) for module in (bg, np))
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_joined_numbers_and_arrays(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2]))
    assert bg.hstack([x, 3, 4]).tolist() == [1, 2, 3, 4]
    assert bg.r_[x, 3, 4].tolist() == [1, 2, 3, 4]
    assert bg.c_[1, 2, 3].tolist() == [[1, 2, 3]]


def test_cross_products_of_axes(bg: Any) -> None:
    a = np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    for options in ({"axisa": 0}, {"axisb": 0, "axisc": 0}, {"axis": 0}):
        found, expected = (module.cross(a, a[::-1], **options) for module in (bg, np))
        np.testing.assert_array_equal(np.asarray(found), expected)
    assert bg.cross(a[:, :2], a[0, :2]).tolist() == [0, 3, 6]
    with pytest.raises(ValueError, match="2 or 3 elements"):
        bg.cross(a[:, :1], a[:, :1])


def test_gradient_of_remainders(bg: Any) -> None:
    both = bg.grad(lambda a, b: bg.sum(bg.fmod(a, b)), (0, 1))(
        bg.asarray([5.0, -5.0, 0.0]), bg.asarray([2.0, 2.0, 3.0])
    )
    assert [one.tolist() for one in both] == [[1, 1, 1], [-2, 2, 0]]
