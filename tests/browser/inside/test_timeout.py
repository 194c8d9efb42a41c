"""Waits for the GPU with a timeout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inside.comparison import assert_same_bits
from inside.gpu import on_gpu


def test_a_wait_that_is_too_short(backend: Any) -> None:
    from browsergpu.errors import InvalidArgument, Timeout

    n = 192
    with on_gpu(backend) as gpu:
        ones = gpu.upload(np.ones((n, n), np.float32))
        product = gpu.filled(n * n)
        for _ in range(60):  # takes a millisecond on any GPU
            backend.gemm("no_trans", "no_trans", n, n, n, 1.0, ones, n, ones, n, 0.0, product, n)
        with pytest.raises(Timeout) as caught:
            backend.synchronize(timeout=1e-4)
        assert caught.value.op == "synchronize"
        backend.synchronize(timeout=240)
        assert_same_bits(gpu.download(product, (n, n)), np.full((n, n), n, np.float32), "product")
        with pytest.raises(InvalidArgument, match="timeout"):
            backend.synchronize(timeout="long")
