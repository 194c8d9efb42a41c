"""Whole numbers of 64 bits, bit for bit as NumPy has them."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

_EDGES = [0, 1, 2, 3, 7, *(2**n + by for n in (31, 32, 53) for by in (-1, 0, 1)), 2**62 + 12345]
_SIGNED = np.array([*_EDGES, 2**63 - 1, *(-x for x in _EDGES), 1 - 2**63, -(2**63)], np.int64)
_UNSIGNED = np.array([*_EDGES, 2**63, 2**63 + 1, 2**64 - 2**40 + 1, 2**64 - 1], np.uint64)
NUMBERS = {"int64": _SIGNED, "uint64": _UNSIGNED}
OTHERS = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32")


def _same(actual: Any, expected: Any, what: str = "") -> None:
    got, expected = actual.numpy(), np.asarray(expected)
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype}, not {expected.dtype}"
    np.testing.assert_array_equal(got, expected, what)


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
    _same(getattr(bg, op)(a[:, None], a[None, :]), expected, op)


def test_operations_on_one(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    for op in ("negative", "abs", "sign", "square", "bitwise_invert", "isnan", "logical_not"):
        with np.errstate(all="ignore"):
            _same(getattr(bg, op)(a), getattr(np, op)(x), op)


def test_shifts_and_powers(bg: Any, x: np.ndarray) -> None:
    by = np.array([0, 1, 5, 31, 32, 33, 63], x.dtype)
    a, b = bg.asarray(x)[:, None], bg.asarray(by)
    _same(a << b, x[:, None] << by)
    _same(a >> b, x[:, None] >> by)
    _same(a**b, x[:, None] ** by)


def test_changes_of_type(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    for name in OTHERS:
        with np.errstate(all="ignore"):
            _same(a.astype(name), x.astype(name), name)
        small = np.arange(5).astype(name)
        _same(bg.asarray(small).astype(x.dtype), small.astype(x.dtype), name)


def test_promotion(bg: Any, x: np.ndarray) -> None:
    for name in OTHERS:
        y = np.arange(5).astype(name)
        expected = x[:5] + y
        wide = expected.dtype == np.float64
        _same(bg.asarray(x[:5]) + bg.asarray(y), expected.astype("f4") if wide else expected, name)
    one, other = np.array([2**31 - 1, -5], np.int32), np.array([2**32 - 1, 7], np.uint32)
    _same(bg.asarray(one) + bg.asarray(other), one + other)
    _same(bg.asarray(one) < bg.asarray(other), one < other)
    with pytest.raises(OverflowError):
        bg.asarray(x) + 2**70


def test_reductions(bg: Any, x: np.ndarray) -> None:
    rows = x[:20].reshape(4, 5)
    a = bg.asarray(rows)
    for axis in (None, 0, 1):
        for op in ("sum", "prod", "min", "max", "any", "all"):
            _same(getattr(bg, op)(a, axis=axis), getattr(np, op)(rows, axis=axis), op)
        for op in ("argmin", "argmax"):
            _same(getattr(bg, op)(a, axis=axis), getattr(np, op)(rows, axis=axis).astype("i4"), op)
    _same(bg.sum(bg.arange(100000, dtype="int64")), np.int64(4999950000))
    _same(bg.cumulative_sum(a, axis=1), rows.cumsum(axis=1))
    _same(bg.cumulative_prod(a, axis=0), rows.cumprod(axis=0))


def test_orders(bg: Any, x: np.ndarray) -> None:
    mixed = np.random.default_rng(1).permutation(np.tile(x, 3))
    a, ordered = bg.asarray(mixed), np.sort(x)
    _same(bg.sort(a), np.sort(mixed))
    _same(bg.sort(a, descending=True), np.sort(mixed)[::-1])
    _same(bg.argsort(a), np.argsort(mixed, kind="stable").astype("i4"))
    _same(bg.unique_values(a), np.unique(mixed))
    for side in ("left", "right"):
        expected = np.searchsorted(ordered, mixed, side=side).astype("i4")
        _same(bg.searchsorted(bg.asarray(ordered), a, side=side), expected, side)


def test_layout(bg: Any, x: np.ndarray) -> None:
    a, rows = bg.asarray(x), x[:20].reshape(4, 5)
    b = bg.asarray(rows)
    _same(a[1::3] + 1, x[1::3] + x.dtype.type(1))
    _same(b.T * 2, rows.T * x.dtype.type(2))
    _same(bg.concat([a, a[::-1]]), np.concatenate([x, x[::-1]]))
    _same(bg.where(a > 5, a, 0), np.where(x > 5, x, 0).astype(x.dtype))
    _same(a[bg.asarray(np.array([0, 3, 2], x.dtype))], x[[0, 3, 2]])
    _same(a[a > 5], x[x > 5])
    _same(bg.repeat(a, 2), np.repeat(x, 2))
    _same(bg.roll(a, 3), np.roll(x, 3))
    _same(b @ b.T, rows @ rows.T)
    _same(bg.einsum("ij,kj->ik", b, b), np.einsum("ij,kj->ik", rows, rows))


def test_assignment(bg: Any, x: np.ndarray) -> None:
    a, expected = bg.asarray(x), x.copy()
    a[2:9:2] = 2**40 + 1
    a[bg.asarray([0, 1])] = 2**35
    a += 1
    expected[2:9:2] = 2**40 + 1
    expected[[0, 1]] = 2**35
    expected += x.dtype.type(1)
    _same(a, expected)


def test_exchange(bg: Any, x: np.ndarray) -> None:
    a = bg.asarray(x)
    _same(pickle.loads(pickle.dumps(a)), x)
    file = io.BytesIO()
    bg.save(file, a)
    file.seek(0)
    _same(bg.load(file), x)
    np.testing.assert_array_equal(np.from_dlpack(a), x)
    assert a.tolist() == x.tolist()


def test_refused(bg: Any) -> None:
    with pytest.raises(TypeError, match="int64"):
        bg.ElementwiseKernel("int64 x", "int64 y", "y = x;", "copied")
    with pytest.raises(ValueError, match="int32"):
        bg.random.default_rng(0).integers(0, 2**40, 5, dtype="int64")
