"""Argument checks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.core import checks
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
    st.binary(max_size=3), st.complex_numbers(), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(), st.none()),
    st.sampled_from([np.int8(3), np.float32(2), np.array(3), np.array([1, 2]), np.True_, object()]),
)  # fmt: skip


@given(value=anything)
def test_a_check_returns_or_raises_invalid_argument(value: Any) -> None:
    for check in (
        lambda: checks.integer("op", "x", value),
        lambda: checks.real("op", "x", value),
        lambda: checks.flag("op", "x", value),
        lambda: checks.choice("op", "x", value, Colour),
        lambda: checks.dimensions("op", "x", value),
        lambda: checks.pair("op", "x", value),
    ):
        refusal = None
        try:
            check()
        except InvalidArgument as error:
            refusal = error
        if refusal is not None:
            assert (refusal.op, refusal.argument) == ("op", "x")
            assert str(refusal).startswith("op: x must be ")


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_integers(value: Any) -> None:
    result = checks.integer("op", "n", value, 3, 3)
    assert type(result) is int
    assert result == 3


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, np.float32(3), 2, 2**32, [3]])
def test_values_that_are_not_integers_of_at_least_3(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"an integer of at (least 3|most 4294967295)"):
        checks.integer("op", "n", value, 3)


@pytest.mark.parametrize("value", [1, 1.0, np.float16(1), np.int32(1), np.array(1.0), 3.4e38])
def test_reals(value: Any) -> None:
    assert type(checks.real("op", "x", value)) is float


@pytest.mark.parametrize(
    "value",
    [True, "1", b"1", None, 1j, np.nan, np.inf, -np.inf, 3.5e38, 10**400, [1.0], np.ones(2)],
)
def test_values_that_are_not_real(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="a finite real number within float32's range"):
        checks.real("op", "x", value)


@pytest.mark.parametrize(
    ("check", "accepted", "refused", "expected"),
    [
        (checks.positive, 1e-9, (0, -1, np.nan), "a number above 0"),
        (checks.nonnegative, 0, (-1e-9, np.inf), "a number of at least 0"),
        (checks.fraction, 1, (-1e-9, 1.001, np.inf), "a number from 0 to 1"),
    ],
)
def test_reals_within_bounds(
    check: Any, accepted: float, refused: tuple[float, ...], expected: str
) -> None:
    assert check("op", "x", accepted) == accepted
    finite = "a finite real number within float32's range"
    for value in refused:
        with pytest.raises(
            InvalidArgument, match=f"x must be {expected if np.isfinite(value) else finite}, got"
        ):
            check("op", "x", value)


def test_flags() -> None:
    assert checks.flag("op", "x", True) is True
    assert checks.flag("op", "x", np.False_) is False
    for value in (0, 1, None, "True", 1.0, np.int8(1)):
        with pytest.raises(InvalidArgument, match="True or False"):
            checks.flag("op", "x", value)


def test_choices() -> None:
    assert checks.choice("op", "x", "red", Colour) is Colour.RED
    assert checks.choice("op", "x", Colour.BLUE, Colour) is Colour.BLUE
    for value in ("RED", "", None, 3, ["red"], {}):
        with pytest.raises(InvalidArgument, match="one of 'red', 'blue'"):
            checks.choice("op", "x", value, Colour)


@pytest.mark.parametrize("value", [(2, 3), [2, 3], np.array([2, 3]), (np.int64(2), 3), range(2, 4)])
def test_dimensions(value: Any) -> None:
    result = checks.dimensions("op", "shape", value)
    assert result == (2, 3)
    assert all(type(extent) is int for extent in result)


@pytest.mark.parametrize(
    "value",
    [None, 2, "23", b"23", {2, 3}, (2, -1), (2, 1.0), (2, None), (True, 3), np.array(2),
     np.array([[2, 3]]), np.array([2.0, 3.0]), [[2], 3], (2, 2**32), {2: 3}],
    ids=repr,
)  # fmt: skip
def test_values_that_are_not_dimensions(value: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=r"shape must be a sequence of integers from 0 to 4294967295"
    ):
        checks.dimensions("op", "shape", value)


def test_dimensions_of_a_length() -> None:
    assert checks.dimensions("op", "x", (1, 2), 2, 1) == (1, 2)
    for value in ((1,), (1, 2, 3), (0, 1), ()):
        with pytest.raises(InvalidArgument, match="a sequence of 2 integers from 1 to 4294967295"):
            checks.dimensions("op", "x", value, 2, 1)


def test_pairs() -> None:
    assert checks.pair("op", "x", 3) == (3, 3)
    assert checks.pair("op", "x", (3, 4)) == (3, 4)
    for value in (None, -1, (1,), (1, 2, 3), "12", 1.0):
        with pytest.raises(InvalidArgument):
            checks.pair("op", "x", value)


def test_each_axis() -> None:
    assert checks.each_axis("op", "x", 2, 3) == (2, 2, 2)
    assert checks.each_axis("op", "x", [1, 2, 3], 3, 1) == (1, 2, 3)
    for value in (None, 0, (1, 2), (0, 1, 2)):
        with pytest.raises(InvalidArgument):
            checks.each_axis("op", "x", value, 3, 1)


def test_product() -> None:
    assert checks.product(()) == 1
    assert checks.product((2, 3, 5)) == 30
    assert checks.product((2, 0, 2**40)) == 0
