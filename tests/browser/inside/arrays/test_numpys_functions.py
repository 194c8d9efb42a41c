"""NumPy's functions beyond the Array API standard, on GPU arrays."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, by_default, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

X = sample("float32", (4, 6))
Y = sample("float32", (4, 6))[::-1].copy()
Z = (X + 1j * Y).astype(np.complex64)
I = (np.arange(24, dtype=np.int32).reshape(4, 6) * 7) % 11  # noqa: E741
J = np.array([[3, -3, 2, -2, 5, 7]], np.int32)
GAPS = np.where(I % 3 == 0, np.nan, X).astype(np.float32)
GAPS[2] = np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 1e-20, -3e30, np.inf, -np.inf, np.nan], np.float32
)
V = np.array([3, 1, 3, 0, 5, 1, 3], np.int32)
W = np.array([0.5, 2, 1, -1, 4, 0.25, 8], np.float32)

Call = Callable[..., Any]


def check(bg: Any, call: Call, *data: Any, rtol: float = 2e-6) -> None:
    """Assert that a call gives the same results, or tuples, for GPU arrays and NumPy arrays."""
    found = call(*(bg.asarray(x) for x in data))
    with np.errstate(all="ignore"):
        expected = call(*data)
    if not isinstance(expected, tuple | list):
        found, expected = (found,), (expected,)
    assert len(found) == len(expected)
    for got, known in zip(found, expected, strict=True):
        assert isinstance(got, bg.Array), "on the GPU"
        known = np.asarray(known)
        assert got.dtype.kind == known.dtype.kind
        assert_same(got, known.astype(got.dtype), rtol=rtol)


OF_ONE = (
    "cbrt", "deg2rad", "degrees", "exp2", "fabs", "frexp", "modf", "rad2deg", "radians", "spacing",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_each_element(bg: Any, name: str) -> None:
    check(bg, getattr(np, name), X)
    own = SPECIAL
    if name == "spacing":
        own = SPECIAL[np.abs(SPECIAL) > 1e-10]
    elif name == "frexp":  # C leaves this exponent unspecified; musl stores none
        own = SPECIAL[np.isfinite(SPECIAL)]
        mantissa, exponent = np.frexp(bg.asarray(SPECIAL[-3:]))
        assert_same(mantissa, SPECIAL[-3:])
        assert exponent.tolist() == [0, 0, 0]
    check(bg, getattr(np, name), own)
    if name != "exp2":
        with pytest.raises(TypeError, match="real numbers"):
            getattr(np, name)(bg.asarray(Z))


def test_functions_of_two_elements(bg: Any) -> None:
    for call in (np.fmax, np.fmin):
        check(bg, call, GAPS, X)
        check(bg, call, X, GAPS)
        check(bg, lambda x, f=call: f(x, np.nan), GAPS)
    check(bg, np.logaddexp2, X, Y, rtol=1e-5)
    check(bg, np.float_power, np.abs(X), Y, rtol=1e-5)
    check(bg, lambda x: np.float_power(x, 2), I)
    check(bg, np.fmod, 5 * X, Y, rtol=1e-4)
    check(bg, lambda x: np.fmod(x, 2.5), SPECIAL)
    check(bg, np.fmod, I - 5, J)
    check(bg, lambda x: np.fmod(-7, x), J)
    check(bg, np.divmod, I - 5, J)
    check(bg, np.ldexp, X, I)
    numbers = np.array([1e-30, 1.5, -3, 0, 1e30, np.inf], np.float32)
    check(bg, np.ldexp, numbers, np.array([120, -100, 5, 7, -130, 3], np.int32))
    with pytest.raises(TypeError):
        np.ldexp(bg.asarray(X), bg.asarray(X))


def test_functions_of_each_element_with_each(bg: Any) -> None:
    for call in (np.add.outer, np.multiply.outer, np.maximum.outer):
        check(bg, call, X[0], Y[1])
        check(bg, call, X, Y[:, 0])
    check(bg, lambda a: np.subtract.outer(a, 2.0), X)
    check(bg, lambda a: np.subtract.outer(2.0, a), X)
    out = bg.zeros((6, 6))
    assert np.add.outer(bg.asarray(X[0]), Y[1], out=out) is out
    assert_same(out, np.add.outer(X[0], Y[1]))
    with pytest.raises(TypeError, match=r"Write it with array functions"):
        np.frompyfunc(lambda x: x, 1, 1)(bg.asarray(X))


def test_options_of_elementwise_functions(bg: Any) -> None:
    a, out = bg.asarray(X), bg.asarray(Y)
    assert np.add(a, 1, out=out, where=a > 0) is out
    assert_same(out, np.where(X > 0, X + 1, Y))
    whole, fraction = bg.zeros((4, 6)), bg.zeros((4, 6))
    np.modf(a, out=(fraction, whole))
    assert_same(whole, np.trunc(X))
    assert np.add(a, 1, casting="same_kind", order="K").shape == (4, 6)
    for wrong in ({"where": a > 0}, {"casting": "unsafe"}, {"order": "F"}):
        with pytest.raises(ValueError, match=r"np\.add"):
            np.add(a, 1, **wrong)
    with pytest.raises(TypeError, match="datetime64"):
        np.isnat(bg.asarray(I))


def test_functions_of_numbers(bg: Any) -> None:
    for call in (np.angle, lambda x: np.angle(x, deg=True)):
        check(bg, call, Z, rtol=1e-5)
        check(bg, call, X, rtol=1e-5)
    for call in (np.iscomplex, np.isreal, np.nan_to_num):
        check(bg, call, X)
        check(bg, call, np.array([1, 1j, 2 + 1j, np.nan], np.complex64))
    check(bg, lambda x: np.nan_to_num(x, nan=2, posinf=7, neginf=-7), SPECIAL)
    check(bg, np.nan_to_num, I)
    own = bg.asarray(GAPS)
    assert np.nan_to_num(own, copy=False) is own
    assert_same(own, np.nan_to_num(GAPS))
    check(bg, np.fix, SPECIAL)
    check(bg, np.sinc, np.append(X.ravel(), np.float32(0)), rtol=1e-4)
    check(bg, np.i0, 4 * X, rtol=1e-5)
    assert np.can_cast(bg.asarray(I), "f8")
    assert not np.can_cast(bg.asarray(X), "i4")


def test_rounding(bg: Any) -> None:
    for decimals in (0, 2, -1, 30):
        check(bg, lambda x, n=decimals: np.round(x, n), 30 * X)
        check(bg, lambda x, n=decimals: np.around(x, n), SPECIAL[:9])
    check(bg, lambda x: np.round(x, 1), Z)
    numbers = np.array([0, 5, 15, 25, -5, -15, 149, 150, 151, 2**31 - 1], np.int32)
    for zeros in (0, 1, 2, 9, 12):
        check(bg, lambda x, n=zeros: np.round(x, -n) if n < 12 else x * 0, numbers[:-1])
        check(bg, lambda x, n=zeros: np.round(x, n), numbers)
    check(bg, lambda x: np.round(x, -2), np.array([-128, 49, 50, 51, 127], np.int16))
    check(bg, lambda x: np.round(x, -1), np.array([5, 15, 251], np.uint8))
    out = bg.zeros((4, 6))
    assert np.round(bg.asarray(X), 1, out=out) is out
    with pytest.raises(ValueError, match="decimals"):
        np.round(bg.asarray(X), 1.5)


def test_closeness(bg: Any) -> None:
    near = X * np.float32(1 + 1e-6)
    for options in ({}, {"rtol": 0, "atol": 1e-7}, {"equal_nan": True}):
        check(bg, lambda x, y, o=options: np.isclose(x, y, **o), GAPS, near)
        check(bg, lambda x, o=options: np.isclose(x, x, **o), SPECIAL)
    check(bg, lambda x: np.isclose(x, np.inf), SPECIAL)
    large = np.array([2**24 + 1, -(2**31), 2**31 - 1], np.int32)
    check(
        bg,
        lambda x, y: np.isclose(x, y, rtol=0, atol=0),
        large,
        large - np.array([1, 0, 0], np.int32),
    )
    check(bg, lambda x, y: np.isclose(x, y), large, large[::-1].copy())
    assert np.allclose(bg.asarray(X), near)
    assert not np.allclose(bg.asarray(GAPS), GAPS)
    assert np.array_equal(bg.asarray(GAPS), GAPS, equal_nan=True)
    assert not np.array_equal(bg.asarray(X), X[1:])


def test_choices(bg: Any) -> None:
    check(bg, lambda i, x, y: np.choose(i % 2, [x, y]), I, X, Y)
    check(bg, lambda i: np.choose(i % 3, [5, 7, 9]), I)
    check(bg, lambda i, x: np.choose(i, [x, 0.5], mode="wrap"), I - 5, X)
    check(bg, lambda i, x: np.choose(i, [x, x + 1], mode="clip"), I - 5, X)
    check(bg, lambda x, y: np.select([x > 1, x > 0], [x, y], default=-1), X, Y)
    check(bg, lambda x: np.select([x > 1, x > 0], [x, 3]), X)
    check(bg, lambda x: np.piecewise(x, [x < 0, x > 1], [-1, lambda v: v * 2, 5]), X)
    check(bg, lambda x: np.piecewise(x, x < 0, [lambda v, n: v * n, 0], 3), X[0])
    a = bg.asarray(X)
    for wrong in (
        lambda: np.choose(bg.asarray(I), [a, a], mode="x"), lambda: np.select([a > 0], []),
        lambda: np.piecewise(a, [a > 0], [1, 2, 3]), lambda: np.choose(bg.asarray(I), []),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()
    with pytest.raises(TypeError):
        np.select([a], [a])


def test_indices(bg: Any) -> None:
    for order in ("C", "F"):
        check(bg, lambda i, o=order: np.unravel_index(i, (3, 4, 5), order=o), I)
        check(
            bg,
            lambda i, j, o=order: np.ravel_multi_index((i % 4, j % 3), (4, 3), order=o),
            I,
            I[::-1],
        )
    check(bg, lambda i: np.ravel_multi_index((2, i % 3), (4, 3)), I)
    check(bg, lambda i: np.ravel_multi_index((i - 5, i), (4, 3), mode=("wrap", "clip")), I)
    check(bg, lambda i: np.argwhere(i > 5), I)
    check(bg, lambda i: np.flatnonzero(i > 5), I)
    check(bg, lambda x, i: np.take_along_axis(x, i % 4, axis=0), X, I)
    check(bg, lambda x, i: np.take_along_axis(x, i[0] % 24, axis=None), X, I)
    assert_same(np.take_along_axis(X, bg.asarray(I % 4), axis=0), np.take_along_axis(X, I % 4, 0))
    check(bg, lambda x: np.searchsorted(x[0], x), np.sort(X))
    expected = by_default(np.searchsorted(np.sort(W), X))
    assert_same(np.searchsorted(np.sort(W), bg.asarray(X)), expected)
    check(bg, lambda x: np.searchsorted(x, 1.0, sorter=np.argsort(W).astype("i4")), W)
    i = bg.asarray(I)
    for wrong in (
        lambda: np.unravel_index(i, (3, 4), order="K"), lambda: np.ravel_multi_index((i,), (3, 4)),
        lambda: np.unravel_index(i, (1 << 16, 1 << 16)),
        lambda: np.ravel_multi_index((i, 9), (3, 4)),
        lambda: np.ravel_multi_index((i, i), (3, 4), mode="x"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()
    with pytest.raises(TypeError, match="integers"):
        np.unravel_index(bg.asarray(X), (3, 4))


def test_diagonals_and_windows(bg: Any) -> None:
    for k in (0, 2, -3):
        check(bg, lambda v, k=k: np.diag(v, k), W)
        check(bg, lambda x, k=k: np.diag(x, k), X)
    check(bg, np.diag, np.array([True, False]))
    windows = np.lib.stride_tricks.sliding_window_view
    check(bg, lambda x: windows(x, (2, 3)), X)
    check(bg, lambda x: windows(x, 4, axis=1), X)
    check(bg, lambda x: windows(x.T, 2, axis=0).sum(axis=-1), X)
    a = bg.asarray(X)
    with pytest.raises(ValueError, match="read-only"):
        windows(a, 2, axis=1)[0] = 0
    for wrong in (
        lambda: windows(a, 6, axis=0), lambda: windows(a, 2), lambda: np.diag(a[None]),
        lambda: windows(a, 2, axis=1, writeable=True),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()


def test_bins(bg: Any) -> None:
    for bins in (np.array([-1, 0, 0.5, 1], np.float32), np.array([1, 0, -1], np.float32)):
        for right in (False, True):
            check(bg, lambda x, b=bins, r=right: np.digitize(x, b, right=r), X)
            check(bg, lambda x, b, r=right: np.digitize(x, b * 1, right=r), X, bins)
    check(bg, lambda i: np.digitize(i, [2, 4, 8]), I)
    with pytest.raises(ValueError, match="monotonic"):
        np.digitize(bg.asarray(X), [0, 2, 1])
    check(bg, np.bincount, V)
    check(bg, lambda v: np.bincount(v, minlength=9), V)
    check(bg, lambda v, w: np.bincount(v, w), V, W)
    check(bg, lambda v: np.bincount(v, minlength=3), np.zeros(0, np.int32))
    check(bg, lambda v: np.bincount(v, minlength=3), V.astype(np.uint8))
    with pytest.raises(ValueError, match="negative"):
        np.bincount(bg.asarray(J[0]))
    with pytest.raises(TypeError, match="integers"):
        np.bincount(bg.asarray(X[0]))
    for options in (
        {"bins": [0, 1, 3, 5]}, {"bins": 4, "range": (0, 3)}, {"bins": 3, "density": True},
    ):  # fmt: skip
        check(bg, lambda v, w, o=options: np.histogram(v, weights=w, **o)[0], V, W)
        check(bg, lambda v, w, o=options: np.histogram(v, weights=w, **o)[0], V, V)
        check(bg, lambda x, o=options: np.histogramdd(x, (4, 2, 3), density=True)[0], X[:, :3])
    check(bg, lambda v, w: np.histogramdd((v, w), [[0, 1, 3, 5], 2])[0], V, W)
    check(bg, lambda v, w: np.histogramdd((v, w), 3, weights=w)[0], V, W)
    found, edges = np.histogramdd(bg.asarray(X[:, :2]), 3, range=((-1, 1), (-2, 2)))
    assert found.shape == (3, 3)
    np.testing.assert_allclose(edges[1], np.linspace(-2, 2, 4))
    for wrong in (
        lambda: np.histogram(bg.asarray(V), [1, 0]), lambda: np.histogram(bg.asarray(V), 0),
        lambda: np.histogram(bg.asarray(V), 2, (3, 1)), lambda: np.histogramdd(bg.asarray(X), [2]),
        lambda: np.histogram(bg.asarray(V), 3, weights=bg.asarray(X)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()


def test_different_elements(bg: Any) -> None:
    numbers = np.array([[3, 1, np.nan], [1, np.nan, -2]], np.float32)
    every = {"return_index": True, "return_inverse": True, "return_counts": True}
    for options in ({}, {"return_counts": True}, every, {"equal_nan": False, **every}):
        for data in (V, numbers, numbers[:0]):
            check(bg, lambda x, o=options: np.unique(x, **o), data)
    check(bg, lambda i: np.isin(i, np.array([1, 5, 7], np.int32)), I)
    check(bg, lambda i: np.isin(i, [1, 5], invert=True), I)
    bg.set_fallback("warn")  # also resets the warnings already given
    with pytest.warns(bg.HostFallbackWarning, match="unique"):
        check(bg, lambda i: np.unique(i % 2, axis=0), I)


def test_quantiles(bg: Any) -> None:
    cube = sample("float32", (3, 4, 5))
    gaps = np.where(cube > 0.7, np.nan, cube).astype(np.float32)
    for axis in (None, 1, (0, 2), [1], (2, 0, 1)):
        for function in (np.median, np.nanmedian):
            check(bg, lambda x, f=function, n=axis: f(x, axis=n), cube, rtol=1e-5)
        check(bg, lambda x, n=axis: np.nanmedian(x, axis=n, keepdims=True), gaps, rtol=1e-5)
        check(bg, lambda x, n=axis: np.quantile(x, [0.2, 0.9], n), cube, rtol=1e-5)
        check(
            bg, lambda x, n=axis: np.nanquantile(x, [0.2, 0.9], n, keepdims=True), gaps, rtol=1e-5
        )
        check(bg, lambda x, n=axis: np.nanpercentile(x, 35, n), gaps, rtol=1e-5)
    for method in ("lower", "higher", "midpoint", "nearest"):
        check(bg, lambda x, m=method: np.nanquantile(x, [0, 0.37, 1], axis=1, method=m), gaps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warns about rows of NaN
        check(bg, lambda x: np.nanmedian(x, axis=1), GAPS, rtol=1e-5)
    check(bg, lambda x: np.nanmedian(x, axis=1), I)
    out = bg.zeros((3, 5))
    assert np.median(bg.asarray(cube), axis=1, out=out) is out
    a = bg.asarray(cube)
    for wrong in (
        lambda: np.nanquantile(a, 1.5), lambda: np.quantile(a, 0.5, weights=cube),
        lambda: np.nanquantile(a, 0.5, method="mean"), lambda: np.median(a, axis=(0, 0)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()


def test_along_lines(bg: Any) -> None:
    cube = sample("float32", (3, 4, 5))
    for axis in (0, 1, 2):
        for call in (np.sum, np.max, lambda r: r * 2, lambda r: r[:2, None] + r[:3], np.cumsum):
            check(bg, lambda x, f=call, n=axis: np.apply_along_axis(f, n, x), cube, rtol=1e-5)
        check(bg, lambda x, n=axis: np.apply_along_axis(lambda r, k: r.mean() + k, n, x, 3), cube)
    check(bg, lambda x: np.apply_along_axis(lambda r: 1, 1, x), X)
    with pytest.raises(TypeError, match="func1d"):
        np.apply_along_axis(lambda r: "text", 0, bg.asarray(X))
    for name in ("nancumsum", "nancumprod"):
        for axis in (None, 0, -1):
            check(bg, lambda x, f=name, n=axis: getattr(np, f)(x, axis=n), GAPS, rtol=1e-5)
        check(bg, getattr(np, name), V)
    check(bg, lambda x: np.average(x, axis=1), X, rtol=1e-5)
    check(bg, lambda x, y: np.average(x, weights=abs(y)), X, Y, rtol=1e-5)
    check(bg, lambda x, w: np.average(x, axis=0, weights=w[:4], returned=True), X, W, rtol=1e-5)
    for start, stop in ((X[0], 3.0), (1, Y[0])):
        check(bg, lambda x, y: np.linspace(x, y, 5, axis=-1), X, Y, rtol=1e-5)
        check(bg, lambda x, s=stop: np.linspace(x, s, 4, endpoint=False), X[0], rtol=1e-5)
        check(bg, lambda x, s=start: np.linspace(x, 9, 7, dtype="i4"), I)
    check(bg, lambda x: np.linspace(x, 1, 4, retstep=True), X[0], rtol=1e-5)


def test_slopes(bg: Any) -> None:
    cube = sample("float32", (3, 4, 5))
    at = np.array([0, 1, 1.5, 4, 5], np.float32)
    for edge_order in (1, 2):
        for arguments in ((), (2.0,), (0.5, 2.0, at)):
            check(
                bg, lambda x, a=arguments, n=edge_order: np.gradient(x, *a, edge_order=n), cube,
                rtol=1e-4,
            )  # fmt: skip
        check(bg, lambda x, n=edge_order: np.gradient(x, at, axis=2, edge_order=n), cube, rtol=1e-4)
        check(
            bg,
            lambda x, t, n=edge_order: np.gradient(x[0, 0], t, edge_order=n),
            cube,
            at,
            rtol=1e-4,
        )
    check(bg, np.gradient, V[:2])
    check(bg, lambda x: np.gradient(x, axis=(2, 0)), cube, rtol=1e-4)
    a = bg.asarray(X)
    for wrong in (
        lambda: np.gradient(a[:1], axis=0), lambda: np.gradient(a, edge_order=3),
        lambda: np.gradient(a, at, axis=0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must"):
            wrong()


def test_transforms(bg: Any) -> None:
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        function = getattr(np.fft, name)
        data = X if name in ("rfft", "ihfft") else Z
        check(bg, function, data, rtol=1e-4)
        check(bg, lambda x, f=function: f(x, 5, 0, "ortho"), data, rtol=1e-4)
    for name in ("fft", "ifft", "rfft", "irfft"):
        for more in ("2", "n"):
            function = getattr(np.fft, name + more)
            data = X if name == "rfft" else Z
            check(bg, function, data, rtol=1e-4)
            check(
                bg,
                lambda x, f=function: f(x, s=(4, 3), axes=(1, 0), norm="forward"),
                data,
                rtol=1e-4,
            )
    for shift in (np.fft.fftshift, np.fft.ifftshift):
        check(bg, shift, X)
        check(bg, lambda x, f=shift: f(x, axes=1), X)
    out = bg.zeros((4, 6), dtype="complex64")
    assert np.fft.fft(bg.asarray(X), out=out) is out


def test_swapped_axes(bg: Any) -> None:
    for axes in ((1, 1), (-1, 1), (0, -1)):
        check(bg, lambda x, n=axes: np.swapaxes(x, *n), X)
    with pytest.raises(ValueError, match="axis2"):
        bg.asarray(X).swapaxes(0, 2)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [6, (2, 3), [3, 2], (-1, 2), (1, 2, 3)])
def test_reshape_in_an_order(bg: Any, shape: Any, order: str) -> None:
    for x in (np.arange(6), np.arange(6).reshape(3, 2), np.arange(6).reshape(1, 2, 3)):
        expected = x.reshape(shape, order=order)
        assert_same(bg.asarray(x).reshape(shape, order=order), expected, "the method")
        assert_same(bg.reshape(bg.asarray(x), shape, order=order), expected, "the function")
        ravelled = bg.asarray(x).ravel(order)
        assert_same(ravelled, x.ravel(order), "ravel")


@pytest.mark.parametrize(
    "given",
    [
        (np.int64(3000),), (np.uint8(200),), (np.uint32(5),), (np.array(9),),
        (np.uint8(3), np.uint8(200), np.uint8(100)), (0, 1691, np.array(16)), (np.int8(-5), 100, 7),
        (np.array(1), np.int32(9)),
    ],
    ids=str,
)  # fmt: skip
def test_arange_of_numpys_integers(bg: Any, given: tuple[Any, ...]) -> None:
    found = bg.arange(*given)
    assert all(type(extent) is int for extent in found.shape)
    assert_same(found * 1, np.arange(*given, dtype=np.int64), "arange")


@pytest.mark.parametrize("sequence", [[1, 2], (1, 2), range(1, 3)], ids=str)
def test_sequences_beside_arrays(bg: Any, sequence: Any) -> None:
    square = np.arange(4, dtype=np.float32).reshape(2, 2)
    for x in (square, np.arange(2, dtype=np.int64), square[0].copy()):
        a = bg.asarray(x)
        for name in ("add", "sub", "mul", "floordiv", "eq", "ne", "lt"):
            op = getattr(operator, name)
            assert_same(op(a, sequence), op(x, sequence), f"{name} of {x.dtype} and {sequence}")
            assert_same(op(sequence, a), op(sequence, x), f"{name} of {sequence} and {x.dtype}")
        a += sequence
        assert_same(a, x + sequence, "in place")
    if not isinstance(sequence, range):
        assert_same(bg.asarray(square) @ sequence, (square @ sequence).astype(np.float32), "@")
        assert_same(sequence @ bg.asarray(square), (sequence @ square).astype(np.float32), "@")
    weights = bg.asarray(square)
    weights.requires_grad = True
    assert_same((weights * sequence).detach(), (square * sequence).astype(np.float32), "a variable")
    assert_same(weights == sequence, square == sequence, "a variable")


def test_an_element_repeats_a_sequence(bg: Any) -> None:
    count = bg.max(bg.arange(4))
    assert [0] * count == [0, 0, 0]
    assert count * (1, None) == (1, None) * 3
    assert_same(bg.asarray(2.5) * [1, 2], np.float32([2.5, 5]), "a float multiplies")


@pytest.mark.parametrize("other", [None, "a", b"a"])
def test_no_element_equals_none_or_a_string(bg: Any, other: Any) -> None:
    for x in (bg.arange(3), bg.ones((2, 2))):
        assert_same(x == other, np.zeros(x.shape, bool), "equal")
        assert_same(x != other, np.ones(x.shape, bool), "not equal")
    weights = bg.ones(3)
    weights.requires_grad = True
    assert_same(weights == other, np.zeros(3, bool), "a variable")
