"""Discrete Fourier transforms against NumPy's in complex128."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits

pytestmark = [pytest.mark.native, pytest.mark.firefox]

#: Each radix alone and with others, one pass and several, and lengths that need a convolution.
LENGTHS = [*range(1, 41), 97, 128, 210, 243, 343, 1000, 1024, 1031, 2048, 4096, 6000, 65536]


@pytest.fixture
def executor(backend: Any) -> Any:
    from browsergpu import KernelExecutor

    return KernelExecutor(backend)


def random_complex(seed: int, *shape: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    real, imaginary = generator.standard_normal((2, *shape))
    return (real + 1j * imaginary).astype(np.complex64)


def pairs(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(np.float32).reshape(*array.shape, 2)


def transformed(
    executor: Any, x: np.ndarray, inverse: bool = False, scale: float = 1.0, axis: int = -1
) -> np.ndarray:
    from browsergpu.engine.tensors import fourier

    source, target = executor.from_numpy(pairs(x)), executor.empty((*x.shape, 2))
    fourier.transform(executor.device, "fft", source, target, inverse, scale, axis)
    assert_same_bits(source.numpy(), pairs(x), "input")
    result: np.ndarray = target.numpy().view(np.complex64)[..., 0]
    return result


def assert_near(found: np.ndarray, expected: np.ndarray, n: int, what: str = "") -> None:
    """Compare transforms within a bound on the rounding errors.

    Each of log2 n levels of sums adds a rounding error of about 2^-24 of the root mean square, and
    the error of a factor, 1e-7. A convolution is two transforms of up to four times the length, and
    three products.
    """
    assert found.shape == expected.shape
    from browsergpu.engine.kernels.fourier.fft_lengths import passes

    halves = {n, n // 2} - {0}
    allowed = 1e-7 * (1 + log2(n)) * (1 if all(map(passes, halves)) else 4)
    size = float(np.linalg.norm(expected))
    error = float(np.linalg.norm(found.astype(expected.dtype) - expected)) / (size or 1.0)
    assert error <= allowed, f"{what} {n}: relative error {error:.3g}, allowed {allowed:.3g}"


@pytest.mark.parametrize("inverse", [False, True])
def test_every_kind_of_length(executor: Any, inverse: bool) -> None:
    for n in LENGTHS:
        x = random_complex(n, 1 if n > 6000 else 3, n)
        exact = x.astype(np.complex128)
        expected = np.fft.ifft(exact) * n if inverse else np.fft.fft(exact)
        assert_near(transformed(executor, x, inverse), expected, n)


@pytest.mark.parametrize("shape", [(1, 30), (257, 5), (40, 60), (2, 3, 5, 8), (5, 1200), (19, 22)])
def test_batches(executor: Any, shape: tuple[int, ...]) -> None:
    x = random_complex(1, *shape)
    x[-1] *= 100  # reading the wrong row would be visible
    found = transformed(executor, x, scale=0.5)
    expected = 0.5 * np.fft.fft(x.astype(np.complex128))
    rows = (-1, shape[-1])
    for row, (one, other) in enumerate(
        zip(found.reshape(rows), expected.reshape(rows), strict=True)
    ):
        assert_near(one, other, shape[-1], f"row {row} of")


@pytest.mark.parametrize(
    "shape", [(2, 7, 3), (1, 13, 5), (3, 256, 5), (2, 300, 3), (1, 1030, 2), (5, 8, 700), (4, 1, 6)]
)
def test_other_axes(executor: Any, shape: tuple[int, int, int]) -> None:
    x = random_complex(3, *shape)
    for axis in (0, 1, -2, -1):
        found = transformed(executor, x, axis=axis)
        expected = np.fft.fft(x.astype(np.complex128), axis=axis)
        assert_near(found, expected, shape[axis], f"axis {axis} of {shape}")


@pytest.mark.parametrize("n", [1, 12, 97, 1000, 2310])
def test_there_and_back(executor: Any, n: int) -> None:
    x = random_complex(n, 2, n)
    back = transformed(executor, transformed(executor, x), inverse=True, scale=1 / n)
    assert_near(back, x.astype(np.complex128), max(n, 2) ** 2)


@pytest.mark.parametrize("n", [8, 45, 49, 1021, 1024, 5000])
def test_each_number_of_a_tone(executor: Any, n: int) -> None:
    """The transform of a single 1 is a row of factors, each of which must be right."""
    for at in {1, n // 3, n - 1}:
        x = np.zeros((1, n), np.complex64)
        x[0, at] = 1
        expected = np.exp(-2j * np.pi * (np.arange(n) * at % n) / n)
        error = np.abs(transformed(executor, x)[0] - expected).max()
        assert error < (4e-6 if n == 1021 else 1e-6), f"{n} at {at}: {error:.3g}"


@pytest.mark.parametrize("n", [*range(1, 21), 97, 128, 1000, 1031, 2062, 4096, 6001])
def test_real_numbers_there_and_back(executor: Any, n: int) -> None:
    from browsergpu.engine.tensors import fourier

    x = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32)
    source, half = executor.from_numpy(x), executor.empty((3, n // 2 + 1, 2))
    fourier.of_real(executor.device, "rfft", source, half, 0.25)
    expected = 0.25 * np.fft.rfft(x.astype(np.float64))
    assert_near(half.numpy().view(np.complex64)[..., 0], expected, n, "rfft")
    back = executor.empty((3, n))
    fourier.to_real(executor.device, "irfft", half, back, 4.0 / n)
    assert_near(back.numpy(), x.astype(np.float64), n**2, "irfft")


@pytest.mark.parametrize("n", [1, 2, 7, 8, 22, 35, 1000])
def test_imaginary_parts_that_do_not_count(executor: Any, n: int) -> None:
    from browsergpu.engine.tensors import fourier

    x = random_complex(n, 2, n // 2 + 1)
    target = executor.empty((2, n))
    fourier.to_real(executor.device, "irfft", executor.from_numpy(pairs(x)), target, 1.0)
    assert_near(target.numpy(), np.fft.irfft(x.astype(np.complex128), n) * n, n)


@pytest.mark.parametrize("n", [30, 33, 1040])
def test_in_place_and_of_views(executor: Any, n: int) -> None:
    from browsergpu.engine.tensors import fourier

    x = random_complex(n, n, 4)
    array = executor.from_numpy(pairs(x))
    columns = array.as_strided((4, n, 2), (2, 8, 1))
    target = executor.empty((4, n, 2))
    fourier.transform(executor.device, "fft", columns, target, False, 1.0)
    expected = np.fft.fft(x.T.astype(np.complex128))
    assert_near(target.numpy().view(np.complex64)[..., 0], expected, n)
    fourier.transform(executor.device, "fft", target, target, True, 1 / n)
    assert_near(target.numpy().view(np.complex64)[..., 0], x.T.astype(np.complex128), n**2)


def test_padded_rows_some_at_a_time(executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from browsergpu.engine.kernels.fourier import fft

    x = random_complex(2, 8, 11)
    whole = transformed(executor, x)
    monkeypatch.setattr(fft, "_MOST_PADDED", 3 * 8 * 24)
    parts = transformed(executor, x.reshape(2, 4, 11))
    assert_same_bits(parts.reshape(8, 11), whole, "three rows at a time")


def test_no_rows(executor: Any) -> None:
    assert transformed(executor, np.zeros((0, 8), np.complex64)).shape == (0, 8)
