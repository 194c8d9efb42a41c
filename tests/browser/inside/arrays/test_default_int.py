"""The dtype of Python's integers, and of sums of smaller ones: int64, or int32 if chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.native]


@pytest.fixture
def narrow(bg: Any) -> Iterator[Any]:
    before = bg.set_default_int("int32")
    yield bg
    bg.set_default_int(before)


def _results(bg: Any) -> dict[str, Any]:
    small, few = bg.asarray(np.int32([3, 1, 2])), bg.asarray(np.uint8([200, 100]))
    return {
        "a list": bg.asarray([1, 2]), "a number": bg.asarray(3), "arange": bg.arange(3),
        "full": bg.full(2, 5), "int": bg.zeros(2, dtype=int), "sum": bg.sum(small),
        "prod": bg.prod(small), "cumulative_sum": bg.cumulative_sum(small),
        "cumulative_prod": bg.cumulative_prod(small), "sum of bools": bg.sum(small > 1),
        "argmax": bg.argmax(small), "argsort": bg.argsort(small), "nonzero": bg.nonzero(small)[0],
        "searchsorted": bg.searchsorted(bg.sort(small), 2), "counts": bg.unique_counts(small)[1],
        "bools + 1": (small > 1) + 1, "beside a list": few.__add__([1, 2]),
        "trace": bg.linalg.trace(small[:, None]),
        "integers": bg.random.default_rng(0).integers(0, 5, 3),
    }  # fmt: skip


def test_integers_have_64_bits(bg: Any) -> None:
    for what, found in _results(bg).items():
        assert found.dtype == np.int64, what
    assert bg.sum(bg.asarray(np.uint8([200, 100]))).dtype == np.uint64
    assert bg.sum(bg.arange(100_000)).item() == 4_999_950_000
    assert bg.sum(bg.full(3, 2_000_000_000, dtype="int32")).item() == 6_000_000_000
    assert bg.prod(bg.arange(1, 21)).item() == 2_432_902_008_176_640_000
    assert (bg.asarray(np.int32([1])) + 1).dtype == np.int32
    assert bg.asarray([2**40]).tolist() == [2**40]


def test_32_bits_can_be_chosen(narrow: Any) -> None:
    bg = narrow
    for what, found in _results(bg).items():
        assert found.dtype == np.int32, what
    assert bg.sum(bg.asarray(np.uint8([200, 100]))).dtype == np.uint32
    assert bg.asarray(np.array([2**40])).dtype == np.int64  # NumPy's arrays keep their dtype
    with pytest.raises(ValueError, match="int32"):
        bg.asarray([2**40])
    with pytest.raises(OverflowError):
        bg.arange(2**40, 2**40 + 2)


def test_a_changed_default_counts_for_what_follows(bg: Any) -> None:
    mask = bg.asarray([True, False])
    for name in ("int32", "int64", "int32"):
        before = bg.set_default_int(name)
        try:
            assert (mask + 1).dtype == name
            assert bg.where(mask, 1, 2).dtype == name
        finally:
            bg.set_default_int(before)


def test_what_is_refused(bg: Any) -> None:
    for dtype in ("int16", "uint64", "float32"):
        with pytest.raises(ValueError, match="int32 or int64"):
            bg.set_default_int(dtype)
