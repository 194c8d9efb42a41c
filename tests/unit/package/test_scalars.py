"""The 22 scalar functions, against Python's math and IEEE 754's special cases."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.compat.tensor_backend.scalars import Scalars
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast

S = Scalars()
INF, NAN = math.inf, math.nan
ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
TWO = [*ARITHMETIC, "div", "mod", "pow", *COMPARISONS]
# These return integers for integers.
WHOLE = [*ARITHMETIC, "mod", "pow", "floor", "ceil", "round", "abs"]
ONE = ["sqrt", "sin", "cos", "tan", "log", "exp", "floor", "ceil", "round", "abs"]

numbers = st.floats(allow_subnormal=False)


def same(a: float, b: float) -> bool:
    """Return whether numbers are equal; NaN equals NaN, and the sign of zero counts."""
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


def call(name: str, *values: Any) -> Any:
    return getattr(S, f"scalar_{name}")(*values)


def test_there_are_22() -> None:
    own = {name for name in vars(Scalars) if not name.startswith("_")}
    assert own == {f"scalar_{name}" for name in TWO + ONE}
    assert len(own) == 22


@given(a=numbers, b=numbers)
def test_arithmetic(a: float, b: float) -> None:
    for name, function in ARITHMETIC.items():
        assert same(call(name, a, b), function(a, b))


@given(a=numbers, b=numbers)
def test_comparisons_are_bools(a: float, b: float) -> None:
    for name, function in COMPARISONS.items():
        assert call(name, a, b) is function(a, b)


@given(a=numbers, b=st.floats(allow_infinity=False, allow_subnormal=False).filter(bool))
def test_div_and_mod_of_ordinary_divisors(a: float, b: float) -> None:
    assert same(call("div", a, b), a / b)
    if math.isfinite(a) and not math.isnan(b):
        assert call("mod", a, b) == a % b


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("div", (1, 0), INF), ("div", (-1, 0), -INF), ("div", (1, -0.0), -INF),
        ("div", (0, 0), NAN),
        ("div", (INF, INF), NAN), ("div", (1, INF), 0.0), ("div", (-1, INF), -0.0),
        ("mod", (5, 3), 2.0), ("mod", (-5, 3), 1.0), ("mod", (5, -3), -1.0), ("mod", (5, 0), NAN),
        ("mod", (INF, 3), NAN), ("mod", (5, INF), 5.0), ("mod", (NAN, 3), NAN),
        ("add", (INF, -INF), NAN), ("sub", (INF, INF), NAN), ("mul", (0, INF), NAN),
        ("add", (1e308, 1e308), INF), ("mul", (1e200, -1e200), -INF),
        ("sqrt", (-1,), NAN), ("sqrt", (-0.0,), -0.0), ("sqrt", (INF,), INF),
        ("sqrt", (2,), 2**0.5),
        ("pow", (0, 0), 1.0), ("pow", (NAN, 0), 1.0), ("pow", (1, NAN), 1.0),
        ("pow", (0, -1), INF),
        ("pow", (-0.0, -1), -INF), ("pow", (-8, 1 / 3), NAN), ("pow", (-2, 3), -8.0),
        ("pow", (10, 400), INF), ("pow", (2, -2000), 0.0), ("pow", (-1, INF), 1.0),
        ("sin", (INF,), NAN), ("cos", (-INF,), NAN), ("tan", (INF,), NAN), ("sin", (-0.0,), -0.0),
        ("cos", (0,), 1.0), ("log", (0,), -INF), ("log", (-0.0,), -INF), ("log", (-1,), NAN),
        ("log", (INF,), INF), ("log", (1,), 0.0), ("exp", (1000,), INF), ("exp", (-1000,), 0.0),
        ("exp", (-INF,), 0.0), ("exp", (0,), 1.0), ("floor", (-1.5,), -2.0), ("floor", (INF,), INF),
        ("ceil", (-1.5,), -1.0), ("ceil", (-0.5,), -0.0), ("ceil", (1e300,), 1e300),
        ("round", (0.5,), 0.0), ("round", (1.5,), 2.0), ("round", (2.5,), 2.0),
        ("round", (-0.5,), -0.0),
        ("round", (NAN,), NAN), ("abs", (-0.0,), 0.0), ("abs", (-INF,), INF), ("abs", (NAN,), NAN),
    ],
    ids=str,
)  # fmt: skip
def test_special_cases(name: str, values: tuple[float, ...], expected: float) -> None:
    result = call(name, *values)
    is_whole = name in WHOLE and all(type(value) is int for value in values)
    is_whole = is_whole and (name, values) != ("pow", (2, -2000))
    assert type(result) is (int if is_whole and math.isfinite(expected) else float)
    assert same(result, expected), result


@given(x=st.floats(-700, 700))
def test_functions_agree_with_math(x: float) -> None:
    for name in ("sin", "cos", "tan", "exp", "floor", "ceil"):
        expected = float(getattr(math, name)(x))
        assert math.isclose(call(name, x), expected, rel_tol=1e-14, abs_tol=1e-300)
    assert call("round", x) == round(x)
    assert call("abs", x) == abs(x)
    if x > 0:
        assert math.isclose(call("log", x), math.log(x), rel_tol=1e-14, abs_tol=1e-15)
        assert call("sqrt", x) == math.sqrt(x)
        assert math.isclose(call("pow", x, 1.7), x**1.7, rel_tol=1e-13)


def test_nan_compares_as_ieee_says() -> None:
    assert [call(name, NAN, NAN) for name in COMPARISONS] == [
        False,
        True,
        False,
        False,
        False,
        False,
    ]
    assert call("eq", 0.0, -0.0) is True


# ---- integers ------------------------------------------------------------------------------

LARGE = 2**53 + 1  # no double represents this integer

whole_numbers = st.integers(-(2**70), 2**70) | st.sampled_from([LARGE, -LARGE, 2**64 - 1, 0, 1, -1])


def test_integers_beyond_doubles_keep_all_digits() -> None:
    assert call("add", 2**53, 1) == LARGE
    assert call("sub", LARGE, 2**53) == 1
    assert call("mul", LARGE, 1) == LARGE
    assert call("mod", LARGE, 2) == 1
    assert call("pow", 3, 40) == 3**40
    assert call("pow", LARGE, 1) == LARGE
    for name in ("floor", "ceil", "round", "abs"):
        assert call(name, LARGE) == LARGE
    assert call("abs", -LARGE) == LARGE
    assert call("add", np.int64(2**53), np.uint8(1)) == LARGE
    assert call("add", np.uint64(2**64 - 1), np.int64(1)) == 2**64


def test_integers_beyond_doubles_compare_exactly() -> None:
    for other in (2**53, float(2**53), np.float64(2**53)):
        results = {name: call(name, LARGE, other) for name in COMPARISONS}
        assert results == {"eq": False, "ne": True, "lt": False, "le": False, "gt": True,
                           "ge": True}  # fmt: skip
        assert call("lt", other, LARGE) is True
    assert call("lt", 10**300, math.inf) is True
    assert call("gt", LARGE, -math.inf) is True


@given(a=whole_numbers, b=whole_numbers)
def test_arithmetic_of_integers_is_exact(a: int, b: int) -> None:
    for name, function in {**ARITHMETIC, **COMPARISONS}.items():
        result = call(name, a, b)
        assert result == function(a, b)
        assert type(result) is (bool if name in COMPARISONS else int)
    if b:
        assert call("mod", a, b) == a % b
        assert call("div", a, b) == a / b


@given(a=st.integers(-12, 12) | st.just(LARGE), b=st.integers(0, 20))
def test_powers_of_integers_are_exact(a: int, b: int) -> None:
    result = call("pow", a, b)
    if abs(a**b) < 2**1023:
        assert type(result) is int
        assert result == a**b
    else:
        assert result == (-INF if a < 0 and b % 2 else INF)


def test_no_integer_result_beyond_a_doubles_range() -> None:
    large = 10**308
    assert call("add", large, large) == INF
    assert call("sub", -large, large) == -INF
    assert call("mul", large, -large) == -INF
    assert call("pow", -3, 10**18 + 1) == -INF
    assert call("pow", 2, 1023) == 2**1023
    assert call("pow", 2, 1024) == INF
    assert call("pow", -1, 10**18 + 1) == -1
    assert call("pow", 2, -1) == 0.5
    assert same(call("mod", LARGE, 0), NAN)
    assert call("div", LARGE, 0) == INF


NUMBERS = [3, 3.0, np.float32(3), np.float64(3), np.int8(3), np.array(3.0), Fraction(3), Decimal(3)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: type(number).__name__)
def test_numbers_of_any_kind(number: Any) -> None:
    whole = isinstance(number, int | np.integer)
    for name in TWO:
        expected = bool if name in COMPARISONS else int if whole and name in WHOLE else float
        assert type(call(name, number, 2)) is expected
    for name in ONE:
        assert type(call(name, number)) is (int if whole and name in WHOLE else float)
    assert call("add", number, number) == 6.0


@pytest.mark.parametrize(
    "value",
    [None, "3", b"3", True, np.True_, 1j, [1.0], np.ones(2), 10**400, object()],
    ids=lambda value: f"{type(value).__name__} {np.ndim(value)}",
)
def test_values_that_are_not_numbers_are_refused(value: Any) -> None:
    for name in TWO:
        for values, argument in (((value, 1), "a"), ((1, value), "b")):
            with pytest.raises(InvalidArgument, match=f"scalar_{name}: {argument} must"):
                call(name, *values)
    for name in ONE:
        with pytest.raises(InvalidArgument, match=f"scalar_{name}: x must be a real number, got"):
            call(name, value)


def test_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    call("div", 1, 0)
    call("log", 0)
    call("sqrt", -1)
    call("mod", 1, 0)
    call("exp", 1e9)
    assert not recwarn.list
