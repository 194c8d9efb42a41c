"""NumPy's statistics on GPU arrays: ignoring NaN, by order, by bins; and ``…_like`` functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, by_default, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = sample("float32", (5, 7))
GAPS = np.where(np.arange(35).reshape(5, 7) % 3 == 0, np.nan, X).astype(np.float32)
GAPS[:, 2] = np.nan


def check(bg: Any, call: Callable[[Any], Any], data: np.ndarray, rtol: float = 1e-5) -> None:
    got, expected = call(bg.asarray(data)), np.asarray(call(data))
    assert isinstance(got, bg.Array)
    assert_same(got, expected.astype(got.dtype), rtol=rtol)


@pytest.mark.filterwarnings("ignore:.*(All-NaN|Mean of empty|Degrees of freedom)")
def test_without_nan(bg: Any) -> None:
    functions = (np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean, np.nanvar, np.nanstd)
    for i, function in enumerate(functions):  # axes alternate, as each needs its own kernels
        for axis in (None, i % 2):
            check(bg, lambda a, f=function, n=axis: f(a, axis=n), GAPS, 1e-4)
    for function in (np.nanmax, np.nanvar):
        check(bg, lambda a, f=function: f(a, axis=1, keepdims=True), GAPS, 1e-4)
    for place in (np.nanargmax, np.nanargmin):
        check(bg, lambda a, f=place: f(a, axis=1), GAPS)
    check(bg, np.nansum, np.arange(5, dtype=np.int32))


def test_by_order(bg: Any) -> None:
    for call in (
        lambda a: np.percentile(a, [10, 50, 99.5]), lambda a: np.percentile(a, 30, axis=1),
        lambda a: np.quantile(a, [0, 0.3, 1], axis=0, keepdims=True), np.median,
        lambda a: np.median(a, axis=0, keepdims=True), lambda a: np.quantile(a, [0.25], axis=-1),
        *(lambda a, m=m: np.quantile(a, [0.2, 0.71], axis=1, method=m)
          for m in ("lower", "higher", "midpoint", "nearest")),
    ):  # fmt: skip
        check(bg, call, X)
    check(bg, lambda a: np.median(a, axis=0), GAPS)
    assert float(np.median(bg.asarray([np.inf, np.inf, 1]))) == np.inf  # NumPy gives NaN
    assert_same(np.partition(bg.asarray(X), 3), np.sort(X))
    assert_same(np.argpartition(bg.asarray(X), 3, axis=0), by_default(np.argsort(X, axis=0)))
    a = bg.asarray(X)
    for wrong in (lambda: np.quantile(a, 2.0), lambda: np.quantile(a, 0.5, method="mean")):
        with pytest.raises(ValueError, match="quantile"):
            wrong()


def test_by_bins(bg: Any) -> None:
    flat = np.array([0, 1, 1, 2.5, 3, 3, 7, np.nan], np.float32)
    for options in ({"bins": [0, 1, 3, 5]}, {"bins": 4, "range": (0, 3)}):
        counts, edges = np.histogram(bg.asarray(flat), **options)
        expected, at = np.histogram(flat, **options)
        assert counts.tolist() == expected.tolist()
        np.testing.assert_allclose(edges, at)
    check(bg, lambda a: np.histogram(a, 6)[0], X)
    check(bg, lambda a: np.histogram(a, 6, density=True)[0], X)


def test_shapes_by_numpys_names(bg: Any) -> None:
    for call in (
        lambda a: np.vstack([a, a]), lambda a: np.hstack([a, a]), lambda a: np.vstack([a[0], a]),
        lambda a: np.hstack([a[0], a[1]]), np.ravel, lambda a: np.swapaxes(a, 0, 1), np.copy,
        lambda a: np.take(a, [3, 0], axis=1), lambda a: np.take(a, [3, 30]), np.real, np.imag,
        lambda a: np.dot(a, a.T), lambda a: np.dot(a[0], a[1]), lambda a: np.dot(a, a[0]),
        lambda a: np.take_along_axis(a, np.argsort(a, axis=1), axis=1), np.round,
    ):  # fmt: skip
        check(bg, call, X)
    assert np.result_type(bg.asarray(X), bg.asarray([1])) == np.float32
    assert not np.iscomplexobj(bg.asarray(X))


def test_in_the_likeness_of_an_array(bg: Any) -> None:
    a = bg.asarray(X)
    for made, expected in (
        (np.ones_like(a, shape=(2, 3)), np.ones((2, 3), np.float32)),
        (np.full_like(a, 7, shape=4, dtype="i4"), np.full(4, 7, np.int32)),
        (np.zeros_like(a), np.zeros_like(X)), (np.asarray([1, 2], like=a), np.array([1, 2], "i8")),
        (np.array(3.5, ndmin=2, like=a), np.array([[3.5]], np.float32)),
        (np.asarray(X, dtype="i4", like=a), X.astype("i4")), (np.asanyarray(a, like=a), X),
        (np.ascontiguousarray(3.5, like=a), np.array([3.5], np.float32)),
        (np.arange(2, 8, 3, like=a), np.array([2, 5], "i8")),
    ):  # fmt: skip
        assert isinstance(made, bg.Array)
        assert_same(made, expected)
    assert np.empty_like(a, shape=(3,)).shape == (3,)


def test_unpickled_arrays_are_uploaded_when_needed(bg: Any) -> None:
    for data in (X, X > 0, np.array(2, np.int16), np.zeros((0, 3), np.complex64)):
        a = pickle.loads(pickle.dumps(bg.asarray(data)))
        assert bg.explain(a) == "on the host: it is uploaded when it is needed"
        assert_same(a, data)
        assert_same(bg.where(a == a, a, a), data)
        assert bg.explain(a) == "in memory: nothing is to be computed"
    for use in (
        lambda a: a.sum(axis=0), lambda a: a * a, lambda a: a @ a.T, lambda a: a[1:, ::2], np.sort,
        lambda a: a[a > 0], lambda a: bg.asarray(a, dtype="f2"), lambda a: a.reshape(7, 5),
    ):  # fmt: skip
        a = pickle.loads(pickle.dumps(bg.asarray(X)))
        assert_same(use(a), use(bg.asarray(X)).numpy())
    a = pickle.loads(pickle.dumps(bg.asarray(X)))
    a[0] = 5
    assert a[0].tolist() == [5.0] * 7


class Another:
    """An array of another library that handles GPU arrays itself."""

    shape = (5, 7)
    __array_ufunc__ = __array_function__ = lambda *_, **__: "by another"


def test_beside_others_arrays(bg: Any) -> None:
    a = bg.asarray(X)
    assert np.add(a, Another()) == "by another"
    assert np.concatenate([a, Another()]) == "by another"
