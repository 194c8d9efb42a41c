"""Test arrays, and comparisons with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

REALS = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32")
WHOLE = tuple(name for name in REALS if "int" in name)
FLOATS = ("float16", "float32")
NUMBERS = (*REALS, "complex64")
DTYPES = ("bool", *NUMBERS)


def sample(dtype: str, shape: Any, seed: int = 0) -> np.ndarray:
    """Return random elements: small numbers, of both signs if the dtype has them."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "i":
        return rng.integers(-100, 100, shape).astype(dtype)
    if kind == "u":
        return rng.integers(0, 200, shape).astype(dtype)
    values = rng.standard_normal(shape)
    if kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values, dtype)


_FLOATS = {"float64": "float32", "complex128": "complex64"}
_DEFAULTS = {"int32": "int64", "uint32": "uint64"}


def demoted(array: Any) -> np.ndarray:
    """Return NumPy's result with 32-bit floats."""
    return _as(array, _FLOATS)


def by_default(array: Any) -> np.ndarray:
    """Return NumPy's indices, counts or sums of smaller integers as 64-bit integers.

    In a page, NumPy's have 32 bits.
    """
    return _as(array, _DEFAULTS)


def _as(array: Any, names: dict[str, str]) -> np.ndarray:
    array = np.asarray(array)
    with np.errstate(over="ignore"):
        return array.astype(names.get(array.dtype.name, array.dtype), copy=False)


#: Operations that are exact for floats.
EXACT = (
    "abs", "ceil", "copysign", "equal", "floor", "greater", "greater_equal", "isfinite", "isinf",
    "isnan", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "negative", "nextafter", "not_equal", "positive", "real", "remainder",
    "round", "sign", "signbit", "trunc",
)  # fmt: skip
#: Units in the last place, for float16 rounded from float32.
ULPS = {"add": 1.0}


def assert_same(actual: Any, expected: Any, what: str = "", *, rtol: float = 0.0) -> None:
    """Compare an array with NumPy's: dtype, shape and values.

    Floats may differ by ``rtol`` of the largest one. Expected 64-bit floats count as 32-bit floats.
    """
    got = actual.numpy()
    expected = _as(expected, _FLOATS)
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype}, not {expected.dtype}"
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, not {expected.shape}"
    if rtol == 0.0:
        np.testing.assert_array_equal(got, expected, what)
        return
    finite = np.abs(expected[np.isfinite(expected)])
    largest = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * largest, err_msg=what)
