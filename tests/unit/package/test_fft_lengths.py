"""Factorization of the lengths of Fourier transforms."""

from __future__ import annotations

from math import prod

import pytest

from browsergpu.engine.kernels.fourier.fft_lengths import (
    ROOM,
    in_a_word,
    padded,
    passes,
    radices,
    together,
)

pytestmark = pytest.mark.fast

SMOOTH = [n for n in range(1, 3000) if passes(n) is not None]


def test_lengths_without_large_primes_have_passes() -> None:
    assert {11, 13, 22, 97, 1001 * 13, 2**20 * 11}.isdisjoint(SMOOTH)
    assert passes(2**20 * 11) is None
    assert SMOOTH[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]


@pytest.mark.parametrize("n", [2**11, 2**16, 2**27, 3**12, 5**9, 7**8, 2 * 3 * 5 * 7 * 210**2])
def test_passes_fit_a_workgroup_four_times(n: int) -> None:
    found = passes(n)
    assert found is not None
    assert prod(found) == n
    assert max(found) <= ROOM // 4


def test_lengths_that_fit_a_workgroup_take_one_pass() -> None:
    assert all(passes(n) == (n,) for n in SMOOTH if n <= ROOM)
    assert all(len(passes(n) or ()) == 2 for n in SMOOTH if n > ROOM)
    assert passes(256, 3) == (256,)
    assert passes(512, 3) == (32, 16)


def test_steps_of_a_pass() -> None:
    for n in SMOOTH:
        if n <= ROOM:
            steps = radices(n)
            assert prod(steps) == n
            assert set(steps) <= {2, 3, 4, 5, 7, 8}
            assert len(steps) <= 8, "of four bits in a word"
    assert radices(1) == ()
    assert radices(1024) == (8, 8, 4, 4)
    assert radices(512) == (8, 8, 8)
    assert radices(420) == (7, 5, 3, 4)
    assert in_a_word((7, 5, 8)) == 0x857


@pytest.mark.parametrize("least", [1, 2, 3, 5, 13, 129, 193, 1999, 2061, 10**6])
def test_padded_lengths_are_quick_and_not_much_longer(least: int) -> None:
    found = padded(least)
    assert least <= found <= max(1.34 * least, least + 1)
    assert passes(found) is not None


def test_transforms_of_a_workgroup() -> None:
    assert [together(points) for points in (1, 2, 5, 60, 100, 256, 257, 512, 1000)] == [
        *(256, 256, 128, 16, 8, 4, 2, 2, 1)
    ]
