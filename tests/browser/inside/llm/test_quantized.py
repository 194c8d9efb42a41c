"""Quantized matrices: their values, rows and products."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from inside.llm.blocks import COLUMNS, DIGESTS, FORMATS, ROWS, blocks, sane

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def _of(bg: Any, name: str, rows: int = ROWS, columns: int = COLUMNS) -> Any:
    return bg.llm.QuantizedArray(sane(name, rows, columns), (rows, columns), name)


@pytest.mark.parametrize("name", FORMATS)
def test_values_are_ggufs_bit_for_bit(bg: Any, name: str) -> None:
    weight = bg.llm.QuantizedArray(blocks(name), (ROWS, COLUMNS), name)
    values = np.asarray(weight.dequantize())
    assert hashlib.sha256(values.tobytes()).hexdigest() == DIGESTS[name]


@pytest.mark.fast
def test_rows_are_looked_up(bg: Any) -> None:
    weight = _of(bg, "Q4_K")
    values = np.asarray(weight.dequantize())
    assert np.array_equal(np.asarray(weight[[3, 0, -1]]), values[[3, 0, -1]])
    indices = bg.asarray(np.array([[1, 2], [4, 9]], np.int32))
    found = np.asarray(bg.nn.embedding(indices, weight))
    assert np.array_equal(found[0], values[[1, 2]])
    assert np.isnan(found[1, 1]).all()
    with pytest.raises(ValueError, match="rows of 5"):
        weight[5]
    with pytest.raises(ValueError, match="max_norm must be None"):
        bg.nn.embedding(indices, weight, max_norm=1.0)


@pytest.mark.parametrize("vectors", [1, 3, 8, 9, 70])
@pytest.mark.parametrize("name", ["Q8_0", "Q6_K"])
def test_products(bg: Any, name: str, vectors: int) -> None:
    weight = _of(bg, name, 67)
    values = np.asarray(weight.dequantize()).astype(np.float64)
    x = np.random.default_rng(vectors).standard_normal((vectors, COLUMNS)).astype(np.float32)
    bias = np.arange(67, dtype=np.float32)
    found = np.asarray(bg.nn.linear(bg.asarray(x), weight, bg.asarray(bias)))
    expected = x @ values.T + bias
    # at most eight vectors are rounded to 16 bits in the kernel
    scale = (np.abs(x) @ np.abs(values).T).max()
    assert np.abs(found - expected).max() < (1e-5 if vectors <= 8 else 1e-6) * scale
    assert np.array_equal(np.asarray(bg.asarray(x) @ weight.T + bg.asarray(bias)), found)


@pytest.mark.parametrize(("name", "columns"), [("Q4_0", 512), ("F16", 404)])
def test_products_of_many_vectors(bg: Any, name: str, columns: int) -> None:
    """Devices with subgroup matrices round to float16. Vectors of any magnitude keep its digits."""
    weight = _of(bg, name, 300, columns)
    values = np.asarray(weight.dequantize()).astype(np.float64)
    random = np.random.default_rng(columns)
    x = random.standard_normal((75, columns)).astype(np.float32)
    x *= 10.0 ** np.linspace(-25, 25, 75, dtype=np.float32)[:, None]
    x[3, 7], x[5, 1] = np.nan, np.inf
    bias = random.standard_normal(300).astype(np.float32)
    with np.errstate(invalid="ignore"):
        expected = x.astype(np.float64) @ values.T + bias
        bound = np.abs(x).astype(np.float64) @ np.abs(values).T
    finite = np.isfinite(expected).all(axis=1)
    assert finite.sum() == 73
    is_rounded = "chromium-experimental-subgroup-matrix" in bg.default_device().features
    for _ in range(3):  # the first results may be of other kernels
        product = bg.nn.linear(bg.asarray(x), weight)
        for found in (
            np.asarray(bg.nn.linear(bg.asarray(x), weight, bg.asarray(bias))),
            np.asarray(product + bg.asarray(np.tile(bias, (75, 1)))),
        ):
            allowed = (2.0**-10 if is_rounded else 1e-6) * bound + 1e-6 * np.abs(expected)
            assert (np.abs(found - expected)[finite] <= allowed[finite]).all()
            assert not np.isfinite(found[~finite]).any()


@pytest.mark.parametrize("name", ["Q4_K", "F16"])
@pytest.mark.parametrize("value", [np.inf, np.nan, 1e-38, 1e37])
def test_products_of_extreme_numbers(bg: Any, name: str, value: float) -> None:
    """A vector with NaN or infinity has no finite product. Others are as exact as usual."""
    weight = _of(bg, name, 9)
    values = np.asarray(weight.dequantize()).astype(np.float64)
    x = np.zeros((1, COLUMNS), np.float32)
    x[0, 37] = value
    found = np.asarray(bg.nn.linear(bg.asarray(x), weight))
    if not np.isfinite(value):
        assert not np.isfinite(found[:, values[:, 37] != 0]).any()
        return
    expected = x.astype(np.float64) @ values.T
    assert np.allclose(found, expected, rtol=1e-4, atol=max(1e-5 * np.abs(expected).max(), 1e-34))


@pytest.mark.all
@pytest.mark.parametrize("vectors", [1, 5, 17])
@pytest.mark.parametrize("name", FORMATS)
def test_products_of_every_format(bg: Any, name: str, vectors: int) -> None:
    test_products(bg, name, vectors)


def test_few_columns_and_leading_axes(bg: Any) -> None:
    """Rows of one block, and columns that no kernel's step divides."""
    for name, columns in (("F16", 4), ("Q4_0", 96), ("BF16", 20)):
        weight = _of(bg, name, 9, columns)
        values = np.asarray(weight.dequantize())
        x = np.random.default_rng(1).standard_normal((2, 1, 6, columns)).astype(np.float32)
        for part in (x, x[:, :, :2]):
            found = np.asarray(bg.asarray(part) @ weight.T)
            assert found.shape == (*part.shape[:-1], 9)
            expected = part.astype(np.float64) @ values.T.astype(np.float64)
            assert np.abs(found - expected).max() < 2e-5 * max(np.abs(expected).max(), 1)


