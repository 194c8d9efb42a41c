"""The text of values and sizes in error messages."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsergpu.engine.core.config import BackendConfig
from browsergpu.engine.core.showing import Description, byte_count, shown
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast

pytestmark = pytest.mark.fast


class OnTheGpu:
    """An array of another library whose repr would read the GPU."""

    shape = (2, 3)
    dtype = np.dtype(np.float32)

    def __repr__(self) -> NoReturn:
        raise AssertionError("the repr reads the GPU")


class Holds:
    """An object whose repr shows its contents."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Holds({self.value!r})"


class Hostile:
    """An object that raises an error on every access."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (-1, "-1"),
        (1.5, "1.5"),
        (..., "Ellipsis"),
        ("gelu", "'gelu'"),
        (b"ab", "b'ab'"),
        (np.float32(2.5), repr(np.float32(2.5))),
        (np.dtype(np.int8), "int8"),
        (np.float64, "numpy.float64"),
        (int, "int"),
        (np.sin, "the function np.sin"),
        (len, "the function len"),
        (np, "the module numpy"),
        (partial(len, OnTheGpu()), "a partial of the function len"),
        (np.array([1, 2]), "array([1, 2])"),
        (np.zeros((3, 4), np.float32), "a NumPy array of shape (3, 4) and dtype float32"),
        (np.array([OnTheGpu()], object), "a NumPy array of shape (1,) and dtype object"),
        ((1, 2), "(1, 2)"),
        ((1,), "(1,)"),
        ([], "[]"),
        (slice(1, None), "slice(1, None, None)"),
        (range(3), "range(0, 3)"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, ...]"),
        ([[[[1]]]], "[[[[...]]]]"),
        ({"a": [1]}, "{'a': [1]}"),
        (set(), "an empty set"),
        ({3}, "{3}"),
        (memoryview(bytes(2048)), "a memoryview of 2 KiB (2,048 bytes)"),
        (Description("3 buffers"), "3 buffers"),
    ],
)  # fmt: skip
def test_values_in_words(value: Any, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    "value",
    [
        OnTheGpu(), [OnTheGpu()], (1, (OnTheGpu(),)), {"x": OnTheGpu()}, Holds(OnTheGpu()),
        [Holds(OnTheGpu())], partial(print, OnTheGpu()), slice(OnTheGpu(), None),
    ],
)  # fmt: skip
def test_no_repr_of_an_array_is_called(value: Any) -> None:
    assert "object at 0x" not in shown(value)


def test_an_array_is_shown_by_shape_and_dtype() -> None:
    assert shown(OnTheGpu()).endswith("OnTheGpu of shape (2, 3) and dtype float32")
    assert shown([OnTheGpu(), 1]).endswith("OnTheGpu of shape (2, 3) and dtype float32, 1]")


def test_a_hostile_object_is_shown_by_its_class() -> None:
    assert shown(Hostile()).endswith(".Hostile object")


def test_long_values_are_cut() -> None:
    for value in ("x" * 10_000, b"x" * 10_000, "\n" * 10_000, 10**4000, ["y" * 50] * 6,
                  dict.fromkeys(range(5), "z" * 50)):  # fmt: skip
        assert len(shown(value)) <= 160
        assert "\n" not in shown(value)
    assert shown(10**10_000) == "an int object"  # Python refuses to format larger integers


def test_the_packages_own_dataclasses_are_shown_field_by_field() -> None:
    text = shown(BackendConfig(debug_mode=True))
    assert text.startswith("BackendConfig(adapter_index=None, power_preference='high-performance'")


@given(st.integers(0, 2**60))
def test_a_size_tells_the_exact_bytes(nbytes: int) -> None:
    text = byte_count(nbytes)
    assert f"{nbytes:,} byte" in text
    assert (nbytes >= 1024) == ("iB (" in text)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1 KiB (1,024 bytes)"),
        (3 * 2**29, "1.5 GiB (1,610,612,736 bytes)"),
        (2**30 - 1, "1 GiB (1,073,741,823 bytes)"),
        (2**60, "1,024 PiB (1,152,921,504,606,846,976 bytes)"),
    ],
)
def test_sizes(nbytes: int, text: str) -> None:
    assert byte_count(nbytes) == text


def test_an_error_names_the_expected_the_actual_and_the_remedy() -> None:
    error = InvalidArgument("f", "x", OnTheGpu(), "a string", "Call str().")
    assert str(error).startswith("f: x must be a string, got a ")
    assert str(error).endswith("and dtype float32. Call str().")
    assert str(InvalidArgument("f", "x", 3, "have 2 axes")) == "f: x must have 2 axes, got 3."


def test_another_process_gets_the_words_for_a_value_on_the_gpu() -> None:
    error = InvalidArgument("f", "x", Holds(lambda: 0), "a string")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.value == shown(error.value)
    number = pickle.loads(pickle.dumps(InvalidArgument("f", "x", 3, "a string")))
    assert (number.value, number.argument) == (3, "x")
