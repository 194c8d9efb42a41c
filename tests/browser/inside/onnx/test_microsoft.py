"""Operators of com.microsoft against NumPy. The full run compares them with onnxruntime."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from inside.onnx import making
from inside.onnx.making import compute
from inside.spies import dispatched

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


def few_bits(
    bits: int, block: int, k: int, has_zeros: bool, dtype: Any = np.float16
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the initializers of a MatMulNBits, and the matrix that they describe."""
    n, blocks = 6, -(-k // block)
    b = RNG.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8)
    scales = floats(n * blocks).astype(dtype).astype(np.float32)
    numbers = b if bits == 8 else np.stack([b & 15, b >> 4], -1).reshape(n, blocks, block)
    weights = {"b": b, "s": scales}
    zeros: Any = 1 << (bits - 1)
    if has_zeros:
        # Differences of 8 bits must fit 8 bits.
        least, most = (0, 256) if bits == 4 else (128, 129)
        weights["z"] = RNG.integers(least, most, n * -(-blocks * bits // 8)).astype(np.uint8)
        rows = weights["z"].reshape(n, -1)
        nibbles = rows if bits == 8 else np.stack([rows & 15, rows >> 4], -1).reshape(n, -1)
        zeros = nibbles[:, :blocks, None].astype(np.float32)
    matrix = (numbers.astype(np.float32) - zeros) * scales.reshape(n, blocks, 1)
    return weights, matrix.reshape(n, -1)[:, :k]


def products(bg: Any, weights: dict[str, np.ndarray], **options: int) -> Any:
    names = "a b s z" if "z" in weights else "a b s"
    one = making.node("MatMulNBits", names, "y", DOMAIN, N=6, **options)
    data = making.model([one], [making.value("a")], "y", weights, com_microsoft=1)
    return bg.onnx.load(data)


@pytest.mark.parametrize(
    ("bits", "block", "k", "has_zeros", "format"),
    [(4, 32, 64, False, "Q4_0"), (4, 128, 96, False, "Q4_0"), (4, 32, 96, True, "Q5_0"),
     (8, 64, 64, False, "Q8_0"), (8, 32, 96, True, "Q8_0")],
)  # fmt: skip
def test_matrices_of_few_bits_stay_quantized(
    bg: Any, bits: int, block: int, k: int, has_zeros: bool, format: str
) -> None:
    weights, matrix = few_bits(bits, block, k, has_zeros)
    model = products(bg, weights, K=k, bits=bits, block_size=block)
    assert dict(model.named_parameters()) == {}
    assert [x.dtype.name for x in model.buffers()] == ["uint32"]
    (kept,) = (model.plan.arrays["b"],)
    assert (kept.format, kept.shape) == (format, (6, k))
    np.testing.assert_array_equal(kept.dequantize().numpy(), matrix)  # bit for bit
    a = floats(2, 3, k)
    want = a @ matrix.T
    x = bg.asarray(a)
    with dispatched(x.device) as names:
        found = model(x).numpy()
    assert len(names) == 1
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=3e-5 * abs(want).max())
    other = products(bg, weights, K=k, bits=bits, block_size=block)
    other.load_state_dict(model.state_dict())
    np.testing.assert_array_equal(deepcopy(other)(x).numpy(), found)
    half = model.to(dtype="float16")(x)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half.numpy(), want, rtol=1e-2, atol=1e-2 * abs(want).max())


def test_matrices_that_blocks_would_change_are_not_packed(bg: Any) -> None:
    weights, matrix = few_bits(4, 32, 64, False, np.float32)  # scales that float16 rounds
    tiny, small = few_bits(4, 32, 64, False)
    factor = np.float32(2.0**-16)
    tiny["s"], small = tiny["s"] * factor, small * factor  # and those that it may flush to zero
    short, narrow = few_bits(4, 16, 64, False)
    wide, apart = few_bits(8, 32, 64, True)
    wide["z"][...] = 3  # differences of 9 bits
    apart = (wide["b"].astype(np.float32) - 3) * wide["s"].reshape(6, 2, 1)
    for own, want, options in (
        (weights, matrix, {"bits": 4, "block_size": 32}), (tiny, small, {"block_size": 32}),
        (short, narrow, {"block_size": 16}),
        (wide, apart.reshape(6, -1), {"bits": 8, "block_size": 32}),
    ):  # fmt: skip
        model = products(bg, own, K=64, **options)
        assert "s" in dict(model.named_parameters())
        found = model(np.eye(64, dtype=np.float32)).numpy().T
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6 * abs(want).max())


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
