"""NumPy's functions for padding, bits, polynomials, shapes and memory, against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import assert_same, sample

X = sample("float32", (3, 4))
WHOLE = sample("int32", (3, 4))
BYTES = sample("uint8", (3, 5))
COMPLEX = sample("complex64", (3, 4))

Call = Callable[..., Any]


def check(bg: Any, call: Call, *data: Any, dtype: bool = True, rtol: float = 2e-6) -> None:
    """Assert that a call gives the same results, or tuples, for GPU arrays and NumPy arrays."""
    found = call(*(bg.asarray(x) for x in data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = call(*data)
    if not isinstance(expected, tuple | list):
        found, expected = (found,), (expected,)
    assert len(found) == len(expected)
    for got, known in zip(found, expected, strict=True):
        assert isinstance(got, bg.Array), "on the GPU"
        known = np.asarray(known)
        assert got.dtype == known.dtype if dtype else got.dtype.kind == known.dtype.kind
        assert_same(got, known.astype(got.dtype), rtol=rtol)


WIDTHS = [2, (1, 3), ((0, 2), (5, 1)), ((9, 0), (0, 14)), 0]
MODES = [
    ("constant", {}), ("constant", {"constant_values": 7}),
    ("constant", {"constant_values": ((1, 2), (3, 4))}), ("edge", {}),
    ("linear_ramp", {}), ("linear_ramp", {"end_values": (5, -3)}), ("maximum", {}),
    ("minimum", {"stat_length": 2}), ("mean", {}), ("mean", {"stat_length": ((1, 2), (3, 9))}),
    ("median", {}), ("median", {"stat_length": 2}), ("reflect", {}), ("symmetric", {}),
    ("reflect", {"reflect_type": "odd"}), ("symmetric", {"reflect_type": "odd"}), ("wrap", {}),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "options"), MODES, ids=str)
def test_modes_of_pad(bg: Any, mode: str, options: dict[str, Any]) -> None:
    for data in (X, WHOLE) if mode != "linear_ramp" else (X,):
        for width in WIDTHS:
            check(bg, lambda x, w=width: np.pad(x, w, mode, **options), data, rtol=1e-4)


def test_ramps_of_integers_are_exact(bg: Any) -> None:
    """NumPy computes ramps in float64, where rounding may give the integer below."""
    for end in (0, -40, 33):
        for count in (1, 7, 14, 49):
            found = np.pad(bg.asarray(WHOLE[0]), count, "linear_ramp", end_values=end).tolist()
            first, last = int(WHOLE[0, 0]), int(WHOLE[0, -1])
            assert found[:count] == [end + (first - end) * n // count for n in range(count)]
            assert found[: -count - 1 : -1] == [
                end + (last - end) * n // count for n in range(count)
            ]


def test_pad_of_other_dtypes_and_shapes(bg: Any) -> None:
    for dtype in ("bool", "uint8", "int16", "float16", "complex64"):
        x = sample(dtype, (2, 3, 2))
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
            check(bg, lambda x, m=mode: np.pad(x, ((1, 0), (0, 4), (2, 2)), m), x)
    for mode in ("linear_ramp", "mean"):
        check(bg, lambda x, m=mode: np.pad(x, 3, m), COMPLEX, rtol=1e-5)
    one = np.float32([[3], [4]])
    for kind in ("even", "odd"):
        for mode in ("reflect", "symmetric"):
            check(bg, lambda x, m=mode, k=kind: np.pad(x, 3, m, reflect_type=k), one)
    check(bg, lambda x: np.pad(x, 2), np.zeros((0, 3), np.float32))
    assert np.pad(bg.asarray(X), (1, 2), "empty").shape == (6, 7)
    shape = np.pad(bg.asarray(X), {0: (3, 1), -1: 2}).shape
    assert shape == (7, 8)


def test_pad_with_arrays_and_functions(bg: Any) -> None:
    check(bg, lambda x: np.pad(x, 1, constant_values=x.max()), X)

    def fill(vector: Any, width: Any, axis: int, options: Any) -> None:
        vector[: width[0]] = options["number"] + axis
        vector[vector.shape[0] - width[1] :] = 5

    check(bg, lambda x: np.pad(x, (2, 1), fill, number=8), X)


def test_pad_refuses(bg: Any) -> None:
    x, whole = bg.asarray(X), bg.asarray(BYTES)
    for call in (
        lambda: np.pad(x, 1, "edges"),
        lambda: np.pad(x, 1, "edge", constant_values=3),
        lambda: np.pad(x, -1),
        lambda: np.pad(x, ((1, 2, 3),)),
        lambda: np.pad(x, 1, "reflect", reflect_type="other"),
        lambda: np.pad(x, 1, "maximum", stat_length=0),
        lambda: np.pad(x[:0], 1, "edge"),
        lambda: np.pad(whole, 1, constant_values=300),
        lambda: np.pad(whole, 1, "linear_ramp", end_values=0.5),
        lambda: np.pad(whole > 3, 1, "reflect", reflect_type="odd"),
    ):
        with pytest.raises(ValueError, match=r"^pad: "):
            call()


def test_gradients_of_pad(bg: Any) -> None:
    weights = sample("float32", (8, 9), 1)
    for mode, options in MODES:
        if mode in ("median", "maximum", "minimum"):
            continue  # these depend on few elements

        def loss(x: Any, m: str = mode, o: Any = options) -> Any:
            return (np.pad(x, ((2, 3), (4, 1)), m, **o) * bg.asarray(weights)).sum()

        found = bg.grad(loss)(bg.asarray(X)).numpy()
        for place in np.ndindex(X.shape):
            unit = np.zeros(X.shape)
            unit[place] = 1.0
            ends = [
                (np.pad(X + by * unit, ((2, 3), (4, 1)), mode, **options) * weights).sum()
                for by in (0.5, -0.5)
            ]
            assert np.isclose(found[place], ends[0] - ends[1], rtol=1e-4, atol=1e-4), (mode, place)


def test_trim_zeros(bg: Any) -> None:
    v = np.int32([0, 0, 3, 0, 5, 0])
    for trim in ("fb", "f", "b", "BF"):
        check(bg, lambda x, t=trim: np.trim_zeros(x, t), v)
        check(bg, lambda x, t=trim: np.trim_zeros(x, t), np.zeros(3, np.float32))
    found = np.trim_zeros(bg.asarray(np.pad(X, ((1, 2), (0, 3)))))
    assert_same(found, X)
    with pytest.raises(ValueError, match="trim_zeros: trim must be"):
        np.trim_zeros(bg.asarray(v), "x")


def test_bits(bg: Any) -> None:
    for order in ("big", "little"):
        for axis in (None, 0, 1, -1):
            check(bg, lambda x, a=axis, o=order: np.packbits(x, a, o), WHOLE > 0)
            check(bg, lambda x, a=axis, o=order: np.packbits(x, axis=a, bitorder=o), WHOLE % 3)
            for count in (None, 0, 3, 30, -3):
                check(
                    bg,
                    lambda x, a=axis, o=order, c=count: np.unpackbits(x, a, c, bitorder=o),
                    BYTES,
                )
    for dtype in ("int8", "int16", "int32", "uint8", "uint16", "uint32"):
        limits = np.iinfo(dtype)
        check(bg, np.bitwise_count, sample(dtype, 20))
        check(bg, np.bitwise_count, np.array([limits.min, limits.max, 0, 1], dtype))
    for call in (
        lambda: np.packbits(bg.asarray(X)),
        lambda: np.unpackbits(bg.asarray(WHOLE)),
        lambda: np.packbits(bg.asarray(WHOLE), bitorder="middle"),
        lambda: np.bitwise_count(bg.asarray(X)),
    ):
        with pytest.raises(ValueError, match=r"bits: |bitwise_count: "):
            call()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_divisors_and_multiples(bg: Any, dtype: str) -> None:
    limits = np.iinfo(dtype)
    a, b = sample(dtype, (5, 7)), sample(dtype, 7, 1)
    # Neighbouring Fibonacci numbers need the most steps.
    before, last = 1, 1
    while before + last <= limits.max:
        before, last = last, before + last
    edges = np.array([0, 0, last, limits.max, 12, limits.min, 6], dtype)
    others = np.array([0, 5, before, last, limits.max, 4, 9], dtype)
    check(bg, np.gcd, a, b)
    check(bg, np.gcd, edges, others)
    check(bg, np.lcm, a[:, :6] % 11, b[:6] % 11)
    check(bg, lambda x: np.gcd(x, 12), a)
    check(bg, lambda x: np.lcm(6, x % 7), a)
    with pytest.raises(TypeError, match="gcd: x2 must be"):
        np.gcd(bg.asarray(a), 1.5)


def test_polynomials(bg: Any) -> None:
    p, q = X[0], X[1, :2]
    for call in (np.polyadd, np.polysub):
        check(bg, call, p, q)
        check(bg, call, q, p)
        check(bg, lambda x, c=call: c(x, [1, 2, 3, 4, 5]), WHOLE[0], dtype=False)
        check(bg, lambda x, c=call: c(2, x), p, dtype=False)
    for m in (0, 1, 2, 6):
        check(bg, lambda x, m=m: np.polyder(x, m), p, dtype=False)
        check(bg, lambda x, m=m: np.polyder(x, m), WHOLE[0], dtype=False)
        check(bg, lambda x, m=m: np.polyint(x, m), p, dtype=False, rtol=1e-5)
        check(bg, lambda x, m=m: np.polyint(x, m, 3), p, dtype=False, rtol=1e-5)
    check(bg, lambda x: np.polyint(x, 2, [4, 5]), WHOLE[0], dtype=False, rtol=1e-5)
    for wrong in (
        lambda: np.polyadd(bg.asarray(X), [1]),
        lambda: np.polyder(bg.asarray(p), -1),
        lambda: np.polyint(bg.asarray(p), 3, [1, 2]),
    ):
        with pytest.raises(ValueError, match=r"^poly"):
            wrong()


def test_axes_triangles_and_memory(bg: Any) -> None:
    whole = sample("float32", (2, 3, 4))
    check(bg, lambda x: np.apply_over_axes(np.sum, x, [0, -1]), whole, rtol=1e-5)
    check(bg, lambda x: np.apply_over_axes(lambda a, axis: a * (axis + 1), x, [0, 2]), whole)
    for k in (0, 1, -2):
        check(bg, lambda x, k=k: np.tril_indices_from(x, k), X, dtype=False)
        check(bg, lambda x, k=k: np.triu_indices_from(x, k=k), X, dtype=False)
    check(bg, np.diag_indices_from, X[:, :3], dtype=False)
    check(bg, np.real_if_close, COMPLEX)
    check(bg, np.real_if_close, X)
    check(bg, np.real_if_close, COMPLEX.real + np.complex64(1e-9j))
    check(bg, lambda x: np.real_if_close(x, tol=1e-12), COMPLEX.real + np.complex64(1e-9j))
    x = bg.asarray(X) + 1
    pairs = [(x, x[1:]), (x[0], x[1]), (x.T, x[:, 0]), (x, x + 1), (x, bg.asarray(X)), (x, x[:0])]
    known = [(X, X[1:]), (X[0], X[1]), (X.T, X[:, 0]), (X, X + 1), (X, X.copy()), (X, X[:0])]
    for (a, b), (own, other) in zip(pairs, known, strict=True):
        assert np.may_share_memory(a, b) == np.may_share_memory(own, other)
    assert np.may_share_memory(x, x)
    assert not np.may_share_memory(x, X)


def test_steps_and_products(bg: Any) -> None:
    special = np.float32([-np.inf, -2, -0.0, 0, 1e-20, 3, np.inf, np.nan])
    check(bg, np.heaviside, special, np.full(8, 0.5, np.float32))
    check(bg, lambda x: np.heaviside(x, 0.25), special)
    check(bg, lambda x: np.heaviside(x, np.nan), special)
    check(bg, lambda x: np.heaviside(0, x), special)
    check(bg, lambda x: np.heaviside(x, 1), WHOLE, dtype=False)
    if not hasattr(np, "matvec"):
        return
    stack = sample("float32", (5, 3, 4))
    check(bg, np.matvec, stack, X[0], rtol=1e-5)
    check(bg, np.vecmat, X[:, 0], stack, rtol=1e-5)
    check(bg, np.vecmat, COMPLEX[:, 0], COMPLEX, rtol=1e-5)
    with pytest.raises(ValueError, match="matvec: x1 must be"):
        np.matvec(bg.asarray(X[0]), bg.asarray(X[0]))


def test_columns_in_memory(bg: Any) -> None:
    for call in (
        lambda np: np.array(X, order="F"), lambda np: np.asarray(X.tolist(), order="F"),
        lambda np: np.zeros((3, 4), order="F"), lambda np: np.asfortranarray(X),
        lambda np: np.full((3, 4), 7, order="F"), lambda np: np.eye(3, 4, order="F"),
        lambda np: np.ones((2, 3), "int32", "F"),
    ):  # fmt: skip
        ours, theirs = call(bg), call(np)
        assert_same(ours, theirs.astype(ours.dtype))
        assert ours.flags.f_contiguous
        assert not ours.flags.c_contiguous
        ours[0] = 5
        assert ours.numpy()[0].tolist() == [5] * theirs.shape[1]
        assert ours.ravel(order="F").numpy()[0] == 5
