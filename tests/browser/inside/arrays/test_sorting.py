"""Sorting, searching, cumulative functions, sets and masks, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.arrays.data import DTYPES, NUMBERS, REALS, assert_same, by_default, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]


@pytest.mark.parametrize("dtype", ["bool", *REALS])
def test_orders(bg: Any, dtype: str) -> None:
    x = sample(dtype, (4, 30, 3))
    if dtype == "float32":
        x[0, :4, 0] = [np.nan, np.inf, -0.0, 0.0]
    a = bg.asarray(x)
    for axis in (0, 1, -1):
        assert_same(bg.sort(a, axis=axis), np.sort(x, axis=axis, kind="stable"), dtype)
        order = np.argsort(x, axis=axis, kind="stable")
        assert_same(bg.argsort(a, axis=axis), by_default(order), dtype)
        assert_same(
            bg.take_along_axis(a, bg.argsort(a, axis=axis), axis=axis), np.sort(x, axis=axis)
        )
        assert_same(bg.argmax(a, axis=axis), by_default(np.argmax(x, axis=axis)), dtype)
        least = np.argmin(x, axis=axis, keepdims=True)
        assert_same(bg.argmin(a, axis=axis, keepdims=True), by_default(least))
    assert_same(bg.argmax(a), by_default(np.argmax(x)), dtype)
    falling = bg.sort(a, axis=1, descending=True).numpy()
    np.testing.assert_array_equal(falling, np.sort(x, axis=1)[:, ::-1])
    vector = np.sort(x[1, :, 1])
    for side in ("left", "right"):
        expected = np.searchsorted(vector, x[2], side=side)
        got = bg.searchsorted(bg.asarray(vector), bg.asarray(x[2]), side=side)
        assert_same(got, by_default(expected), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_sums_and_products(bg: Any, dtype: str) -> None:
    x = sample(dtype, (3, 20, 2))
    a = bg.asarray(x)
    kind = {"b": "int64", "i": "int64", "u": "uint64"}.get(np.dtype(dtype).kind, dtype)
    rtol = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 0.0)
    for axis in (0, 1, 2):
        wide = x.astype(np.float64) if dtype in ("float16", "float32") else x
        expected = np.cumsum(wide, axis=axis).astype(kind)
        assert_same(bg.cumulative_sum(a, axis=axis), expected, dtype, rtol=rtol)
        if dtype != "complex64":
            expected = np.cumprod((wide % 3).astype(wide.dtype), axis=axis).astype(kind)
            small = bg.asarray((x % 3).astype(dtype))
            assert_same(bg.cumulative_prod(small, axis=axis), expected, dtype, rtol=rtol)
    got = bg.cumulative_sum(a, axis=1, include_initial=True)
    assert got.shape == (3, 21, 2)
    assert not got[:, 0].numpy().any()
    for times in (0, 1, 2):
        assert_same(bg.diff(a, axis=1, n=times), np.diff(x, n=times, axis=1), dtype, rtol=rtol)
    assert bg.diff(a, axis=0, prepend=a[:1], append=a[-1:]).shape == (4, 20, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(bg: Any, dtype: str) -> None:
    x = sample(dtype, (5, 6, 2))
    a = bg.asarray(x)
    for mask in (sample("bool", (5, 6, 2), 3), sample("bool", (5, 6), 4), sample("bool", 5, 5)):
        assert_same(a[bg.asarray(mask)], x[mask], dtype)
        assert_same(a[mask], x[mask], dtype)
        y, b = x.copy(), bg.asarray(x)
        part = sample(dtype, x[mask].shape, 9)
        y[mask] = part
        b[bg.asarray(mask)] = bg.asarray(part)
        assert_same(b, y, dtype)
        y[mask] = 1
        b[mask] = 1
        assert_same(b, y, dtype)
    assert a[bg.zeros((5, 6), dtype="bool")].shape == (0, 2)
    for got, expected in zip(bg.nonzero(a), np.nonzero(x), strict=True):
        assert_same(got, by_default(expected), dtype)
    with pytest.raises(IndexError, match="leading axes"):
        a[bg.zeros((6,), dtype="bool")]


def test_masks_among_other_keys(bg: Any) -> None:
    x = sample("float32", (3, 4, 5))
    a = bg.asarray(x)
    last, middle = np.array([1, 0, 1, 1, 0], bool), np.array([0, 1, 1, 0], bool)
    two = x[0] > 0
    for key in (
        (..., last), (slice(None), middle), (1, middle, slice(None, None, 2)), (slice(None), two),
        (None, [True, False, True]), (0, middle, [4, 0]),
    ):  # fmt: skip
        ours = tuple(bg.asarray(k) if isinstance(k, np.ndarray) else k for k in key)
        assert_same(a[ours], x[key], str(key))
        y, b = x.copy(), bg.asarray(x)
        y[key], b[ours] = 7, 7
        assert_same(b, y, str(key))
    with pytest.raises(IndexError, match="axes from 1 on"):
        a[:, bg.asarray(last)]


def test_masks_without_axes(bg: Any) -> None:
    for shape in ((), (2, 3)):
        for chosen in (True, False):
            x = sample("float32", shape)
            a, mask = bg.asarray(x), bg.asarray(chosen)
            assert_same(a[mask], x[np.asarray(chosen)])
            x[np.asarray(chosen)] = 7
            a[mask] = 7
            assert_same(a, x)


def test_sets(bg: Any) -> None:
    for dtype in REALS:
        x = (sample(dtype, (7, 9)) % 5).astype(dtype)
        found = bg.unique_all(bg.asarray(x))
        expected = np.unique_all(x)
        for name in ("values", "indices", "inverse_indices", "counts"):
            known = getattr(expected, name)
            known = known if name == "values" else by_default(known)
            assert_same(getattr(found, name), known, f"{name} of {dtype}")
    nan = bg.asarray([np.nan, 1.0, np.nan])
    assert bg.unique_values(nan).shape == (3,)
    assert bg.unique_counts(bg.zeros((0,))).counts.shape == (0,)


def test_membership(bg: Any) -> None:
    x = sample("int16", (4, 9)) % 9
    a = bg.asarray(x)
    for others in (
        np.array([[3, -1], [3, 8]]),
        np.array([]),
        np.float32(2.5),
        np.array([2, np.nan]),
    ):
        for invert in (False, True):
            got = bg.isin(a, bg.asarray(others), invert=invert)
            assert_same(got, np.isin(x, others, invert=invert), str(others))
    assert_same(bg.isin(a, 4), np.isin(x, 4))
    assert_same(bg.isin(int(x[1, 2]), a), np.asarray(True))
    assert not bg.isin(bg.asarray(np.nan), bg.asarray([np.nan]))
    assert_same(np.isin(a, bg.asarray([1, 2])), np.isin(x, [1, 2]))
    assert not bool(bg.isin(1, 2))
    ordered = bg.asarray([1, 3, 3, 7])
    for number in (3, 2.5, np.uint8(9)):
        assert int(bg.searchsorted(ordered, number, side="right")) == np.searchsorted(
            [1, 3, 3, 7], number, side="right"
        )
    with pytest.raises(TypeError, match="x2"):
        bg.searchsorted(ordered, "3")


def test_invalid_arguments_are_refused(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    a = bg.asarray(sample("float32", (3, 4)))
    for call in (
        lambda: bg.cumulative_sum(a), lambda: bg.argmax(a[:0]), lambda: bg.sort(a, axis=2),
        lambda: bg.searchsorted(a, a), lambda: bg.searchsorted(a[0], a, side="middle"),
        lambda: bg.nonzero(bg.asarray(1)), lambda: bg.take_along_axis(a, bg.asarray([0])),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(TypeError):
        bg.sort(bg.asarray([1j]))
    assert len(NUMBERS) == 9