def test_gradient_of_the_input(bg: Any) -> None:
    weight = _of(bg, "Q5_1", 6, 64)
    x = bg.asarray(np.random.default_rng(2).standard_normal((3, 64)).astype(np.float32))
    slope = bg.grad(lambda v: bg.sum(bg.nn.linear(v, weight) ** 2))(x)
    values = np.asarray(weight.dequantize())
    expected = 2 * (np.asarray(x) @ values.T) @ values
    assert np.allclose(np.asarray(slope), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_products_are_captured(bg: Any) -> None:
    weight = _of(bg, "Q8_0")
    x = bg.ones((1, COLUMNS))
    with bg.capture() as graph:
        y = bg.nn.linear(x, weight)
    first = np.asarray(y)
    x[...] = 2 * bg.ones((1, COLUMNS))
    graph.replay()
    assert np.array_equal(np.asarray(y), 2 * first)


@pytest.mark.fast
def test_bad_arguments(bg: Any) -> None:
    array = bg.llm.QuantizedArray
    with pytest.raises(ValueError, match="format must be one of F16, Q4_0"):
        array(b"", (1, 32), "Q9_9")
    with pytest.raises(ValueError, match="multiple of 256 columns for Q4_K, got 32 columns"):
        array(b"", (1, 32), "Q4_K")
    with pytest.raises(ValueError, match="have 36 bytes"):
        array(bytes(35), (2, 32), "Q4_0")
    with pytest.raises(TypeError, match="data must be bytes"):
        array([1, 2], (2, 32), "Q4_0")
    weight = _of(bg, "Q8_0")
    with pytest.raises(ValueError, match="512 elements on the last axis"):
        bg.nn.linear(bg.ones((2, 32)), weight)
    with pytest.raises(TypeError, match="float32 or float16"):
        weight.dequantize("int32")
