"""attention against float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, on_gpu, random_array

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def run_attention(
    backend: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, causal: bool
) -> np.ndarray:
    batch, heads, seq_q, head_dim = q.shape
    with on_gpu(backend) as gpu:
        pointers = [gpu.upload(x) for x in (q, k, v)]
        o = gpu.upload(np.append(np.full(q.size, np.nan, np.float32), np.float32(SENTINEL)))
        backend.attention(*pointers, o, batch, heads, seq_q, k.shape[2], head_dim, scale, causal)
        result = gpu.download(o, q.size + 1)
    assert_same_bits(result[-1:], np.full(1, SENTINEL, np.float32), "element behind the output")
    return result[:-1].reshape(q.shape)


def check(
    backend: Any,
    sizes: tuple[int, int, int, int, int],
    causal: bool,
    scale: float | None = None,
    seed: int = 1,
) -> None:
    batch, heads, seq_q, seq_kv, head_dim = sizes
    scale = 1 / np.sqrt(head_dim) if scale is None else scale
    q = random_array(seed, batch, heads, seq_q, head_dim)
    k = random_array(seed + 1, batch, heads, seq_kv, head_dim)
    v = random_array(seed + 2, batch, heads, seq_kv, head_dim)
    assert_matches(
        run_attention(backend, q, k, v, scale, causal),
        reference.attention(q, k, v, scale=scale, causal=causal),
        **tolerances.attention(q, k, v, scale)._asdict(),
    )


HEAD_DIMS = [1, 2, 3, 7, 16, 31, 32, 33, 63, 64, 65, 67, 97, 127, 128, 129, 130, 200]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_head_dims(backend: Any, head_dim: int, causal: bool) -> None:
    check(backend, (1, 2, 5, 7, head_dim), causal)


@pytest.mark.fast
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("seq_q", "seq_kv"),
    [(1, 1), (1, 5), (5, 1), (1, 200), (200, 1), (31, 33), (32, 32), (33, 31), (64, 64),
     (65, 63), (97, 101), (3, 130), (130, 3)],
)  # fmt: skip
def test_sequence_lengths(backend: Any, seq_q: int, seq_kv: int, causal: bool) -> None:
    check(backend, (1, 1, seq_q, seq_kv, 19), causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("batch", "heads"), [(1, 1), (3, 1), (1, 5), (2, 3), (7, 11)])
def test_batches_and_heads(backend: Any, batch: int, heads: int, causal: bool) -> None:
    check(backend, (batch, heads, 9, 11, 13), causal)


@pytest.mark.parametrize("scale", [1e-6, 0.125, 1.0, 2.5])
def test_scale_multiplies(backend: Any, scale: float) -> None:
    check(backend, (1, 2, 13, 17, 8), False, scale)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [100.0, 1e4])
def test_large_scores_do_not_overflow(backend: Any, size: float, causal: bool) -> None:
    # exp(score) alone would be infinite. Powers of two in q and k keep the scores exact, so only
    # the softmax rounds.
    generator = np.random.default_rng(1)
    q = generator.choice([-1.0, 1.0, 2.0, -2.0], (1, 2, 40, 4)).astype(np.float32)
    k = generator.choice([-1.0, 1.0, 0.5, -0.5], (1, 2, 70, 4)).astype(np.float32)
    v = random_array(2, 1, 2, 70, 4)
    result = run_attention(backend, q, k, v, size, causal)
    assert_matches(
        result,
        reference.attention(q, k, v, scale=size, causal=causal),
        rtol=0.0,
        atol=(3 + 2 * 40 + 70) * tolerances.ULP * 2.0,
        why="exact scores; exp is 3 + 2|x| ULP where its value counts (|x| < 40), 70 weights",
    )


def test_scores_that_fall_and_rise_along_the_keys(backend: Any) -> None:
    # The running maximum changes at every key, or never.
    for direction in (1.0, -1.0):
        ramp = direction * np.linspace(-30.0, 30.0, 150)
        k = np.ones((1, 1, 150, 1), np.float32) * ramp[None, None, :, None].astype(np.float32)
        q = np.ones((1, 1, 3, 1), np.float32)
        v = random_array(3, 1, 1, 150, 1)
        assert_matches(
            run_attention(backend, q, k, v, 1.0, False),
            reference.attention(q, k, v, scale=1.0, causal=False),
            **tolerances.attention(q, k, v, 1.0)._asdict(),
        )


def test_the_first_query_of_a_causal_row_sees_one_key(backend: Any) -> None:
    q, k, v = (random_array(seed, 2, 3, 40, 5) for seed in (1, 2, 3))
    result = run_attention(backend, q, k, v, 0.5, True)
    assert_matches(
        result[:, :, 0], v[:, :, 0], rtol=4 * tolerances.ULP, atol=0.0,
        why="one weight of exp(0) / exp(0); 2.5 ULP of the division",
    )  # fmt: skip


@pytest.mark.fast
@pytest.mark.parametrize("causal", [False, True])
def test_nan_reaches_its_rows_only(backend: Any, causal: bool) -> None:
    q, k, v = (random_array(seed, 2, 2, 40, 5) for seed in (1, 2, 3))
    tolerance = tolerances.attention(q, k, v, 0.5)
    q[1, 0, 35, 4] = np.nan
    v[0, 1, 20, 3] = np.nan
    assert_nan_rows_match(backend, q, k, v, causal, tolerance)


def assert_nan_rows_match(
    backend: Any,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool,
    tolerance: tolerances.Tolerance,
) -> None:
    """Compare only the rows that cannot see the NaN.

    A masked key has weight 0, and a kernel may or may not add 0 × NaN.
    """
    result = run_attention(backend, q, k, v, 0.5, causal)
    expected = reference.attention(q, k, v, scale=0.5, causal=causal)
    if causal:
        result[0, 1, :20, 3] = 0.0
        expected[0, 1, :20, 3] = 0.0
    assert_matches(result, expected, **tolerance._asdict())


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4, 5), (2, 0, 3, 4, 5), (1, 2, 0, 4, 5)])
def test_empty_outputs(backend: Any, sizes: tuple[int, int, int, int, int]) -> None:
    batch, heads, seq_q, seq_kv, head_dim = sizes
    q = np.zeros((batch, heads, seq_q, head_dim), np.float32)
    k = np.zeros((batch, heads, seq_kv, head_dim), np.float32)
    assert run_attention(backend, q, k, k, 1.0, False).size == 0


def test_no_matrix_of_scores_is_kept(backend: Any) -> None:
    # 4,099² scores would take 64 MiB; q, k, v and o take 64 KiB.
    length = 4099
    q, k, v = (random_array(seed, 1, 1, length, 1) for seed in (1, 2, 3))
    memory = backend.device.memory
    before = memory.allocated  # freed buffers stay allocated, in the pool
    run_attention(backend, q, k, v, 1.0, True)
    assert memory.allocated - before < 2**20


def each_able(backend: Any, head_dim: int) -> Iterator[str]:
    """Yield the variants for a head_dim one after another, and check that each one ran."""
    variants = backend.device.variants
    for variant in variants.available("attention"):
        if variant.traits.get("head_dim", head_dim) == head_dim:
            with variants.only("attention", variant.name) as forced:
                yield variant.name
                assert forced.was_used, variant.name


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", [32, 64, 128])
def test_every_variant(backend: Any, head_dim: int, causal: bool) -> None:
    sizes = [(1, 1, 1, 1), (1, 2, 5, 7), (2, 3, 49, 33), (1, 1, 97, 131), (1, 2, 64, 128)]
    for _ in each_able(backend, head_dim):
        for batch, heads, seq_q, seq_kv in sizes:
            check(backend, (batch, heads, seq_q, seq_kv, head_dim), causal)
        check(backend, (1, 1, 70, 70, head_dim), causal, 1e-44)
        check(backend, (1, 1, 70, 70, head_dim), causal, 2.5)


def test_every_variant_where_maxima_rise_and_fall(backend: Any) -> None:
    head_dim = 64
    generator = np.random.default_rng(1)
    steps = generator.permutation(np.linspace(-300.0, 300.0, 200)).astype(np.float32)
    q, v = random_array(1, 1, 1, 50, head_dim), random_array(2, 1, 1, 200, head_dim)
    q[..., 0] = np.where(np.arange(50) % 2, 1.0, -1.0)
    k = np.zeros((1, 1, 200, head_dim), np.float32)
    tolerance = tolerances.attention(q[..., :1], steps[None, None, :, None], v, 1.0)
    for order in (steps, np.sort(steps), np.sort(steps)[::-1]):
        k[0, 0, :, 0] = order
        for name in each_able(backend, head_dim):
            for causal in (False, True):
                result = run_attention(backend, q, k, v, 1.0, causal)
                expected = reference.attention(q, k, v, scale=1.0, causal=causal)
                assert_matches(result, expected, **tolerance._asdict())
                assert np.isfinite(result).all(), name


@pytest.mark.parametrize("head_dim", [32, 64, 128])
def test_nan_reaches_its_rows_only_in_every_variant(backend: Any, head_dim: int) -> None:
    q, k, v = (random_array(seed, 2, 2, 40, head_dim) for seed in (1, 2, 3))
    tolerance = tolerances.attention(q, k, v, 0.5)
    q[1, 0, 35, 4] = np.nan
    v[0, 1, 20, 3] = np.nan
    for _ in each_able(backend, head_dim):
        for causal in (False, True):
            assert_nan_rows_match(backend, q, k, v, causal, tolerance)


def test_infinite_scores_in_every_variant(backend: Any) -> None:
    q, k, v = (random_array(seed, 1, 1, 70, 64) for seed in (1, 2, 3))
    q[..., 0] = 1.0
    tolerance = tolerances.attention(q, k, v, 0.1)
    k[0, 0, :3, 0] = k[0, 0, 65, 0] = -np.inf
    seen = np.isfinite(k[0, 0, :, 0])
    expected = reference.attention(q, k[:, :, seen], v[:, :, seen], scale=0.1, causal=False)
    for _ in each_able(backend, 64):
        result = run_attention(backend, q, k, v, 0.1, False)
        assert_matches(result, expected, **tolerance._asdict())


@given(data=st.data())
def test_any_sizes(backend: Any, data: st.DataObject) -> None:
    draw = data.draw
    sizes = (
        draw(st.integers(1, 2), "batch"), draw(st.integers(1, 3), "heads"),
        draw(st.integers(1, 70), "seq_q"), draw(st.integers(1, 70), "seq_kv"),
        draw(st.integers(1, 70), "head_dim"),
    )  # fmt: skip
    check(backend, sizes, draw(st.booleans(), "causal"), seed=draw(st.integers(0, 99), "seed"))
