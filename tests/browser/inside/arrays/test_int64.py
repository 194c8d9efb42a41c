"""64-bit integers, bit for bit as in NumPy."""

from __future__ import annotations

import array
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.arrays.data import assert_same

pytestmark = [pytest.mark.native, pytest.mark.firefox]

_EDGES = [0, 1, 2, 3, 7, *(2**n + by for n in (31, 32, 53) for by in (-1, 0, 1)), 2**62 + 12345]
_SIGNED = np.array([*_EDGES, 2**63 - 1, *(-x for x in _EDGES), 1 - 2**63, -(2**63)], np.int64)
_UNSIGNED = np.array(
    [*_EDGES, 2**63, 2**63 + 1, 2**64 - 2**40 + 1, 2**64 - 6, 2**64 - 1], np.uint64
)
NUMBERS = {"int64": _SIGNED, "uint64": _UNSIGNED}
OTHERS = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32")


@pytest.fixture(params=sorted(NUMBERS))
def x(request: pytest.FixtureRequest) -> np.ndarray:
    return NUMBERS[request.param]


@pytest.mark.parametrize("op", [
    "add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum",
    "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal",
])  # fmt: skip
def test_operations_on_two(bg: Any, x: np.ndarray, op: str) -> None:
    a = bg.asarray(x)
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(x[:, None], x[None, :])
    assert_same(getattr(bg, op)(a[:, None], a[None, :]), expected, op)


_WORDS = {
    name: st.one_of(
        st.integers(low, low + 2**64 - 1),
        st.sampled_from([int(x) for x in NUMBERS[name]]),
        st.integers(max(low, -5), 5),
    )
    for name, low in (("int64", -(2**63)), ("uint64", 0))
}


