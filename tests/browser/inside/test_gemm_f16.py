"""gemm_f16 in each of its variants against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import SENTINEL, each_variant, on_gpu, random_array

pytestmark = [pytest.mark.native, pytest.mark.firefox]


def run_f16(
    backend: Any, alpha: float, a: np.ndarray, b: np.ndarray, beta: float, c: np.ndarray
) -> np.ndarray:
    with on_gpu(backend) as gpu:
        pointers = [gpu.upload(x) for x in (a, b, c)]
        backend.gemm_f16(
            a.shape[0], b.shape[1], a.shape[1], alpha, *pointers[:2], beta, pointers[2]
        )
        return gpu.download(pointers[2], c.shape, np.float16)


def check(
    backend: Any, m: int, n: int, k: int, alpha: float = 1.0, beta: float = 0.0, seed: int = 1
) -> None:
    a = random_array(seed, m, k, dtype=np.float16)
    b = random_array(seed + 1, k, n, dtype=np.float16)
    c = random_array(seed + 2, m, n, dtype=np.float16)
    if beta == 0.0:  # C must not be read: its NaN would be visible
        c = np.full((m, n), np.nan, np.float16)
    scalars = {"trans_a": False, "trans_b": False, "alpha": alpha, "beta": beta}
    magnitude = reference.gemm_magnitude(a, b, np.nan_to_num(c), **scalars)
    assert_matches(
        run_f16(backend, alpha, a, b, beta, c),
        reference.gemm(a, b, c, **scalars),
        dtype=np.float16,
        **tolerances.gemm_f16(magnitude, k)._asdict(),
    )


# From one element to several tiles; thin matrices; and rows of whole vectors (n and k multiples of
# 8) or not.
SIZES = [
    (1, 1, 1), (1, 3, 5), (3, 1, 7), (7, 5, 9), (8, 8, 8), (32, 32, 32), (33, 31, 65),
    (64, 128, 16), (67, 45, 100), (130, 3, 17), (3, 131, 2), (128, 128, 64), (129, 136, 40),
    (200, 264, 96), (131, 135, 33), (1, 200, 64), (140, 33, 39), (61, 64, 71), (130, 67, 48),
    (1, 40, 500), (5, 72, 261), (130, 261, 131), (131, 264, 125), (150, 165, 176),
]  # fmt: skip


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.5, -1.5)])
def test_f16(backend: Any, m: int, n: int, k: int, alpha: float, beta: float) -> None:
    for _name in each_variant(backend.device, "gemm_f16"):
        check(backend, m, n, k, alpha, beta)


def test_the_picked_variants(backend: Any) -> None:
    for m, n, k in ((16, 16, 16), (256, 200, 72), (300, 333, 35)):
        check(backend, m, n, k)


@pytest.mark.fast
def test_f16_accumulates_in_float32(backend: Any) -> None:
    # 4,096 ones: a float16 sum would stop at 2,048, where adding one has no effect.
    m, k = 8, 4096
    a, b = np.ones((m, k), np.float16), np.ones((k, m), np.float16)
    for _name in each_variant(backend.device, "gemm_f16"):
        result = run_f16(backend, 1.0, a, b, 0.0, np.full((m, m), np.nan, np.float16))
        assert_matches(
            result, np.full((m, m), float(k)), rtol=0.0, atol=0.0, dtype=np.float16,
            why="whole numbers are exact",
        )  # fmt: skip


@pytest.mark.parametrize(("n", "k"), [(3, 2), (40, 48), (37, 35)])
def test_f16_overflow_and_nan(backend: Any, n: int, k: int) -> None:
    a = np.zeros((5, k), np.float16)
    a[:4, -2:] = [[60000.0, 60000.0], [-60000.0, -60000.0], [np.nan, 1.0], [np.inf, 1.0]]
    b = np.ones((k, n), np.float16)
    b[:, -1] = 2.0
    expected = reference.gemm(a, b, b, trans_a=False, trans_b=False, alpha=1.0, beta=0.0)
    for _name in each_variant(backend.device, "gemm_f16"):
        result = run_f16(backend, 1.0, a, b, 0.0, np.zeros((5, n), np.float16))
        assert_matches(
            result, expected, rtol=0.0, atol=0.0, dtype=np.float16, why="infinities and NaN only"
        )


def test_f16_sums_beyond_float16_come_back_into_it(backend: Any) -> None:
    # 600 * 600 overflows float16; alpha brings it back into range.
    a, b = np.full((8, 8), 600.0, np.float16), np.full((8, 8), 600.0, np.float16)
    for _name in each_variant(backend.device, "gemm_f16"):
        result = run_f16(backend, 2.0**-10, a, b, 0.0, np.zeros((8, 8), np.float16))
        assert_matches(
            result, np.full((8, 8), 8 * 600.0**2 / 1024), rtol=tolerances.F16_U, atol=0.0,
            dtype=np.float16, why="one rounding to float16",
        )  # fmt: skip


@pytest.mark.parametrize(("m", "n"), [(3, 5), (37, 35)])
def test_f16_keeps_the_memory_behind_c(backend: Any, m: int, n: int) -> None:
    # An odd number of halves ends in the middle of a word, whose other half is not part of C.
    a, b = random_array(1, m, 40, dtype=np.float16), random_array(2, 40, n, dtype=np.float16)
    for _name in each_variant(backend.device, "gemm_f16"):
        with on_gpu(backend) as gpu:
            c = gpu.filled(m * n + 5, SENTINEL, np.float16)
            backend.gemm_f16(m, n, 40, 1.0, gpu.upload(a), gpu.upload(b), 0.0, c)
            behind = gpu.download(c, m * n + 5, np.float16)[m * n :]
        assert_same_bits(behind, np.full(5, SENTINEL, np.float16), "elements behind C")


@pytest.mark.parametrize(("m", "n"), [(3, 5), (40, 48), (40, 37)])
def test_f16_without_steps_scales_c(backend: Any, m: int, n: int) -> None:
    a, b = np.zeros((m, 0), np.float16), np.zeros((0, n), np.float16)
    nans = np.full((m, 40), np.nan, np.float16)
    c = random_array(3, m, n, dtype=np.float16)
    for _name in each_variant(backend.device, "gemm_f16"):
        assert_same_bits(run_f16(backend, 1.0, a, b, 0.5, c), c * np.float16(0.5), "k = 0")
        zero = run_f16(backend, 0.0, nans, nans[:1].T.repeat(n, 1), 0.5, c)
        assert_same_bits(zero, c * np.float16(0.5), "alpha = 0: A and B are not read")


def test_f16_without_room_for_copies(monkeypatch: pytest.MonkeyPatch, backend: Any) -> None:
    monkeypatch.setattr(backend.device.facts, "largest_buffer", 150 * 168)
    for _name in each_variant(backend.device, "gemm_f16"):
        check(backend, 150, 165, 171)
