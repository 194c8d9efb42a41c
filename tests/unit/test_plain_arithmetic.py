"""Arithmetic on the host: grids, size classes, cached plans."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks, cover, fold, layers
from browsergpu.engine.gpu.memory import size_class
from browsergpu.engine.kernels.convolution.conv2d import plan_conv2d
from browsergpu.engine.kernels.matmul.gemm import plan_gemm
from browsergpu.errors import InvalidArgument

pytestmark = pytest.mark.fast


@given(st.integers(1, 2**32 - 1))
@example(MAX_PER_DIMENSION)
@example(MAX_PER_DIMENSION + 1)
@example(2**32 - 1)
def test_a_folded_grid_covers_its_count(count: int) -> None:
    x, y, z = fold(count)
    assert z == 1
    assert 1 <= x <= MAX_PER_DIMENSION
    assert x * y >= count
    assert x * y - count < y, "a whole column of workgroups too many"
    # Two dimensions hold up to 65,535² workgroups; u32 element counts need far fewer.
    assert y <= MAX_PER_DIMENSION or count > MAX_PER_DIMENSION**2


@given(st.integers(1, 2**32 - 1), st.integers(1, 4096))
def test_a_grid_covers_all_elements(n: int, size: int) -> None:
    x, y, z = cover(n, size)
    assert x * y * z * size >= n
    assert (x, y, z) == fold(blocks(n, size))


@given(st.integers(0, 500_000))
def test_layers_cover_each_index_once(count: int) -> None:
    expected = 0
    for first, size in layers(count):
        assert first == expected
        assert 1 <= size <= MAX_PER_DIMENSION
        expected += size
    assert expected == count


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_blocks_is_the_ceiling(n: int, size: int) -> None:
    assert (blocks(n, size) - 1) * size < n <= blocks(n, size) * size


@given(st.integers(0, 2**40))
@example(0)
@example(256)
@example(257)
def test_a_size_class_holds_its_request(nbytes: int) -> None:
    capacity = size_class(nbytes)
    assert capacity >= nbytes
    assert capacity % 256 == 0
    assert capacity <= max(256, nbytes * 9 // 8 + 256)
    assert size_class(capacity) == capacity, "a class is not its own class"


@given(st.integers(1, 2**40), st.integers(0, 1000))
def test_size_classes_do_not_shrink(nbytes: int, more: int) -> None:
    assert size_class(nbytes + more) >= size_class(nbytes)


GEMM = ("gemm", "no_trans", "no_trans", 1, 1, 1, 1.0, 1, 0, 1, 0, 0.0, 1, 0, 1, "C")


def test_a_plan_is_made_once() -> None:
    assert plan_gemm(*GEMM) is plan_gemm(*GEMM)


@pytest.mark.parametrize("at", [3, 4, 5, 7, 9, 12, 14])
@pytest.mark.parametrize("fake", [True, 1.0])
def test_a_remembered_plan_does_not_let_equals_in(at: int, fake: object) -> None:
    plan_gemm(*GEMM)
    arguments = [*GEMM[:at], fake, *GEMM[at + 1 :]]
    with pytest.raises(InvalidArgument):
        plan_gemm(*arguments)


def test_a_remembered_shape_does_not_let_equals_in() -> None:
    good = ("conv", (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (1, 1))
    padded = (*good[:3], (1, 1, 3, 3), *good[4:])
    assert plan_conv2d(*padded) is plan_conv2d(*padded)
    for at in range(1, 6):
        shape = padded[at]
        for fake in (True, 1.0):
            arguments = [*padded[:at], (fake, *shape[1:]), *padded[at + 1 :]]
            with pytest.raises(InvalidArgument):
                plan_conv2d(*arguments)
