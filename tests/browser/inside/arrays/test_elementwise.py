"""Every elementwise operation on arrays of every dtype, against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import (
    DTYPES,
    EXACT,
    FLOATS,
    NUMBERS,
    REALS,
    ULPS,
    WHOLE,
    assert_same,
    by_default,
    sample,
)

pytestmark = [pytest.mark.native, pytest.mark.firefox]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, 1.5, np.inf, -np.inf, np.nan, 1e30, -7.0, 3.0]
NO_BOOL = NUMBERS
#: The dtypes of each operation, by its number of arrays.
UNARY = {
    "abs": DTYPES, "bitwise_invert": ("bool", *WHOLE), "ceil": ("bool", *REALS), "conj": NO_BOOL,
    "floor": ("bool", *REALS), "imag": ("complex64",), "isfinite": DTYPES, "isinf": DTYPES,
    "isnan": DTYPES, "logical_not": DTYPES, "negative": NO_BOOL, "positive": NO_BOOL,
    "real": DTYPES, "reciprocal": FLOATS, "round": NO_BOOL, "sign": NO_BOOL, "signbit": FLOATS,
    "sqrt": FLOATS, "square": NO_BOOL, "trunc": ("bool", *REALS),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), FLOATS),
    **dict.fromkeys(("asinh", "acosh", "atanh", "exp", "expm1"), FLOATS),
    **dict.fromkeys(("log", "log1p", "log2", "log10"), FLOATS),
}  # fmt: skip
BINARY = {
    "add": DTYPES, "bitwise_and": ("bool", *WHOLE), "bitwise_or": ("bool", *WHOLE),
    "bitwise_xor": ("bool", *WHOLE), "bitwise_left_shift": WHOLE, "bitwise_right_shift": WHOLE,
    "copysign": FLOATS, "divide": (*FLOATS, "complex64"), "equal": DTYPES, "floor_divide": REALS,
    "greater": ("bool", *REALS), "greater_equal": ("bool", *REALS), "less": ("bool", *REALS),
    "less_equal": ("bool", *REALS), "logical_and": DTYPES, "logical_or": DTYPES,
    "logical_xor": DTYPES, "maximum": ("bool", *REALS), "minimum": ("bool", *REALS),
    "atan2": FLOATS, "hypot": FLOATS, "logaddexp": FLOATS, "nextafter": ("float32",),
    "pow": REALS, "multiply": DTYPES, "not_equal": DTYPES, "remainder": REALS, "subtract": NO_BOOL,
}  # fmt: skip
NUMPYS = {
    "round": "rint", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power",
}  # fmt: skip
#: test_math_functions.py tests each function's bound in float32.
ROUGHLY = 1e-6
#: Complex operations that NumPy may compute with fused multiply-adds.
COMPLEX = {"sign": 1e-6, "multiply": 1e-6, "square": 1e-6, "divide": 1e-6, "abs": 1e-6}


def reference(op: str) -> Any:
    return getattr(np, NUMPYS.get(op, op))


def tolerance(op: str, dtype: str) -> float:
    if dtype == "complex64":
        return COMPLEX.get(op, 0.0)
    if op == "floor_divide" or dtype not in FLOATS:
        return 0.0
    if op in EXACT:
        return 0.0
    return ROUGHLY if dtype == "float32" else ULPS.get(op, 1.0) * float(np.finfo(dtype).eps)


def values(dtype: str, seed: int) -> np.ndarray:
    x = sample(dtype, 131, seed)
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            x[: len(SPECIAL)] = np.roll(np.asarray(SPECIAL), 3 * seed).astype(dtype)
    return x


@pytest.mark.parametrize("op", UNARY)
def test_of_one_array(bg: Any, op: str) -> None:
    for dtype in UNARY[op]:
        x = values(dtype, 0)
        with np.errstate(all="ignore"):
            expected = reference(op)(x)
            if op in ("round", "ceil", "floor", "trunc", "sign", "real") and dtype != "complex64":
                expected = np.asarray(expected).astype(dtype)
        got = getattr(bg, op)(bg.asarray(x))
        assert_same(got, expected, f"{op} of {dtype}", rtol=tolerance(op, dtype))


@pytest.mark.parametrize("op", BINARY)
def test_of_two_arrays(bg: Any, op: str) -> None:
    for dtype in BINARY[op]:
        a, b = values(dtype, 0), values(dtype, 1)
        if op == "pow" and dtype in WHOLE:
            b = (np.abs(b.astype(np.int32)) % 7).astype(dtype)
        if "shift" in op:
            b = (np.abs(b.astype(np.int32)) % 40).astype(dtype)
        with np.errstate(all="ignore"):
            expected = reference(op)(a, b)
        got = getattr(bg, op)(bg.asarray(a), bg.asarray(b))
        if op in ("floor_divide", "remainder") and dtype in FLOATS:
            usual = np.isfinite(a) & np.isfinite(b) & (b != 0)
            got, expected = got.numpy()[usual], expected[usual]
            got = bg.asarray(got)
        assert_same(got, expected, f"{op} of {dtype}", rtol=tolerance(op, dtype))


def test_of_two_dtypes(bg: Any) -> None:
    for one, other in product(DTYPES, repeat=2):
        a, b = sample(one, 9, 1), sample(other, 9, 2)
        with np.errstate(all="ignore"):
            expected = (a + b).astype(bg.result_type(a.dtype, b.dtype))
        rtol = 1e-3 if "float16" in (one, other) else 1e-6
        assert_same(bg.asarray(a) + bg.asarray(b), expected, f"{one} + {other}", rtol=rtol)


@pytest.mark.parametrize("source", DTYPES)
def test_changes_of_dtype(bg: Any, source: str) -> None:
    x = sample(source, 37)
    for target in DTYPES:
        with np.errstate(all="ignore"):
            expected = x.astype(target) if not (source == "complex64" != target) else None
        if expected is None:
            expected = (x != 0) if target == "bool" else x.real.astype(target)
        if source in (*FLOATS, "complex64") and np.dtype(target).kind == "u":
            expected = np.clip(np.trunc(x.real.astype(np.float64)), 0, None).astype(target)
        assert_same(bg.asarray(x).astype(target), expected, f"{source} as {target}")


def test_floats_beyond_the_range_of_integers(bg: Any) -> None:
    x = bg.asarray(np.float32([1e10, -1e10, np.nan, np.inf, -np.inf, -3.7, 300.5]))
    for dtype in WHOLE:
        bounds = np.iinfo(dtype)
        wide = np.nan_to_num(x.numpy().astype(np.float64), nan=0.0)
        expected = np.clip(np.trunc(wide), bounds.min, bounds.max).astype(dtype)
        assert_same(x.astype(dtype), expected, dtype)


def test_python_numbers_take_the_arrays_dtype(bg: Any) -> None:
    for dtype in DTYPES:
        x = sample(dtype, 5)
        array = bg.asarray(x)
        assert (array + 1).dtype == bg.result_type(array, 1)
        assert (2.5 * array).dtype == bg.result_type(array, 2.5)
        if dtype in REALS:
            assert_same(array * 2, (x.astype(np.float64) * 2).astype(dtype), dtype, rtol=1e-3)
    assert (bg.asarray([1, 2]) + 1.5).dtype == np.float32
    assert (bg.asarray([1.5]) + 1j).dtype == np.complex64
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        bg.asarray(np.uint8([1])) + 300


def test_other_sides_of_operators(bg: Any) -> None:
    x = sample("float32", 7)
    array = bg.asarray(x)
    for got, expected in (
        (3.0 - array, 3 - x), (2.0 / array, 2 / x), (x + array, x + x), (array - x, x * 0),
        (5 // bg.asarray([2, -2]), np.array([2, -3])), (7 % bg.asarray([4, -4]), np.array([3, -1])),
        (1 << bg.asarray([3]), np.array([8])), (6 & bg.asarray([3]), np.array([2])),
        (-array, -x), (+array, x), (~bg.asarray([1]), np.array([-2])), (abs(array), abs(x)),
    ):  # fmt: skip
        assert_same(got, by_default(expected), rtol=1e-6)


def test_dtypes_that_an_operation_does_not_take(bg: Any) -> None:
    from browsergpu.errors import InvalidArgument

    for call in (
        lambda: bg.asarray([True]) - bg.asarray([True]),
        lambda: bg.asarray([1.5]) & bg.asarray([1]),
        lambda: bg.asarray([1j]) < bg.asarray([1j]),
        lambda: bg.floor(bg.asarray([1j])),
        lambda: bg.asarray([1.0]) + "text",
        lambda: bg.add(bg.asarray([1.0]), None),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(InvalidArgument, match="broadcast"):
        bg.asarray([1.0, 2.0]) + bg.asarray([1.0, 2.0, 3.0])


def test_where_and_clip(bg: Any) -> None:
    for dtype in DTYPES:
        a, b, c = sample(dtype, (3, 4)), sample(dtype, 4, 1), sample("bool", (3, 1), 2)
        array, other, condition = map(bg.asarray, (a, b, c))
        assert_same(bg.where(condition, array, other), np.where(c, a, b), dtype)
        if dtype in REALS:
            assert_same(bg.where(condition, array, 1), np.where(c, a, np.asarray(1, dtype)), dtype)
            assert_same(bg.clip(array, 1, 50), np.clip(a, 1, 50).astype(dtype), dtype)
    x = bg.asarray([1.0, np.nan, -9.0])
    assert_same(bg.clip(x, None, 0.0), [0.0, np.nan, -9.0])


def test_extremes_of_absolute_values(bg: Any) -> None:
    x, y = sample("int32", 500), sample("int32", 500, 1)
    a, b = bg.asarray(x), bg.asarray(y)
    assert_same(bg.maximum(bg.abs(a), b), np.maximum(abs(x), y))
    assert_same(bg.minimum(-bg.abs(a), b), np.minimum(-abs(x), y))
    assert_same(bg.max(bg.abs(a - 100)), abs(x - 100).max())


def test_numbers_that_are_equal_are_not_taken_for_each_other(bg: Any) -> None:
    ones = bg.ones(2)
    for number in (0.0, -0.0, 0.0, 0, -0.0):
        assert np.signbit(bg.copysign(ones, number).numpy()).all() == np.signbit(number)
    z = np.full(2, complex(-0.0, -0.0), np.complex64)
    for number in (1 + 0j, complex(1, -0.0), 1 + 0j):
        got = (bg.asarray(z) + number).numpy()
        np.testing.assert_array_equal(np.signbit(got.imag), np.signbit((z + number).imag))
    whole = bg.asarray([3, 4])
    dtypes = [str((whole * number).dtype) for number in (1, True, 1.0, 1, 1 + 0j)]
    assert dtypes == ["int64", "int64", "float32", "int64", "complex64"]
