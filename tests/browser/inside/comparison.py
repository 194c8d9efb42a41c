"""The comparison used by all tests of results."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


def assert_matches(
    actual: np.ndarray,
    expected: ArrayLike,
    *,
    rtol: ArrayLike,
    atol: ArrayLike,
    why: str,
    dtype: DTypeLike = np.float32,
) -> None:
    """Check a GPU result against a float64 reference.

    The order is: dtype and shape, positions of NaN and infinities, then values. |actual - expected|
    must be at most ``atol + rtol * |expected|``. Both tolerances may be arrays with a value per
    element. A reference beyond the range of `dtype` counts as infinite. `why` is the reason for the
    tolerance and is part of the message.
    """
    expected = np.asarray(expected, np.float64)
    assert actual.dtype == np.dtype(dtype), f"dtype is {actual.dtype}, expected {np.dtype(dtype)}"
    assert actual.shape == expected.shape, f"shape is {actual.shape}, expected {expected.shape}"
    got = actual.astype(np.float64)
    with np.errstate(over="ignore"):
        rounded = expected.astype(dtype).astype(np.float64)

    _assert_same_places(got, rounded, np.isnan, "NaN")
    _assert_same_places(got, rounded, np.isposinf, "+inf")
    _assert_same_places(got, rounded, np.isneginf, "-inf")

    finite = np.isfinite(got)
    difference = np.zeros_like(got)
    np.subtract(got, expected, out=difference, where=finite)
    difference = np.abs(difference)
    allowed = np.broadcast_to(atol + np.asarray(rtol) * np.abs(expected), got.shape)
    wrong = finite & ~(difference <= allowed)
    if wrong.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(wrong, difference / allowed, 0.0)
        worst = _index(int(np.argmax(excess)), got.shape)
        raise AssertionError(
            f"{int(wrong.sum())} of {got.size} values differ; worst at {worst}: "
            f"got {got[worst]!r}, expected {expected[worst]!r}, off by {difference[worst]:.3g}, "
            f"allowed {allowed[worst]:.3g} ({why})"
        )


def assert_same_bits(actual: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Check that two arrays of one dtype and shape have the same bytes (NaN equal NaN)."""
    assert actual.dtype == expected.dtype, f"{what}: dtype {actual.dtype}, not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, not {expected.shape}"
    unequal = np.flatnonzero(
        np.frombuffer(actual.tobytes(), np.uint8) != np.frombuffer(expected.tobytes(), np.uint8)
    )
    if unequal.size:
        at = _index(int(unequal[0]) // actual.itemsize, actual.shape)
        raise AssertionError(
            f"{what}: {unequal.size} bytes differ; first at {at}: "
            f"got {actual[at]!r}, expected {expected[at]!r}"
        )


def _assert_same_places(got: np.ndarray, expected: np.ndarray, test: np.ufunc, name: str) -> None:
    wrong = test(got) != test(expected)
    if wrong.any():
        first = _index(int(np.argmax(wrong)), got.shape)
        raise AssertionError(
            f"{name} at the wrong {int(wrong.sum())} of {got.size} places; first at {first}: "
            f"got {got[first]!r}, expected {expected[first]!r}"
        )


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))
