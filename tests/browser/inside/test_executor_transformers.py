"""KernelExecutor's attention and attention_block, against float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside import reference, tolerances
from inside.comparison import assert_matches
from inside.gpu import random_array
from inside.spies import dispatched
from inside.tolerances import F16_U, U

pytestmark = pytest.mark.native


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend.device)


def each_able(backend: Any, op: str, head_dim: int) -> Iterator[str]:
    """Yield the variants for a head_dim, one after another."""
    variants = backend.device.variants
    for variant in variants.available(op):
        if variant.traits.get("head_dim", head_dim) == head_dim:
            with variants.only(op, variant.name):
                yield variant.name


def run(executor: Any, *arrays: np.ndarray, **options: Any) -> np.ndarray:
    return executor.attention(*map(executor.from_numpy, arrays), **options).numpy()


# -- attention -------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 2)], ids=str)
def test_attention(executor: Any, lead: tuple[int, ...], causal: bool) -> None:
    q, k, v = (
        random_array(1, *lead, 9, 7),
        random_array(2, *lead, 11, 7),
        random_array(3, *lead, 11, 7),
    )
    result = run(executor, q, k, v, causal=causal)
    folded = [x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v)]
    expected = reference.attention(*folded, scale=7**-0.5, causal=causal).reshape(q.shape)
    rtol, atol, why = tolerances.attention(*folded, 7**-0.5)
    assert_matches(result, expected, rtol=rtol, atol=np.max(atol), why=why)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", [32, 64, 128, 24])
def test_attention_of_halves(backend: Any, executor: Any, head_dim: int, causal: bool) -> None:
    for seq_q, seq_kv in ((1, 1), (50, 33), (97, 130)):
        q, k, v = (
            random_array(seed, 2, 3, length, head_dim, dtype=np.float16)
            for seed, length in ((1, seq_q), (2, seq_kv), (3, seq_kv))
        )
        scale = 2 * head_dim**-0.5
        expected = reference.attention(q, k, v, scale=scale, causal=causal)
        exact = np.max(tolerances.attention(q, k, v, scale).atol)
        for _ in each_able(backend, "attention_f16", head_dim):
            result = run(executor, q, k, v, causal=causal, scale=scale)
            assert_matches(
                result, expected, dtype=np.float16, rtol=1.01 * F16_U,
                atol=exact + (2 * F16_U + seq_kv * 2.0**-25) * 2.0,
                why="weights and results are rounded to float16; |v| < 2",
            )  # fmt: skip


def test_attention_of_halves_where_maxima_rise(backend: Any, executor: Any) -> None:
    q, v = (random_array(seed, 1, 200, 64, dtype=np.float16) for seed in (1, 2))
    k = np.zeros((1, 200, 64), np.float16)
    q[..., 0] = np.where(np.arange(200) % 2, 1.0, -1.0)
    k[..., 0] = np.linspace(-250.0, 250.0, 200)
    folded = [x[None] for x in (q, k, v)]
    for causal in (False, True):
        expected = reference.attention(*folded, scale=1.0, causal=causal)[0]
        for name in each_able(backend, "attention_f16", 64):
            result = run(executor, q, k, v, causal=causal, scale=1.0)
            assert_matches(
                result, expected, dtype=np.float16, rtol=1.01 * F16_U,
                atol=(3 * F16_U + 200 * 2.0**-25) * 2.0, why=f"{name}: weights in float16; |v| < 2",
            )  # fmt: skip


@pytest.mark.parametrize("kind", [bool, np.float32, np.float16])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_attention_with_a_mask(executor: Any, kind: Any, dtype: Any) -> None:
    q, k, v = (random_array(seed, 2, 3, 17, 64, dtype=dtype) for seed in (1, 2, 3))
    kept = np.random.default_rng(4).random((2, 1, 1, 17)) > 0.4
    kept[..., 0] = True
    mask = kept if kind is bool else np.where(kept, 0.0, -np.inf).astype(kind)
    result = run(executor, q, k, v, mask=executor.from_numpy(mask), scale=0.1)
    for batch in range(2):
        seen = kept[batch, 0, 0]
        part = [q[batch : batch + 1], k[batch : batch + 1, :, seen], v[batch : batch + 1, :, seen]]
        expected = reference.attention(*part, scale=0.1, causal=False)[0]
        rtol, atol, why = tolerances.attention(*part, 0.1)
        rtol = rtol if dtype is np.float32 else 1.01 * F16_U
        assert_matches(
            result[batch], expected, rtol=rtol, atol=np.max(atol), why=why, dtype=dtype
        )  # fmt: skip


def test_a_mask_and_causal_together(executor: Any) -> None:
    q, k, v = (random_array(seed, 1, 1, 12, 64) for seed in (1, 2, 3))
    mask = np.zeros((12, 12), np.float32)
    mask[:, 3] = -np.inf
    result = run(executor, q, k, v, mask=executor.from_numpy(mask), causal=True)
    others = np.arange(12) != 3
    rows = [q[:, :, 4:], k[:, :, others], v[:, :, others]]
    padded = np.concatenate([np.zeros_like(q[:, :, :3]), rows[0]], axis=2)
    expected = reference.attention(padded, *rows[1:], scale=0.125, causal=True)[:, :, 3:]
    rtol, atol, why = tolerances.attention(q, k, v, 0.125)
    assert_matches(result[:, :, 4:], expected, rtol=rtol, atol=np.max(atol), why=why)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_attention_into_an_input(executor: Any, dtype: Any) -> None:
    q = random_array(1, 2, 40, 64, dtype=dtype)
    array = executor.from_numpy(q)
    fresh = executor.attention(array, array, array, causal=True).numpy()
    assert executor.attention(array, array, array, causal=True, out=array) is array
    np.testing.assert_array_equal(array.numpy(), fresh)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_attention_of_nothing(executor: Any, dtype: Any) -> None:
    q, none = np.ones((3, 5, 64), dtype), np.ones((3, 0, 64), dtype)
    assert (run(executor, q, none, none) == 0).all()
    assert run(executor, none, q, q).shape == (3, 0, 64)


# -- attention_block -------------------------------------------------------------------------------


def block(
    x: np.ndarray, w_qkv: np.ndarray, b_qkv: np.ndarray, w_out: np.ndarray, b_out: np.ndarray,
    heads: int, causal: bool,
) -> np.ndarray:  # fmt: skip
    """Return attention_block of [batch, seq, width] in float64."""
    x, w_qkv, b_qkv, w_out, b_out = (a.astype(np.float64) for a in (x, w_qkv, b_qkv, w_out, b_out))
    batch, seq, width = x.shape
    parts = (x @ w_qkv + b_qkv).reshape(batch, seq, 3, heads, width // heads)
    q, k, v = parts.transpose(2, 0, 3, 1, 4)
    mixed = reference.attention(q, k, v, scale=(width // heads) ** -0.5, causal=causal)
    return x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ w_out + b_out


def block_data(shape: tuple[int, ...], dtype: Any = np.float32) -> list[np.ndarray]:
    width = shape[-1]
    generator = np.random.default_rng(1)
    sizes = [shape, (width, 3 * width), (3 * width,), (width, width), (width,)]
    spreads = [1.0, width**-0.5, 0.5, width**-0.5, 0.5]
    return [
        (spread * generator.normal(size=size)).astype(dtype)
        for size, spread in zip(sizes, spreads, strict=True)
    ]


BLOCKS = [((5, 12), 3), ((2, 7, 8), 1), ((2, 70, 64), 1), ((33, 128), 4), ((2, 50, 192), 3)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("shape", "heads"), BLOCKS, ids=str)
def test_attention_block(
    backend: Any, executor: Any, shape: tuple[int, ...], heads: int, causal: bool
) -> None:
    data = block_data(shape)
    arrays = [executor.from_numpy(a) for a in data]
    expected = block(data[0].reshape(-1, *shape[-2:]), *data[1:], heads, causal).reshape(shape)
    bound = 16 * (shape[-1] + shape[-2] + 100) * U
    for _ in each_able(backend, "attention", shape[-1] // heads):
        result = executor.attention_block(*arrays, heads=heads, causal=causal).numpy()
        assert_matches(
            result, expected, rtol=bound, atol=bound,
            why="sums of width and of seq terms of about 1, rounded in float32",
        )  # fmt: skip


def test_attention_block_without_biases_and_in_place(executor: Any) -> None:
    x, w_qkv, _, w_out, _ = data = block_data((2, 20, 64))
    zeros = [np.zeros_like(b) for b in (data[2], data[4])]
    expected = block(x, w_qkv, zeros[0], w_out, zeros[1], 2, False)
    array = executor.from_numpy(x)
    weights = [executor.from_numpy(w) for w in (w_qkv, w_out)]
    result = executor.attention_block(array, weights[0], None, weights[1], None, heads=2, out=array)
    assert result is array
    bound = 16 * (64 + 20 + 100) * U
    assert_matches(array.numpy(), expected, rtol=bound, atol=bound, why="float32")


def test_attention_block_of_halves(executor: Any) -> None:
    data = block_data((2, 40, 64), np.float16)
    result = executor.attention_block(*map(executor.from_numpy, data), heads=1, causal=True)
    expected = block(*data, 1, True)
    assert_matches(
        result.numpy(), expected, dtype=np.float16, rtol=16 * F16_U, atol=16 * F16_U,
        why="what is between may be rounded to float16",
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(40, 64), (3, 64)])
def test_attention_block_reads_weights_of_float16(executor: Any, shape: tuple[int, int]) -> None:
    data = block_data(shape, np.float16)
    data[0] = data[0].astype(np.float32)
    arrays = [executor.from_numpy(a) for a in data]
    with dispatched(executor.device) as kernels:
        result = executor.attention_block(*arrays, heads=2)
    assert "cast" not in kernels
    expected = block(data[0][None], *data[1:], 2, False)[0]
    bound = 16 * (sum(shape) + 100) * U
    assert_matches(result.numpy(), expected, rtol=bound, atol=bound, why="rounded in float32")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x", {"x": (12,)}),
        ("w_qkv", {"w_qkv": (12, 35)}),
        ("w_out", {"w_out": (11, 12)}),
        ("b_qkv", {"b_qkv": (12,)}),
        ("b_out", {"b_out": (1, 12)}),
        ("heads", {"heads": 5}),
        ("heads", {"heads": 0}),
        ("causal", {"causal": 1}),
        ("out", {"out": (12, 5)}),
    ],
)
def test_attention_block_refuses(executor: Any, name: str, change: dict[str, Any]) -> None:
    from browsergpu.errors import InvalidArgument

    shapes = {"x": (5, 12), "w_qkv": (12, 36), "b_qkv": (36,), "w_out": (12, 12), "b_out": (12,)}
    given = {**shapes, "heads": 3, **change}
    arguments = {
        key: executor.empty(value) if isinstance(value, tuple) else value
        for key, value in given.items()
    }
    with pytest.raises(InvalidArgument, match=name):
        executor.attention_block(**arguments)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("q", {"q": (5,)}),
        ("k", {"k": (2, 3, 7, 5)}),
        ("k", {"k": (7, 4)}),
        ("v", {"v": (2, 3, 6, 4)}),
        ("mask", {"mask": (5, 6)}),
        ("scale", {"scale": 0.0}),
        ("causal", {"causal": None}),
        ("out", {"out": (2, 3, 7, 4)}),
    ],
)
def test_attention_refuses(executor: Any, name: str, change: dict[str, Any]) -> None:
    from browsergpu.errors import InvalidArgument

    given: dict[str, Any] = {"q": (2, 3, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 4), **change}
    arguments = {
        key: executor.empty(value) if isinstance(value, tuple) else value
        for key, value in given.items()
    }
    with pytest.raises(InvalidArgument, match=name):
        executor.attention(**arguments)
