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


def test_gradient_of_a_union(bg: Any) -> None:
    x = bg.asarray(np.float32([3, 1, 3]))
    assert bg.grad(lambda v: bg.sum(bg.union1d(v, v) ** 2))(x).tolist() == [3, 2, 3]


def test_gradient_of_remainders(bg: Any) -> None:
    both = bg.grad(lambda a, b: bg.sum(bg.fmod(a, b)), (0, 1))(
        bg.asarray([5.0, -5.0, 0.0]), bg.asarray([2.0, 2.0, 3.0])
    )
    assert [one.tolist() for one in both] == [[1, 1, 1], [-2, 2, 0]]


def test_dtypes_of_calls_are_those_of_the_computation(bg: Any) -> None:
    x = np.array([200, 100], np.uint8)
    for name, args, dtype in (("negative", (), "i4"), ("square", (), "f2"), ("power", (2,), "f4")):
        found, expected = (getattr(module, name)(x, *args, dtype=dtype) for module in (bg, np))
        np.testing.assert_array_equal(np.asarray(found), expected)
    for call in (
        lambda: bg.multiply(x, 0.5, dtype="i4"),
        lambda: bg.sqrt(x, dtype="i4"),
        lambda: bg.add(x, 0.5, out=bg.zeros(2, dtype="i4")),
        lambda: bg.mean(x, out=bg.zeros((), dtype="i4")),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match=r"out must be of shape \(\)"):
        bg.sum(x, out=bg.zeros(2))


def test_arguments_of_other_dtypes(bg: Any) -> None:
    x = np.array([3, 1, 4], np.int32)
    for options in ({"append": 9.5}, {"prepend": 0}):
        found, expected = (module.diff(x, **options) for module in (bg, np))
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert found.dtype.kind == expected.dtype.kind
    given = [module.asarray(x.copy()) for module in (bg, np)]
    for module, one in zip((bg, np), given, strict=True):
        module.subtract.at(one, [0, 0, 1], 2.5)
    np.testing.assert_array_equal(np.asarray(given[0]), given[1])
    assert bg.linspace(-3, 3, 7, dtype=int).tolist() == [*range(-3, 4)]
    assert bg.float_power(bg.asarray(np.float16([300])), 2).tolist() == [90000]
    assert bg.where(True, bg.asarray(x), 0).tolist() == [3, 1, 4]
    with pytest.raises(TypeError, match="to_end"):
        bg.ediff1d(x, to_end=0.5)
    with pytest.raises(TypeError, match="real numbers"):
        bg.fft.rfft(np.complex64([1j]))
    with pytest.raises(ValueError, match="kind"):
        bg.sort(x, kind="fast")


def test_indices_on_the_host_are_checked(bg: Any) -> None:
    x = bg.asarray(np.float32([1, 2, 3]))
    for call in (lambda: bg.take(x, [3]), lambda: x.take(-4), lambda: bg.take(x, np.array([[9]]))):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
            call()
    with pytest.raises(ValueError, match="false from element 3 on"):
        bg.compress([True, False, False, True], x)
    assert bg.take(x, [3, -4], mode="wrap").tolist() == [1, 3]


@pytest.mark.parametrize(
    "work",
    [
        lambda np, u, b: b @ b,
        lambda np, u, b: np.dot(b, b),
        lambda np, u, b: np.ones(300, bool) @ np.ones(300, bool),
        lambda np, u, b: np.gcd(b, 4),
        lambda np, u, b: np.lcm(b, 4),
        lambda np, u, b: np.reciprocal(np.asarray([1, -1, 2, -5])),
        lambda np, u, b: np.reciprocal(u),
        lambda np, u, b: np.multiply.outer(u, 2),
        lambda np, u, b: np.polyval(u, 2),
        lambda np, u, b: np.choose([0, 1, 0], [u, 7]),
    ],
)
def test_dtypes_and_values_of_small_integers(bg: Any, work: Any) -> None:
    u, b = np.uint8([1, 200, 3]), np.array([[True, False, True]] * 3)
    found, expected = work(bg, bg.asarray(u), bg.asarray(b)), np.asarray(work(np, u, b))
    assert found.dtype == expected.dtype
    assert np.asarray(found).tolist() == expected.tolist()


def test_copyto_casts_numbers_as_numpy_does(bg: Any) -> None:
    for own in (bg.asarray(np.uint8([1, 2])), np.uint8([1, 2])):
        library: Any = bg if isinstance(own, bg.Array) else np
        with pytest.raises(TypeError):
            library.copyto(own, 3.5)
        with pytest.raises(OverflowError):
            library.copyto(own, 300)
        library.copyto(own, 3.5, casting="unsafe")
        library.copyto(own, 7, where=[True, False])
        assert own.tolist() == [7, 3]
