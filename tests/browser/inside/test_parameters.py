"""Both ways to pass parameters to a kernel: WGSL immediates and the uniform ring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from inside import reference, tolerances
from inside.comparison import assert_matches, assert_same_bits
from inside.gpu import on_gpu, random_array
from inside.shared import shared_backend
from inside.test_attention import check as check_attention
from inside.test_conv2d import check as check_conv2d
from inside.test_elementwise import binary_data, check_binary, check_unary, unary_data
from inside.test_gemm import Batch, Product
from inside.test_gemm_f16 import run_f16
from inside.test_reduce import check as check_reduce

pytestmark = pytest.mark.firefox


@pytest.fixture(scope="module", params=[True, False], ids=["immediates", "uniform ring"])
def backend(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A backend that uses one of the two ways."""
    with shared_backend(immediates=request.param) as backend:
        if request.param and backend.device.immediate_bytes == 0:
            pytest.skip("this browser has no WGSL immediates")
        assert (backend.device.immediate_bytes > 0) == request.param
        yield backend


def test_gemm(backend: Any) -> None:
    Product(33, 70, 19, "trans", "no_trans", 1.5, -0.5, (3, 1, 2), "F").check(backend)
    Batch(Product(7, 5, 9, "no_trans", "trans", 1.5, -0.5, (1, 2, 3)), 3, (3, 5, 7)).check(backend)


def test_gemm_f16(backend: Any) -> None:
    a, b, c = (random_array(seed, 9, 9, dtype=np.float16) for seed in range(3))
    scalars = {"trans_a": False, "trans_b": False, "alpha": 0.5, "beta": 2.0}
    assert_matches(
        run_f16(backend, 0.5, a, b, 2.0, c),
        reference.gemm(a, b, c, **scalars),
        dtype=np.float16,
        **tolerances.gemm_f16(reference.gemm_magnitude(a, b, c, **scalars), 9)._asdict(),
    )


def test_conv2d(backend: Any) -> None:
    check_conv2d(backend, random_array(1, 2, 3, 11, 9), random_array(2, 5, 3, 3, 2), (2, 1), (1, 2))


def test_attention(backend: Any) -> None:
    check_attention(backend, (2, 3, 37, 41, 67), True)


@pytest.mark.parametrize("op", reference.REDUCE_OPS)
def test_reduce(backend: Any, op: str) -> None:
    check_reduce(backend, op, random_array(1, 3, 300, 5), 1)
    check_reduce(backend, op, random_array(2, 3, 300), 1)


def test_elementwise(backend: Any) -> None:
    for op in reference.UNARY_OPS:
        check_unary(backend, op, unary_data(op, 1, 1025))
    for op in reference.BINARY_OPS:
        check_binary(backend, op, *binary_data(op, 1, 1025))


@pytest.mark.parametrize("size", [3, 6, 13])
def test_partial_words(backend: Any, size: int) -> None:
    with on_gpu(backend) as gpu:
        pointer = gpu.upload(np.full(16, 0xA5, np.uint8))
        backend.copy_htod(pointer, bytes(range(1, size + 1)))
        result = gpu.download(pointer, 16, np.uint8)
    expected = np.full(16, 0xA5, np.uint8)
    expected[:size] = np.arange(1, size + 1)
    assert_same_bits(result, expected, "bytes")


def test_each_op_keeps_its_own_parameters(backend: Any) -> None:
    # More ops than the ring has slots and a batch has dispatches, each with different parameters: a
    # slot overwritten too early would be visible.
    rounds = 2500
    with on_gpu(backend) as gpu:
        one = gpu.upload(np.ones(1, np.float32))
        total = gpu.upload(np.zeros(1, np.float32))
        for i in range(rounds):
            backend.gemm(
                "no_trans", "no_trans", 1, 1, 1, float(i % 97), one, 1, one, 1, 1.0, total, 1
            )
        result = gpu.download(total, 1)
    expected = np.float32(sum(i % 97 for i in range(rounds)))
    assert_same_bits(result, np.array([expected]), "the sum of all alphas")


def test_kernels_with_and_without_the_same_size_mix(backend: Any) -> None:
    with on_gpu(backend) as gpu:
        x = gpu.upload(np.arange(1, 9, dtype=np.float32))
        y = gpu.filled(8)
        for n in range(1, 9):
            backend.unary("neg", x, y, n)
            backend.binary("add", x, y, y, n)
            backend.unary("abs", x, y, n)
        result = gpu.download(y, 8)
    assert_same_bits(result, np.arange(1, 9, dtype=np.float32), "absolute values")
