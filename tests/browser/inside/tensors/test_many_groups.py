"""Grids of more workgroups than one dimension allows, which fold into two.

Most kernels give a row or 256 elements to a workgroup, and SwiftShader needs minutes for 65,536
workgroups. The tests therefore lower the limit. test_grids.py covers other interfaces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.tensors import reference, tolerances
from inside.tensors.lab import Bench, assert_close, floats, on_bench
from inside.tolerances import Tolerance

ROWS = 23


@pytest.fixture(autouse=True)
def narrow_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow 5 workgroups in a dimension; 23 workgroups make 5 × 5, two of which must do nothing."""
    from browsergpu.engine.core import grids

    monkeypatch.setattr(grids, "MAX_PER_DIMENSION", 5)
    assert grids.fold(ROWS) == (5, 5, 1)


# Rows for 4 threads and for one, word by word and as vec4s; then columns, each in one workgroup or
# shared by several.
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((ROWS * 64 - 3, 40), 1), ((ROWS * 256 - 3, 2), 1), ((3, ROWS * 256 - 3), 0),
     ((ROWS * 250, 33), 0)],
    ids=str,
)  # fmt: skip
def test_softmax(tensors: Any, shape: tuple[int, int], axis: int) -> None:
    x = floats(1, *shape)
    with on_bench(tensors) as bench:
        out = bench.new(shape)
        tensors.softmax(bench.up(x), out, axis)
        assert_close(bench.get(out), reference.softmax(x, axis), tolerances.softmax(x, axis))


@pytest.mark.parametrize("shape", [(ROWS * 256 - 3, 7), (ROWS * 64 - 3, 40), (4, 90_001)], ids=str)
def test_layer_norm(tensors: Any, shape: tuple[int, int]) -> None:
    x, gamma, beta = floats(1, *shape), floats(2, shape[1]), floats(3, shape[1])
    with on_bench(tensors) as bench:
        out = bench.new(x.shape)
        tensors.layer_norm(bench.up(x), bench.up(gamma), bench.up(beta), out, 1e-5)
        expected = reference.layer_norm(x, gamma, beta, 1e-5)
        assert_close(bench.get(out), expected, tolerances.layer_norm(x, gamma, beta, 1e-5))


@pytest.mark.parametrize("shape", [(ROWS * 256 - 3, 7), (ROWS * 64 - 3, 40)], ids=str)
def test_cross_entropy(tensors: Any, shape: tuple[int, int]) -> None:
    x, targets = floats(1, *shape), np.arange(shape[0], dtype=np.int32) % 7
    with on_bench(tensors) as bench:
        loss, probs = bench.new(shape[:1]), bench.new(x.shape)
        tensors.cross_entropy(bench.up(x), bench.up(targets), loss, probs)
        expected = reference.cross_entropy(x, targets)
        assert_close(bench.get(loss), expected, tolerances.cross_entropy(x, expected))
        assert_close(bench.get(probs), reference.softmax(x, -1), tolerances.softmax(x, -1))


@pytest.mark.parametrize("length", [255, 1024])
def test_embedding(tensors: Any, length: int) -> None:
    weight = floats(1, 5, length)
    indices = np.arange(ROWS, dtype=np.int32) % 5
    with on_bench(tensors) as bench:
        out = bench.new((ROWS, length))
        tensors.embedding(bench.up(indices), bench.up(weight), out)
        assert_same_bits(bench.get(out), weight[indices], "rows")


def test_whole_numbers(tensors: Any) -> None:
    x = np.arange(ROWS * 256 * 2, dtype=np.int32).reshape(2, -1)
    with on_bench(tensors) as bench:
        handle, columns = bench.up(x), bench.new(x.shape[1:], "i32")
        tensors.reduce_sum(handle, columns, 0)
        assert_same_bits(bench.get(columns), x.sum(0, dtype=np.int32), "sums")
        tensors.pointwise_add(handle, handle, handle)
        assert_same_bits(bench.get(handle), x + x, "doubled")


@pytest.mark.parametrize("dtype", ["f16", "u8"])
def test_casts(tensors: Any, dtype: str) -> None:
    size = ROWS * 1024 - 1
    x = (np.arange(size) % 256).astype({"f16": np.float16, "u8": np.uint8}[dtype]).reshape(-1, 1)
    with on_bench(tensors) as bench:
        out = bench.new(x.shape, dtype)
        operation = tensors.relu if dtype == "f16" else lambda a, b: tensors.contrast(a, b, 1.0)
        operation(bench.up(x), out)
        assert_same_bits(bench.get(out), x, dtype)


def test_adam(tensors: Any) -> None:
    n = ROWS * 256
    gradient = floats(1, n)
    with on_bench(tensors) as bench:
        param, m, v = (bench.up(np.zeros(n, np.float32)) for _ in range(3))
        tensors.adam_update(param, bench.up(gradient), m, v, 0.5, 0.9, 0.999, 0.0, 1)
        expected = -0.5 * np.sign(gradient)
        assert_close(bench.get(param), expected, Tolerance(1e-6, 0.0, "a step of lr"))


def filtered(bench: Bench, image: np.ndarray, op: str, *numbers: float) -> np.ndarray:
    out = bench.new(image.shape)
    getattr(bench.tensors, op)(bench.up(image), out, *numbers)
    return bench.get(out)


def test_images(tensors: Any) -> None:
    image = np.random.default_rng(1).random((ROWS * 8, 32)).astype(np.float32)
    wide = np.random.default_rng(2).random((11, 300, 1)).astype(np.float32)
    with on_bench(tensors) as bench:
        assert_close(filtered(bench, image, "invert_colors"), 1.0 - image.astype(float),
                     tolerances.IMAGE)  # fmt: skip
        expected = np.clip(reference.sharpened(image.astype(float)), 0, 1)
        assert_close(filtered(bench, image, "sharpen"), expected, tolerances.IMAGE)
        for picture in (wide, np.ascontiguousarray(wide.transpose(1, 0, 2))):
            expected = reference.blurred(picture.astype(float), 1.5)
            result = filtered(bench, picture, "gaussian_blur", 1.5)
            assert_close(result, expected, tolerances.blur(1.5))
