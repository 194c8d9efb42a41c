"""NumPy's functions of 64-bit integers, against NumPy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import by_default

pytestmark = [pytest.mark.native]

_BIG = 2**33
_NUMBERS = [0, 1, 2, 7, 10, 15, 100, 2**31, 2**32 + 5, 2**53 + 1, 2**62 + 12345, 2**63 - 1]
SIGNED = np.array([*_NUMBERS, *(-x for x in _NUMBERS[1:]), -(2**63)], np.int64)
UNSIGNED = np.array([*_NUMBERS, 2**63, 2**63 + 1, 2**64 - 6, 2**64 - 1], np.uint64)
SHUFFLED = {x.dtype.name: np.random.default_rng(5).permutation(x) for x in (SIGNED, UNSIGNED)}


@pytest.fixture(params=sorted(SHUFFLED))
def x(request: pytest.FixtureRequest) -> np.ndarray:
    return SHUFFLED[request.param]


def check(bg: Any, call: Callable[..., Any], *arrays: np.ndarray, indices: bool = False) -> None:
    """Compare a call's results for arrays on the GPU and on the host, integers bit for bit.

    With ``indices``, results are indices or counts: int64 here, even if NumPy's have 32 bits.
    """
    with np.errstate(all="ignore"):
        expected = call(*arrays)
    found = call(*(bg.asarray(one) for one in arrays))
    if not isinstance(expected, tuple | list):
        expected, found = (expected,), (found,)
    assert len(found) == len(expected)
    for got, known in zip(found, expected, strict=True):
        exact = by_default(known) if indices else np.asarray(known)
        own = got.numpy() if isinstance(got, bg.Array) else np.asarray(got)
        if exact.dtype.kind in "fc":
            np.testing.assert_allclose(own, exact, rtol=1e-5)
            continue
        assert own.dtype == exact.dtype
        np.testing.assert_array_equal(own, exact)


def test_bits_and_divisors(bg: Any, x: np.ndarray) -> None:
    check(bg, np.bitwise_count, x)
    check(bg, np.packbits, x)
    pairs = x[:8, None], x[None, 8:14]
    check(bg, np.gcd, *pairs)
    check(bg, np.lcm, *pairs)
    # Neighbouring Fibonacci numbers need the most steps.
    numbers = np.array([[7540113804746346429], [4660046610375530309]], x.dtype)
    check(bg, np.gcd, *numbers)
    check(bg, np.gcd, np.int32([-(2**31)]), np.uint32([2**31]))
    with pytest.raises(TypeError, match="common integer type"):
        np.gcd(bg.asarray(SIGNED[:3]), bg.asarray(UNSIGNED[:3]))


def test_rounding(bg: Any, x: np.ndarray) -> None:
    for call in (np.floor, np.ceil, np.trunc, np.fix, np.nan_to_num, np.real, np.imag, np.conj):
        check(bg, call, x)
    large = 10**18 + 5 * 10**17
    numbers = np.array([15, 25, 35, 150, 250, 12345678901234, large], x.dtype)
    for zeros, expected in (
        (1, [20, 20, 40, 150, 250, 12345678901230, large]),
        (2, [0, 0, 0, 200, 200, 12345678901200, large]),
        (18, [0, 0, 0, 0, 0, 0, 2 * 10**18]),
        (25, [0] * 7),
    ):
        assert np.round(bg.asarray(numbers), -zeros).tolist() == expected
    check(bg, lambda a: np.round(a, 2), x)


def test_closeness(bg: Any, x: np.ndarray) -> None:
    step = x.dtype.type(2**32)  # a difference that 32 bits cannot show
    a, small = bg.asarray(x), bg.asarray(x[np.abs(x.astype("f8")) < 1000])
    assert not np.isclose(small, small + step).numpy().any()
    check(bg, lambda a: np.isclose(a, a + x.dtype.type(1)), x[x < 2**62])
    assert np.array_equal(a, bg.asarray(x))
    assert not np.array_equal(a, a ^ step)
    found = np.ldexp(bg.ones(3), bg.asarray(np.array([3, 2**40, -(2**40)], np.int64)))
    assert found.tolist() == [8.0, np.inf, 0.0]


def test_choices(bg: Any, x: np.ndarray) -> None:
    kind = x.dtype.type
    check(bg, lambda a: np.select([a > 2**40, a < 7], [a, a * kind(2)], kind(0)), x)
    check(bg, lambda a: np.piecewise(a, [a > 5, a <= 5], [1, lambda v: v]), x)
    check(bg, lambda a: np.clip(a, kind(3), kind(2**40)), x)
    where = np.array([0, 2, 1])
    parts = [x[:3], x[3:6], x[6:9]]
    ours = [bg.asarray(part) for part in parts]
    key = bg.asarray(where.astype(x.dtype))
    np.testing.assert_array_equal(np.choose(key, ours).numpy(), np.choose(where, parts))
    far = np.array([2**40, 2**40 + 2, 5], x.dtype)
    for mode, near in (("wrap", far % kind(3)), ("clip", np.minimum(far, kind(2)))):
        found = np.choose(bg.asarray(far), ours, mode=mode).numpy()
        np.testing.assert_array_equal(found, np.choose(near.astype("i4"), parts))


def test_bins(bg: Any, x: np.ndarray) -> None:
    edges = np.sort(x)[::3].copy()
    for right in (False, True):
        check(bg, lambda a, right=right: np.digitize(a, edges, right=right), x, indices=True)
        check(bg, lambda a, b, right=right: np.digitize(a, b, right=right), x, edges, indices=True)
    few = np.array([1, 2, 2, 9])
    a, shares = bg.asarray(few.astype(x.dtype)), np.float32([1, 2, 3, 4])
    np.testing.assert_array_equal(np.bincount(a).numpy(), np.bincount(few))
    weighted = np.bincount(a, weights=bg.asarray(shares)).numpy()
    np.testing.assert_array_equal(weighted, np.bincount(few, shares))
    spread = np.array([1, 2, 2, 9, 2**40], x.dtype)
    for bins in ([0, 2, 5, 2**39, 2**41], 10):
        check(bg, lambda a, bins=bins: np.histogram(a, bins)[0], spread, indices=True)
    with pytest.raises(ValueError, match="negative"):
        np.bincount(bg.asarray(np.array([2**32 - 1, -1], np.int64)))
    found = np.unravel_index(bg.asarray(np.array([5, 119, 0], np.int64)), (4, 5, 6))
    for got, known in zip(found, np.unravel_index([5, 119, 0], (4, 5, 6)), strict=True):
        np.testing.assert_array_equal(got.numpy(), known)
    ends = [bg.asarray(np.array(one, np.int64)) for one in ([1, 2**40 + 1], [14, 0])]
    assert np.ravel_multi_index(ends, (4, 5), mode="wrap").tolist() == [9, 5]


def test_orders(bg: Any, x: np.ndarray) -> None:
    rows = x[:12].reshape(3, 4)
    check(bg, lambda a: np.sort(a, axis=0), rows)
    check(bg, lambda a: np.argsort(a, axis=1, kind="stable"), rows, indices=True)
    check(bg, lambda a: np.partition(a, 3)[3], x)
    check(bg, np.median, x)
    check(bg, lambda a: np.percentile(a, 30), x)
    check(bg, lambda a: np.quantile(a, 0.25, axis=1), rows)
    check(bg, lambda a: np.isin(a, a[:5]), x)
    check(bg, lambda a: np.isin(a, [1, 7, 2**53 + 1]), x)
    twice = np.tile(x, 2)
    for got, known in zip(bg.unique_all(bg.asarray(twice)), np.unique_all(twice), strict=True):
        np.testing.assert_array_equal(got.numpy(), known)
    ordered = np.sort(x)
    for side in ("left", "right"):
        for number in (2.5, 7.0, -1e30, 1e30, np.nan, np.float64(2**53 + 2)):
            found = bg.searchsorted(bg.asarray(ordered), number, side=side)
            assert int(found) == np.searchsorted(ordered, number, side=side)
    for one, other in ((SIGNED, UNSIGNED), (UNSIGNED, SIGNED)):
        found = bg.searchsorted(bg.asarray(np.sort(one)), bg.asarray(other))
        assert found.tolist() == [bisect_left(sorted(one.tolist()), n) for n in other.tolist()]


def test_wider(bg: Any, x: np.ndarray) -> None:
    kind, own = x.dtype.type, x[:6]
    for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum"):
        check(bg, lambda a, mode=mode: np.pad(a, 3, mode), own)
    check(bg, lambda a: np.pad(a, 2, constant_values=2**40 + 1), own)
    small = np.array([0, 1, 2, 7, 10, 15], x.dtype) * kind(_BIG)
    check(bg, lambda a: np.pad(a, 3, "reflect", reflect_type="odd"), small + small[-1])
    for mode in ("mean", "median", "linear_ramp"):
        for part in (small, small[:5], small + kind(1)):
            check(bg, lambda a, mode=mode: np.pad(a, 3, mode), part)
    limits = np.iinfo(x.dtype)
    apart = 2**64 - 1
    line = bg.asarray(np.array([limits.max, limits.min], x.dtype))
    ramp = np.pad(line, 4, "linear_ramp", end_values=(limits.min, limits.max)).tolist()
    assert ramp[:5] == [limits.min + apart * n // 4 for n in range(5)]
    assert ramp[5:] == [limits.max - -(-apart * n // 4) for n in (4, 3, 2, 1, 0)]


def test_products(bg: Any, x: np.ndarray) -> None:
    check(bg, lambda a: np.linalg.matrix_power(a, 3), x[:9].reshape(3, 3))
    check(bg, lambda a: np.linalg.matrix_power(a, 0), x[:4].reshape(2, 2))
    check(bg, np.cross, x[:3], x[3:6])
    check(bg, lambda a, b: np.tensordot(a, b, 1), x[:6].reshape(2, 3), x[6:12].reshape(3, 2))
    check(bg, np.outer, x[:3], x[3:6])
    check(bg, lambda a: np.diff(a, n=2), x)
    check(bg, np.trace, x[:9].reshape(3, 3))
