"""concat and stack of many arrays, which write each array once, to its final place."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from inside.arrays.data import DTYPES, assert_same, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

KINDS = ("in memory", "still to be computed", "turned", "a part of another", "repeated")


def as_kind(bg: Any, x: np.ndarray, kind: str) -> Any:
    """Return the elements as a GPU array, with the memory layout of ``kind`` or still pending."""
    array = bg.asarray(x)
    if kind == "still to be computed":
        return bg.flip(bg.flip(array)) if x.dtype.kind == "b" else array * 1
    if kind == "turned":
        return bg.asarray(np.ascontiguousarray(x.T)).T
    if kind == "a part of another":
        around = np.pad(x, 1)
        return bg.asarray(around)[(slice(1, -1),) * x.ndim]
    return array


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_of_all_lengths(bg: Any, dtype: str) -> None:
    for axis in (0, 1, -1, None):
        own = [sample(dtype, (4, n % 5, 6) if axis == 1 else (n % 5, 4, 6), n) for n in range(12)]
        if axis == -1:
            own = [np.ascontiguousarray(np.moveaxis(x, 0, -1)) for x in own]
        given = [as_kind(bg, x, KINDS[n % 4]) for n, x in enumerate(own)]
        assert_same(bg.concat(given, axis=axis), np.concatenate(own, axis=axis), f"axis {axis}")


#: Shapes of two arrays, and the axis; some extents are 1 or 0.
PAIRS = [
    ((3, 2), (4, 2), 0), ((1, 2), (1, 2), 0), ((1, 1), (1, 1), 1), ((0, 2), (3, 2), 0),
    ((3, 2), (0, 2), 0), ((0, 2), (0, 2), 0), ((2, 3), (2, 1), 1), ((2, 3), (2, 3), -1),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_two(bg: Any, dtype: str) -> None:
    """One kernel loads from both. Indices along axes of extent 1 or 0 are not loaded."""
    for a, b, axis in PAIRS:
        own = sample(dtype, a, 1), sample(dtype, b, 2)
        for kinds in product(KINDS[:4], repeat=2):
            given = [as_kind(bg, x, kind) for x, kind in zip(own, kinds, strict=True)]
            assert_same(bg.concat(given, axis=axis), np.concatenate(own, axis=axis), f"{a} {kinds}")


def test_one_that_is_left_is_a_copy(bg: Any) -> None:
    x = bg.ones(3)
    for found in (bg.concat([x]), bg.concat([x, bg.ones(0)])):
        found[0] = 5
    assert_same(x, np.ones(3, np.float32))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stacks(bg: Any, axis: int) -> None:
    for shape in ((3, 5), (8, 4)):
        own = [sample("float32", shape, n) for n in range(17)]
        given = [as_kind(bg, x, KINDS[n % 4]) for n, x in enumerate(own)]
        assert_same(bg.stack(given, axis=axis), np.stack(own, axis=axis))
    numbers = [bg.sum(bg.ones(n)) for n in range(1, 9)]
    assert_same(bg.stack(numbers), np.arange(1, 9, dtype=np.float32))


def test_dtypes_come_to_one(bg: Any) -> None:
    own = [sample(dtype, (3, 7)) for dtype in ("int8", "float16", "bool", "uint8", "float32")]
    for axis in (0, 1, None):
        given = [as_kind(bg, x, KINDS[n % 4]) for n, x in enumerate(own)]
        assert_same(bg.concat(given, axis=axis), np.concatenate(own, axis=axis))
    assert_same(bg.stack([bg.asarray(x) for x in own]), np.stack(own))


def test_repeated_views(bg: Any) -> None:
    row = np.arange(6, dtype=np.float32)
    own = [np.broadcast_to(row, (n, 6)) for n in range(1, 6)]
    given = [bg.broadcast_to(bg.asarray(row), x.shape) for x in own]
    assert_same(bg.concat(given), np.concatenate(own))


def test_the_same_array_many_times(bg: Any) -> None:
    x = bg.asarray(sample("float32", (3, 4)))
    assert_same(bg.concat([x] * 20, axis=1), np.tile(x.numpy(), (1, 20)))


def test_large_values_are_there_by_themselves_too(bg: Any) -> None:
    """Large parts are computed in the result's memory, smaller ones in their own."""
    x = np.arange(1 << 18, dtype=np.float32)
    a = bg.asarray(x)
    parts = [a + 1.0, a * 2.0, a.astype("int32"), a]
    whole = bg.concat(parts)
    whole[0] = -5
    parts[1][0] = 7
    np.testing.assert_array_equal(parts[0].numpy(), x + 1)
    np.testing.assert_array_equal(parts[1][1:].numpy(), 2 * x[1:])
    np.testing.assert_array_equal(parts[2].numpy(), x)
    expected = np.concatenate([x + 1, x * 2, x, x])
    expected[0] = -5
    np.testing.assert_array_equal(whole.numpy(), expected)
    larger = a * 3.0
    joined = bg.concat([larger, a[:9], a[:5]])
    del larger
    joined *= 2
    np.testing.assert_array_equal(joined.numpy(), 2 * np.concatenate([x * 3, x[:9], x[:5]]))


def test_later_writes_change_only_one_array(bg: Any) -> None:
    parts = [bg.ones((2, 3)) * n for n in range(5)]
    whole = bg.concat(parts)
    parts[2][...] = 9
    whole[0] = 8
    assert float(whole[4, 0]) == 2
    assert float(parts[0][0, 0]) == 0


def test_gradients_of_many_parts(bg: Any) -> None:
    own = [bg.asarray(sample("float32", (2, n))) for n in range(1, 6)]

    def loss(*parts: Any) -> Any:
        whole = bg.concat([x * 2.0 for x in parts], axis=1)
        return bg.sum(whole * bg.arange(15, dtype="float32"))

    found = bg.grad(loss, argnums=tuple(range(5)))(*own)
    begin = 0
    for x, got in zip(own, found, strict=True):
        expected = 2 * np.arange(begin, begin + x.shape[1], dtype=np.float32)
        assert_same(got, np.broadcast_to(expected, x.shape))
        begin += x.shape[1]


def test_a_captured_block_joins_current_values(bg: Any) -> None:
    parts = [bg.ones((2, 3)) for _ in range(5)]
    bg.eval(*parts)
    with bg.capture() as graph:
        whole = bg.concat([x + 1.0 for x in parts])
        stacked = bg.stack(parts, axis=1)
    for n, x in enumerate(parts):
        x[...] = n
    graph.replay()
    assert_same(whole, np.repeat(np.arange(5, dtype=np.float32) + 1, 6).reshape(10, 3))
    np.testing.assert_array_equal(stacked[0, :, 0].numpy(), np.arange(5))


def test_arrays_that_do_not_fit_together(bg: Any) -> None:
    x = bg.ones((2, 3))
    for wrong in (
        lambda: bg.concat([x, x, bg.ones((2, 4))]), lambda: bg.stack([x, x, bg.ones((3, 2))]),
        lambda: bg.concat([x] * 4, axis=2), lambda: bg.stack([x] * 4, axis=4), lambda: bg.stack([]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"(concat|concatenate|stack): "):
            wrong()
    assert bg.stack([x, x, np.zeros((2, 3))]).shape == (3, 2, 3), "NumPy's arrays are taken"
