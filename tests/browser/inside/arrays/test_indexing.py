"""Indexing and assignment to parts of arrays, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside.arrays.data import DTYPES, assert_same, sample

pytestmark = [pytest.mark.native, pytest.mark.firefox]

KEYS: list[Any] = [
    0, -1, ..., None, slice(None), slice(1, 3), slice(None, None, -1), slice(4, 0, -2), slice(9, 2),
    (slice(None), 2), (..., 1), (1, ..., None), (None, slice(1, None), None, ..., slice(0, 3, 2)),
    (2, 3, 1), (slice(-2, None), slice(None, -1), 0), (),
]  # fmt: skip
ARRAYS: list[Any] = [
    [0, 2, -1], ([0, 1], [2, 3]), (slice(None), [1, 1, 0]), (..., [2, 0]), ([[0, 1], [2, 3]], 1),
    ([0, 1], slice(None), [1, 2]), (np.array([[1], [2]]), np.array([0, 3])), ([], slice(None)),
    (None, [1], slice(0, 2)), ((0, 1), (2, 3)), (slice(None), (1, 0)), ((True, False) * 2,),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts(bg: Any, dtype: str) -> None:
    x = sample(dtype, (4, 5, 3))
    array = bg.asarray(x)
    for key in KEYS:
        assert_same(array[key], x[key], f"{dtype} {key}")
    for key in ARRAYS:
        assert_same(array[key], x[key], f"{dtype} {key}")


def test_parts_share_memory(bg: Any, backend: Any) -> None:
    array = bg.asarray(sample("float32", (40, 50)))
    before = backend.device.memory.buffers
    parts = [array[key] for key in ((1, 2), slice(3, 9), (slice(None, None, -1), 7), None)]
    parts += [array.T, array.mT, bg.broadcast_to(array, (3, 40, 50)), array.reshape(50, 40)]
    parts += [bg.flip(array), bg.moveaxis(array, 0, 1), bg.expand_dims(array, axis=1)]
    assert backend.device.memory.buffers == before
    assert len(parts) == 11


def test_index_arrays_on_the_gpu(bg: Any) -> None:
    x = sample("float32", (6, 4))
    array = bg.asarray(x)
    for dtype in ("int8", "int32", "uint16", "uint32"):
        at = np.array([0, 3, 5]).astype(dtype)
        assert_same(array[bg.asarray(at)], x[at], dtype)
    assert_same(array[bg.asarray([-1, -6])], x[[-1, -6]])
    # Indices out of bounds are clamped, because nothing is read back to check them.
    assert_same(array[bg.asarray([99, -99])], x[[5, 0]])
    assert_same(array[bg.asarray([[1, 2]]), 3], x[[[1, 2]], 3])
    assert_same(bg.take(array, bg.asarray([1, 0]), axis=1), x[:, [1, 0]])


def test_keys_that_are_refused(bg: Any) -> None:
    array = bg.asarray(sample("float32", (3, 4)))
    for key in (3, -4, (0, 4), (0, 0, 0), [3], ([0], [-5]), (..., ...)):
        with pytest.raises(IndexError):
            array[key]
    for key in (1.5, "a", [0.5], bg.asarray([1.5])):
        with pytest.raises(IndexError):
            array[key]
    with pytest.raises(IndexError):
        array[3] = 1.0
    with pytest.raises(ValueError, match="broadcasts"):
        array[0] = bg.asarray([1.0, 2.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_assignment(bg: Any, dtype: str) -> None:
    for number, key in enumerate(KEYS):
        x = sample(dtype, (4, 5, 3))
        array = bg.asarray(x)
        part = sample(dtype, x[key].shape, number + 1)
        x[key] = part
        array[key] = bg.asarray(part)
        assert_same(array, x, f"{dtype} {key}")
    x = sample(dtype, (4, 5, 3))
    array = bg.asarray(x)
    array[1:3, ::2] = True
    x[1:3, ::2] = True
    assert_same(array, x, dtype)
    mask = sample("bool", x.shape, 7)
    array[bg.asarray(mask)] = 0
    x[mask] = 0
    assert_same(array, x, dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
def test_assignment_by_arrays(bg: Any, dtype: str) -> None:
    for number, key in enumerate([*ARRAYS, ([3, 0, 3, -1], slice(None)), [2, 2, 2]]):
        x = sample(dtype, (4, 5, 3))
        array = bg.asarray(x)
        part = sample(dtype, x[key].shape, number + 1)
        x[key] = part
        array[key] = bg.asarray(part)
        assert_same(array, x, f"{dtype} {key}")
        x[key] = 1
        array[key] = 1
        assert_same(array, x, f"{dtype} {key}")
    x = sample(dtype, (40, 3))
    array = bg.asarray(x)
    at = np.array([5, 39, 0, 5, 17])
    array[bg.asarray(at)] = bg.asarray(x[:1])
    x[at] = x[:1].copy()
    assert_same(array, x, dtype)
    with pytest.raises(IndexError):
        array[[40]] = 1


def test_views_see_assignments(bg: Any) -> None:
    x = sample("float32", (4, 5))
    array = bg.asarray(x)
    part, doubled, same = array[1:], array * 2, array.T
    array[...] = 7.0
    array[0] = 5.0
    assert_same(doubled, x * 2)
    y = np.full((4, 5), 7.0, np.float32)
    y[0] = 5
    assert_same(array, y)
    assert_same(part, y[1:])
    assert_same(same, y.T)
    also = array
    array += 1
    assert_same(also, y + 1)  # it is the same object
    with pytest.raises(TypeError, match="float32"):
        array += 1j
    whole = bg.asarray([1, 2])
    with pytest.raises(TypeError):
        whole /= 2
    assert_same(whole, np.array([1, 2], "i8"))


@pytest.mark.parametrize("count", [1, 3, 1000, 4099])
@pytest.mark.parametrize("n", [1, 5, 4096, 10_007])
def test_the_last_value_counts_however_memory_is_divided(
    bg: Any, monkeypatch: pytest.MonkeyPatch, n: int, count: int
) -> None:
    """Assignments to large arrays are resolved in parts; here the parts have 64 bytes."""
    from browsergpu.arrays.lazy import scattered_write

    rng = np.random.default_rng(n + count)
    at, new = rng.integers(-n, n, count), rng.random(count, dtype=np.float32)
    expected = np.zeros(n, np.float32)
    expected[at] = new
    for most in (1, 3, 8):
        monkeypatch.setattr(scattered_write, "_CACHED", 64)
        monkeypatch.setattr(scattered_write, "_MANY", 1)
        monkeypatch.setattr(scattered_write, "_MOST_PARTS", most)
        x = bg.zeros(n)
        x[bg.asarray(at.astype(np.int32))] = bg.asarray(new)
        assert_same(x, expected, f"{most} parts")


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw a basic key for an array of the given shape."""
    items: list[Any] = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        if extent and draw(st.booleans()):
            items.append(draw(st.integers(-extent, extent - 1)))
        else:
            bound = st.none() | st.integers(-extent - 2, extent + 2)
            step = draw(st.none() | st.integers(-3, 3).filter(bool))
            items.append(slice(draw(bound), draw(bound), step))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@given(data=st.data())
def test_parts_of_parts_and_assignments(bg: Any, data: st.DataObject) -> None:
    x = sample("int32", (5, 4, 3))
    array = bg.asarray(x)
    for _ in range(data.draw(st.integers(1, 4))):
        key = data.draw(keys(x.shape))
        if data.draw(st.booleans()):
            x, array = np.array(x[key]), array[key]  # also for one element
        else:
            x = np.array(x)  # a key for all axes gives a number
            x[key] = 9
            array[key] = 9
        if data.draw(st.booleans()) and x.ndim > 1:
            x, array = x.T, array.T
    assert_same(array + 0, x)


def test_ranges_are_index_arrays(bg: Any) -> None:
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = bg.asarray(host, copy=True)
    for key in (
        range(3),
        range(3, -1, -2),
        (slice(None), range(1, 6, 2)),
        (range(2), range(2, 4)),
        range(0),
    ):
        np.testing.assert_array_equal(x[key].numpy(), host[key], strict=True)
        x[key] = -1
        host[key] = -1
        np.testing.assert_array_equal(x.numpy(), host)
    with pytest.raises(IndexError):
        _ = x[range(5)].numpy()
