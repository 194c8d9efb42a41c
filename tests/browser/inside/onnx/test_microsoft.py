"""Operators of com.microsoft against NumPy. The full run compares them with onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.onnx.making import compute

pytestmark = pytest.mark.native

RNG = np.random.default_rng(11)
DOMAIN = "com.microsoft"


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("bits", [4, 8])
def test_products_with_few_bits(bg: Any, bits: int) -> None:
    k, n, block = 40, 6, 16
    blocks = 3
    a, scales = floats(3, k), floats(n * blocks)
    b = RNG.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8)
    numbers = b if bits == 8 else np.stack([b & 15, b >> 4], -1).reshape(n, blocks, block)
    weights = (numbers.astype(np.float32) - (1 << (bits - 1))) * scales.reshape(n, blocks, 1)
    want = a @ weights.reshape(n, -1)[:, :k].T
    (found,) = compute(
        bg, "MatMulNBits", [a, b, scales], domain=DOMAIN, K=k, N=n, bits=bits, block_size=block
    )
    np.testing.assert_allclose(found, want, rtol=1e-3, atol=1e-3 * abs(want).max())


def test_skipped_normalization(bg: Any) -> None:
    x, skip, gamma, bias = floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8)
    found = compute(bg, "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias],
                    domain=DOMAIN, epsilon=1e-5)  # fmt: skip
    total = x + skip + bias
    want = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5) * gamma
    np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-5)


def test_a_cache_that_grows_and_one_that_is_shared(bg: Any) -> None:
    heads, shared, width, before, total = 4, 2, 8, 5, 6
    q, k, v = (
        floats(2, 1, heads * width),
        floats(2, 1, shared * width),
        floats(2, 1, shared * width),
    )
    past = [floats(2, shared, before, width) for _ in range(2)]
    for extent in (before, 9):  # 9 places, of which 5 are filled
        caches = [np.pad(x, [(0, 0), (0, 0), (0, extent - before), (0, 0)]) for x in past]
        found = compute(
            bg, "GroupQueryAttention",
            [q, k, v, *caches, np.full(2, total - 1, np.int32), np.array(total, np.int32)],
            outputs=3, domain=DOMAIN, num_heads=heads, kv_num_heads=shared,
        )  # fmt: skip
        keys, values = (
            np.concatenate([one, new.reshape(2, 1, shared, width).transpose(0, 2, 1, 3)], 2)
            for one, new in zip(past, (k, v), strict=True)
        )
        np.testing.assert_allclose(found[1][:, :, :total], keys)
        queries = q.reshape(2, 1, heads, width).transpose(0, 2, 1, 3)
        wide = [np.repeat(x, heads // shared, 1) for x in (keys, values)]
        shares = softmax(queries @ wide[0].swapaxes(-1, -2) / np.sqrt(width))
        want = (shares @ wide[1]).transpose(0, 2, 1, 3).reshape(2, 1, -1)
        np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-5)


def test_quantised_sums(bg: Any) -> None:
    a, b = (RNG.integers(0, 256, (3, 4)).astype(np.uint8) for _ in range(2))
    scale = np.float32
    (found,) = compute(
        bg, "QLinearAdd",
        [a, scale(0.02), np.uint8(7), b, scale(0.03), np.uint8(9), scale(0.05), np.uint8(3)],
        domain=DOMAIN,
    )  # fmt: skip
    total = (a.astype(float) - 7) * 0.02 + (b.astype(float) - 9) * 0.03
    want = np.clip(np.rint(total / 0.05) + 3, 0, 255)
    assert abs(found.astype(float) - want).max() <= 1
