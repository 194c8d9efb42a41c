"""Grids that fold into several dimensions or layers.

WebGPU allows 65,535 workgroups in a dimension, which take SwiftShader minutes. The tests lower the
package's limit to a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from inside.gpu import random_array
from inside.test_attention import check as check_attention
from inside.test_conv2d import check as check_conv2d
from inside.test_elementwise import binary_data, check_binary, check_unary, unary_data
from inside.test_gemm import Batch, Product
from inside.test_reduce import check as check_reduce

pytestmark = pytest.mark.firefox


@pytest.fixture(autouse=True, params=[2, 3, 7])
def few_workgroups(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    """Lower the limit.

    Plans are cached by their arguments, so each test uses sizes that no other test uses.
    """
    import js

    from browsergpu.engine.core import grids

    monkeypatch.setattr(grids, "MAX_PER_DIMENSION", request.param)
    grids.cover.cache_clear()
    js.gpuWatch.widestGrid = 0
    yield request.param
    grids.cover.cache_clear()
    assert 1 <= js.gpuWatch.widestGrid <= request.param


def test_gemm(backend: Any, few_workgroups: int) -> None:
    Product(64 * 3 + few_workgroups, 64 * 2 + 30 + few_workgroups, 11, beta=0.5).check(backend)


def test_batched_gemm(backend: Any, few_workgroups: int) -> None:
    Batch(Product(5, 6, few_workgroups + 40, beta=0.5), 17, (1, None, 3)).check(backend)


def test_conv2d(backend: Any, few_workgroups: int) -> None:
    images = random_array(1, 17, 2, 23, 20 + few_workgroups)
    check_conv2d(backend, images, random_array(2, 66, 2, 3, 3), (1, 1), (1, 1))


def test_attention(backend: Any, few_workgroups: int) -> None:
    check_attention(backend, (3, 6, 130 + few_workgroups, 40, 130), False)


@pytest.mark.parametrize("op", ["sum", "max"])
def test_reduce(backend: Any, op: str, few_workgroups: int) -> None:
    for axis in (0, 1):
        check_reduce(backend, op, random_array(1, 103 + few_workgroups, 2003), axis)


def test_elementwise(backend: Any) -> None:
    for n in (1024 * 3, 1024 * 3 + 1, 1024 * 50 + 77):
        check_unary(backend, "neg", unary_data("neg", 1, n))
        check_binary(backend, "sub", *binary_data("sub", 1, n))