@pytest.mark.parametrize("dtype", sorted(_WORDS))
@given(data=st.data())
def test_random_numbers(bg: Any, dtype: str, data: st.DataObject) -> None:
    x, y = (
        np.array(data.draw(st.lists(_WORDS[dtype], min_size=9, max_size=9)), dtype) for _ in "xy"
    )
    by = y % np.array(64, dtype)
    a, b, shifts = (bg.asarray(one) for one in (x, y, by))
    with np.errstate(all="ignore"):
        for got, expected in (
            (a + b, x + y), (a - b, x - y), (a * b, x * y), (a // b, x // y), (a % b, x % y),
            (a << shifts, x << by), (a >> shifts, x >> by), (a**shifts, x**by), (a & b, x & y),
            (a ^ ~b, x ^ ~y), (a < b, x < y), (bg.abs(a), np.abs(x)),
            (a.astype("float32"), x.astype("float32")), (bg.sort(a), np.sort(x)),
            (bg.sum(a), x.sum()), (bg.prod(a), x.prod()), (bg.max(a), x.max()),
        ):  # fmt: skip
            assert_same(got, expected)


def test_division_rounds_down_and_by_zero_gives_zero(bg: Any) -> None:
    least = -(2**63)
    x = np.array([7, -7, 7, -7, 5, -5, least, least, least, 0], np.int64)
    y = np.array([2, 2, -2, -2, 0, 0, -1, 1, 0, -3], np.int64)
    quotient, rest = divmod(bg.asarray(x), bg.asarray(y))
    assert quotient.tolist() == [3, -4, -4, 3, 0, 0, least, least, 0, 0]
    assert rest.tolist() == [1, 1, -1, -1, 0, 0, 0, 0, 0, 0]
    with np.errstate(all="ignore"):
        assert_same(np.fmod(bg.asarray(x), bg.asarray(y)), np.fmod(x, y))
    assert float((bg.asarray(x) / 2)[0]) == 3.5


def test_int64_beside_uint64(bg: Any) -> None:
    signed, unsigned = _SIGNED[:, None], _UNSIGNED[None, :]
    a, b = bg.asarray(signed), bg.asarray(unsigned)
    for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        assert_same(getattr(bg, op)(a, b), getattr(np, op)(signed, unsigned), op)
        assert_same(getattr(bg, op)(b, a), getattr(np, op)(unsigned, signed), op)
    # NumPy promotes to float64, so set_x64 decides the result.
    calls: tuple[Callable[[], Any], ...] = (
        lambda: a + b, lambda: a * np.uint64(3), lambda: bg.where(a > b, a, b),
        lambda: bg.concat([a[:, 0], b[0]]), lambda: b.T @ a[:1].T,
    )  # fmt: skip
    before = bg.set_x64("raise")
    try:
        for call in calls:
            with pytest.raises(TypeError, match="float32"):
                call()
        bg.set_x64("demote")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert [call().dtype for call in calls] == [np.float32] * 5
        assert len(caught) == 1
    finally:
        bg.set_x64(before)


def test_comparisons_with_numbers(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    numbers = (2.5, -0.5, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, np.inf, -np.inf, np.nan)
    for number in (*numbers, np.float64(2**53 + 2), np.float32(3), 2**53 + 1, 2**64, -1, -(2**70)):
        for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            assert_same(getattr(bg, op)(a, number), getattr(np, op)(x, number), f"{op} {number}")
        assert_same(number < a, np.greater(x, number), f"{number} <")


def test_arrival(bg: Any) -> None:
    big = 2**40
    for value in (
        np.array([big, 1]), np.int64(big), [np.int64(big), np.int64(1)], [np.array([big])],
        array.array("q", [big]), np.array([2**63], np.uint64),
    ):  # fmt: skip
        wide = np.asarray(value)
        assert_same(bg.asarray(value), wide.astype("u8" if wide.dtype == np.uint64 else "i8"))
    assert bg.asarray([1, 2]).dtype == bg.asarray(range(2)).dtype == bg.asarray(3).dtype == np.int64
    assert_same(bg.asarray([big, 1]), np.array([big, 1], np.int64))
    assert_same(bg.asarray([2**63]), np.array([2**63], np.uint64))
    for value in ([big], np.array([big])):
        with pytest.raises(ValueError, match="int32"):
            bg.asarray(value, dtype="int32")
    with pytest.raises(ValueError, match="uint64"):
        bg.asarray(np.array([-1], np.int64), dtype="uint64")
    a = bg.asarray(np.array([1, 2], np.int64))
    assert_same(a.__add__([big, 1]), np.array([big + 1, 3]))
    a[:] = [big, big + 1]
    assert a.tolist() == [big, big + 1]
    with pytest.raises(ValueError, match="int8"):
        bg.zeros(2, dtype="int8")[:] = [1, 300]
    assert_same(bg.asarray([big, 2**63 - 1], dtype="int64"), np.array([big, 2**63 - 1]))


def test_making_arrays(bg: Any) -> None:
    big = 2**40
    assert_same(bg.full(3, big, dtype="int64"), np.full(3, big, np.int64))
    assert_same(bg.full(3, np.uint64(2**63)), np.full(3, 2**63, np.uint64))
    assert_same(bg.arange(big, big + 9, 4, dtype="int64"), np.arange(big, big + 9, 4, np.int64))
    assert_same(bg.arange(np.int64(3)), np.arange(3, dtype=np.int64))
    least = -(2**63)
    assert_same(
        bg.arange(least, 2**63 - 1, 2**62, dtype="int64"),
        least + np.arange(4, dtype=np.int64) * 2**62,
    )
    assert_same(bg.eye(3, k=1, dtype="uint64"), np.eye(3, k=1, dtype=np.uint64))
    for call in (lambda: bg.full(2, 2**63), lambda: bg.full(2, -1, dtype="uint64")):
        with pytest.raises(OverflowError):
            call()


def test_operations_on_one(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    for op in ("negative", "abs", "sign", "square", "bitwise_invert", "isnan", "logical_not"):
        with np.errstate(all="ignore"):
            assert_same(getattr(bg, op)(a), getattr(np, op)(x), op)


def test_shifts_and_powers(bg: Any, x: np.ndarray) -> None:
    by = np.array([0, 1, 5, 31, 32, 33, 63], x.dtype)
    a, b = bg.asarray(x)[:, None], bg.asarray(by)
    assert_same(a << b, x[:, None] << by)
    assert_same(a >> b, x[:, None] >> by)
    assert_same(a**b, x[:, None] ** by)
    assert_same(a**3, x[:, None] ** x.dtype.type(3))
    for number in (-1, np.int64(-2)):
        for base in (a, bg.asarray([1, 2])):
            if base.dtype != np.uint64 or type(number) is int:
                with pytest.raises((ValueError, OverflowError)):
                    base**number


def test_changes_of_type(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    for name in OTHERS:
        with np.errstate(all="ignore"):
            assert_same(a.astype(name), x.astype(name), name)
        small = np.arange(5).astype(name)
        assert_same(bg.asarray(small).astype(x.dtype), small.astype(x.dtype), name)
    floats = np.array([1.75, 2.0**40, 3e9, 2.0**62, 0.5, -0.0], np.float32)
    assert_same(bg.asarray(floats).astype(x.dtype), floats.astype(x.dtype))
    outside = bg.asarray([-np.inf, -1e30, np.nan, 1e30, np.inf]).astype(x.dtype).tolist()
    limits = np.iinfo(x.dtype)
    assert outside == [limits.min, limits.min, 0, limits.max, limits.max]
    other = np.dtype("u8" if x.dtype.kind == "i" else "i8")
    assert_same(a.astype(other), x.astype(other))
    assert_same(a.view(other), x.view(other))
    a.view(other)[1:3] = 5
    assert a[1:4].tolist() == [5, 5, int(x[3])]
    for name in ("int32", "uint32", "uint8"):
        assert_same(bg.asarray(x).view(name), x.view(name))
    with pytest.raises(TypeError, match="astype"):
        a.view("float64")


def test_promotion(bg: Any, x: np.ndarray) -> None:
    for name in OTHERS:
        y = np.arange(5).astype(name)
        expected = x[:5] + y
        assert_same(bg.asarray(x[:5]) + bg.asarray(y), expected, name)
    one, other = np.array([2**31 - 1, -5], np.int32), np.array([2**32 - 1, 7], np.uint32)
    assert_same(bg.asarray(one) + bg.asarray(other), one + other)
    assert_same(bg.asarray(one) < bg.asarray(other), one < other)
    with pytest.raises(OverflowError):
        bg.asarray(x) + 2**70


def test_reductions(bg: Any, x: np.ndarray) -> None:
    rows = x[-20:].reshape(4, 5)
    a = bg.asarray(rows)
    for axis in (None, 0, 1):
        for op in ("sum", "prod", "min", "max", "any", "all"):
            assert_same(getattr(bg, op)(a, axis=axis), getattr(np, op)(rows, axis=axis), op)
        for op in ("argmin", "argmax"):
            assert_same(
                getattr(bg, op)(a, axis=axis), getattr(np, op)(rows, axis=axis).astype("i8"), op
            )
    assert_same(bg.sum(bg.arange(100000, dtype="int64")), np.int64(4999950000))
    assert_same(bg.cumulative_sum(a, axis=1), rows.cumsum(axis=1))
    assert_same(bg.cumulative_prod(a, axis=0), rows.cumprod(axis=0))
    found = bg.cumulative_sum(a[0], include_initial=True)
    assert_same(found, np.append(x.dtype.type(0), rows[0].cumsum()))
    long = np.resize(x, 70_001)
    assert_same(bg.sum(bg.asarray(long)), long.sum())
    assert_same(bg.min(bg.asarray(long) - 1), (long - x.dtype.type(1)).min())
    assert_same(bg.cumulative_sum(bg.asarray(long)), long.cumsum())
    assert_same(bg.cumulative_sum(bg.asarray(long[:1000])), long[:1000].cumsum())
    assert_same(bg.mean(a, axis=1), rows.mean(axis=1), rtol=1e-6)
    assert_same(
        bg.sum(bg.asarray(rows.astype("i4")), dtype="int64"), rows.astype("i4").sum(dtype="i8")
    )
    assert_same(bg.count_nonzero(a), np.int64(np.count_nonzero(rows)))


def test_orders(bg: Any, x: np.ndarray) -> None:
    mixed = np.random.default_rng(1).permutation(np.tile(x, 3))
    a, ordered = bg.asarray(mixed), np.sort(x)
    assert_same(bg.sort(a), np.sort(mixed))
    assert_same(bg.sort(a, descending=True), np.sort(mixed)[::-1])
    assert_same(bg.argsort(a), np.argsort(mixed, kind="stable").astype("i8"))
    assert_same(bg.unique_values(a), np.unique(mixed))
    for side in ("left", "right"):
        expected = np.searchsorted(ordered, mixed, side=side).astype("i8")
        assert_same(bg.searchsorted(bg.asarray(ordered), a, side=side), expected, side)


def test_layout(bg: Any, x: np.ndarray) -> None:
    a, rows = bg.asarray(x), x[-20:].reshape(4, 5)
    b = bg.asarray(rows)
    assert_same(a[1::3] + 1, x[1::3] + x.dtype.type(1))
    assert_same(b.T * 2, rows.T * x.dtype.type(2))
    assert_same(bg.concat([a, a[::-1]]), np.concatenate([x, x[::-1]]))
    assert_same(bg.where(a > 5, a, 0), np.where(x > 5, x, 0).astype(x.dtype))
    assert_same(a[bg.asarray(np.array([0, 3, 2], x.dtype))], x[[0, 3, 2]])
    assert_same(a[a > 5], x[x > 5])
    assert_same(bg.repeat(a, 2), np.repeat(x, 2))
    assert_same(bg.roll(a, 3), np.roll(x, 3))
    assert_same(b @ b.T, rows @ rows.T)
    assert_same(bg.einsum("ij,kj->ik", b, b), np.einsum("ij,kj->ik", rows, rows))


def test_printing(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    assert str(a) == str(x)
    assert str(np.iinfo(x.dtype).max) in repr(a)
    assert [int(one) for one in a] == a.tolist() == x.tolist()
    assert a[7].item() == int(a[7]) == int(x[7])
    assert f"{a[7]}" == f"{x[7]}"
    assert list(range(10))[bg.asarray(x.dtype.type(4))] == 4


def test_gathering_and_scattering(bg: Any, x: np.ndarray) -> None:
    rows = x[-20:].reshape(4, 5)
    a, places = bg.asarray(rows), np.array([[0, 2], [3, -1]])
    for kind in ("int64", "uint64"):
        own = places % 4 if kind == "uint64" else places
        key = bg.asarray(own.astype(kind))
        assert_same(a[key], rows[own])
        assert_same(a[1, key], rows[1, own])
        assert_same(a[key, key], rows[own, own])
        assert_same(bg.take(a, key[0], axis=1), rows[:, own[0]])
        changed, ours = rows.copy(), bg.asarray(rows)
        changed[own] = rows[::-1][:2, None] + x.dtype.type(1)
        ours[key] = a[::-1][:2, None] + 1
        assert_same(ours, changed)
        ours[:, key[0]] = 2**50
        changed[:, own[0]] = 2**50
        assert_same(ours, changed)
    mask = rows % x.dtype.type(2) == 1
    assert_same(a[bg.asarray(mask)], rows[mask])
    changed, ours = rows.copy(), bg.asarray(rows)
    changed[mask] = rows[mask][::-1]
    ours[bg.asarray(mask)] = a[bg.asarray(mask)][::-1]
    assert_same(ours, changed)
    order = bg.asarray(np.argsort(rows, axis=1).astype("i8"))
    assert_same(bg.take_along_axis(a, order, axis=1), np.sort(rows, axis=1))
    # Indices out of bounds are clamped, also beyond 32 bits.
    far = bg.asarray(np.array([2**32 + 1, 2**40], np.int64))
    assert_same(bg.asarray(x)[far], x[[-1, -1]])


def test_assignment(bg: Any, x: np.ndarray) -> None:
    a, expected = bg.asarray(x), x.copy()
    a[2:9:2] = 2**40 + 1
    a[bg.asarray([0, 1])] = 2**35
    a += 1
    expected[2:9:2] = 2**40 + 1
    expected[[0, 1]] = 2**35
    expected += x.dtype.type(1)
    assert_same(a, expected)
    view, theirs = a[3:], expected[3:]
    view[::2] *= 3
    theirs[::2] *= x.dtype.type(3)
    assert_same(a, expected)
    small = bg.zeros(x.shape, dtype="int32")
    small[:] = bg.asarray(x)
    assert_same(small, x.astype("i4"))
    small += bg.asarray(x.astype("i8"))
    with np.errstate(all="ignore"):
        assert_same(small, x.astype("i4") + x.astype("i4"))
    with pytest.raises(TypeError, match="float32"):
        a += bg.ones(x.shape)
    with pytest.raises(OverflowError):
        a[0] = 2**64


def test_exchange(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    assert_same(pickle.loads(pickle.dumps(a)), x)
    file = io.BytesIO()
    bg.save(file, a)
    file.seek(0)
    assert_same(bg.load(file), x)
    arrays = io.BytesIO()
    bg.savez(arrays, x=a)
    arrays.seek(0)
    assert_same(bg.load(arrays)["x"], x)
    np.testing.assert_array_equal(np.from_dlpack(a), x)
    assert a.tobytes() == x.tobytes()
    assert_same(bg.from_dlpack(x), x)
    assert a.tolist() == x.tolist()


def test_refused(bg: Any) -> None:
    with pytest.raises(TypeError, match="int64"):
        bg.ElementwiseKernel("int64 x", "int64 y", "y = x;", "copied")
    with pytest.raises(ValueError, match="int32"):
        bg.random.default_rng(0).integers(0, 2**40, 5, dtype="int64")
    wide = bg.asarray(np.array([[1, 2], [3, 2**40]], np.int64))
    with pytest.raises(TypeError, match="float"):
        bg.nn.softmax(wide)
    with pytest.raises(TypeError, match="astype"):
        bg.random.default_rng(0).integers(0, wide)


def test_labels(bg: Any) -> None:
    """NumPy's arrays of integers, such as labels and indices, have 64 bits."""
    logits = np.array([[0.5, 2, 1], [1, 0, 3]], np.float32)
    labels = np.array([2, 0], np.int64)
    for kind in ("int64", "uint64"):
        target = bg.asarray(labels.astype(kind))
        x = bg.asarray(logits).requires_grad_()
        y = bg.asarray(logits).requires_grad_()
        one, other = bg.nn.cross_entropy(x, target), bg.nn.cross_entropy(y, target.astype("int32"))
        one.backward()
        other.backward()
        assert_same(one.detach(), other.detach().numpy())
        assert_same(x.grad, y.grad.numpy())
        assert_same(bg.nn.one_hot(target, 3), np.eye(3, dtype=np.int64)[labels])
        assert_same(bg.nn.embedding(target, bg.asarray(logits.T)), logits.T[labels])
    outside = bg.asarray(np.array([2**32, 2**40 + 1], np.int64))
    assert np.isnan(bg.nn.cross_entropy(bg.asarray(logits), outside).numpy())
    assert not bg.nn.one_hot(outside, 3).numpy().any()


@pytest.mark.parametrize(
    "shape", [(1,), (1024,), (1025,), (70_001,), (600, 7), (2, 300, 5), (3, 2000), (0, 3), (3, 0)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("op", ["cumulative_sum", "cumulative_prod"])
def test_running(bg: Any, op: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(-(2**62), 2**62, shape)
    for dtype in ("int64", "uint64"):
        host = x.astype(dtype)
        array = bg.asarray(host)
        for axis in range(len(shape)):
            for options in ({}, {"include_initial": True}):
                expected = getattr(np, op)(host, axis=axis, **options)
                assert_same(getattr(bg, op)(array, axis=axis, **options), expected, str(axis))
    strided = bg.asarray(x)[..., ::-2]
    assert_same(getattr(bg, op)(strided, axis=0), getattr(np, op)(x[..., ::-2], axis=0))
