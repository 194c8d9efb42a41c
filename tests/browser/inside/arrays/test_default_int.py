"""The dtype of Python integers, and of sums of smaller ones: int64, or int32 if set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import demoted

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


def test_a_changed_default_applies_from_then_on(bg: Any) -> None:
    mask = bg.asarray([True, False])
    for name in ("int32", "int64", "int32"):
        before = bg.set_default_int(name)
        try:
            assert (mask + 1).dtype == name
            assert bg.where(mask, 1, 2).dtype == name
        finally:
            bg.set_default_int(before)


def test_invalid_arguments_are_refused(bg: Any) -> None:
    for dtype in ("int16", "uint64", "float32"):
        with pytest.raises(ValueError, match="int32 or int64"):
            bg.set_default_int(dtype)


WITH_INTEGERS = (
    lambda xp, n, v, m, w: xp.bincount(n),
    lambda xp, n, v, m, w: xp.histogram(w)[0],
    lambda xp, n, v, m, w: xp.histogram2d(w, w)[0],
    lambda xp, n, v, m, w: xp.digitize(w, xp.asarray([0.0, 0.3, 0.8])),
    lambda xp, n, v, m, w: xp.tril_indices(3)[0],
    lambda xp, n, v, m, w: xp.triu_indices_from(m[:, :3])[0],
    lambda xp, n, v, m, w: xp.diag_indices_from(m[:, :3])[0],
    lambda xp, n, v, m, w: xp.diag_indices(3)[0],
    lambda xp, n, v, m, w: xp.unravel_index(n, (2, 3))[0],
    lambda xp, n, v, m, w: xp.ravel_multi_index((n, n), (4, 5)),
    lambda xp, n, v, m, w: xp.searchsorted(n, n),
    lambda xp, n, v, m, w: xp.argwhere(n),
    lambda xp, n, v, m, w: xp.flatnonzero(n),
    lambda xp, n, v, m, w: xp.nonzero(m)[1],
    lambda xp, n, v, m, w: xp.where(n > 1)[0],
    lambda xp, n, v, m, w: xp.unique(n, return_inverse=True, return_counts=True, return_index=True)[
        1
    ],
    lambda xp, n, v, m, w: xp.unique(n, return_inverse=True, return_counts=True, return_index=True)[
        2
    ],
    lambda xp, n, v, m, w: xp.unique(n, return_inverse=True, return_counts=True, return_index=True)[
        3
    ],
    lambda xp, n, v, m, w: xp.argpartition(n, 2),
    lambda xp, n, v, m, w: xp.lexsort((n, n)),
    lambda xp, n, v, m, w: xp.indices((2, 3)),
    lambda xp, n, v, m, w: xp.nanargmax(v),
    lambda xp, n, v, m, w: xp.nanargmin(m, axis=0),
    lambda xp, n, v, m, w: xp.argmax(m, axis=0),
    lambda xp, n, v, m, w: xp.argsort(w),
    lambda xp, n, v, m, w: xp.count_nonzero(m, axis=0),
    lambda xp, n, v, m, w: xp.frexp(w)[1],
    lambda xp, n, v, m, w: xp.sum(n),
    lambda xp, n, v, m, w: xp.trace(m),
    lambda xp, n, v, m, w: xp.cumsum(n),
    lambda xp, n, v, m, w: xp.prod(n),
    lambda xp, n, v, m, w: xp.nansum(n),
    lambda xp, n, v, m, w: xp.nancumsum(n),
    lambda xp, n, v, m, w: xp.nanprod(n),
    lambda xp, n, v, m, w: xp.dot(n, n),
    lambda xp, n, v, m, w: xp.vander(n),
    lambda xp, n, v, m, w: xp.tri(3, dtype=int),
    lambda xp, n, v, m, w: xp.linalg.matrix_rank(m.astype("f4")),
    lambda xp, n, v, m, w: xp.convolve(n, n),
    lambda xp, n, v, m, w: xp.mask_indices(3, xp.triu)[0],
    lambda xp, n, v, m, w: xp.array([1, 2]),
    lambda xp, n, v, m, w: xp.arange(3),
    lambda xp, n, v, m, w: xp.full(3, 7),
    lambda xp, n, v, m, w: xp.linspace(0, 10, 3, dtype=int),
    lambda xp, n, v, m, w: xp.mgrid[0:3],
    lambda xp, n, v, m, w: xp.r_[1:4, 7],
    lambda xp, n, v, m, w: xp.ix_([0, 1], [1, 2])[0],
    lambda xp, n, v, m, w: xp.polyder(n),
    lambda xp, n, v, m, w: xp.random.randint(0, 5, 3),
    lambda xp, n, v, m, w: xp.random.permutation(4),
    lambda xp, n, v, m, w: xp.random.default_rng(0).integers(0, 5, 3),
    lambda xp, n, v, m, w: xp.random.default_rng(0).poisson(3.0, 3),
    lambda xp, n, v, m, w: xp.random.default_rng(0).binomial(5, 0.3, 3),
    lambda xp, n, v, m, w: xp.random.default_rng(0).geometric(0.3, 3),
    lambda xp, n, v, m, w: xp.random.default_rng(0).choice(5, 3),
    lambda xp, n, v, m, w: xp.random.default_rng(0).multinomial(5, [0.5, 0.5]),
    lambda xp, n, v, m, w: xp.add.reduce(n),
    lambda xp, n, v, m, w: xp.bitwise_count(n),
    lambda xp, n, v, m, w: xp.floor(n),
    lambda xp, n, v, m, w: xp.gcd(n, n),
    lambda xp, n, v, m, w: xp.packbits(n),
    lambda xp, n, v, m, w: xp.ptp(n),
    lambda xp, n, v, m, w: xp.diff(n),
    lambda xp, n, v, m, w: xp.ediff1d(n),
    lambda xp, n, v, m, w: m @ m.T,
    lambda xp, n, v, m, w: xp.asarray(m.shape),
)


@pytest.mark.skipif(sys.platform == "emscripten", reason="NumPy's own integers have 32 bits there")
@pytest.mark.parametrize("call", WITH_INTEGERS, ids=range(len(WITH_INTEGERS)))
def test_integers_have_the_dtypes_of_numpy(bg: Any, call: Callable[..., Any]) -> None:
    n, m = np.int32([3, 1, 2, 1]), np.arange(12, dtype=np.int32).reshape(3, 4)
    v, w = np.float32([0.5, 0.1, np.nan, 0.7]), np.float32([0.5, 0.1, 0.2, 0.9])
    expected = demoted(call(np, n, v, m, w))
    found = call(bg, *map(bg.asarray, (n, v, m, w)))
    assert np.asarray(found).dtype == expected.dtype
