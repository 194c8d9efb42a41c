"""Counter-based random numbers on the host: Random123's known answers, and the distributions."""

from __future__ import annotations

from math import erf, pi, sqrt

import numpy as np
import pytest

from browsergpu.engine.tensors import philox

pytestmark = pytest.mark.fast

KEY = 0x1234_5678_9ABC_DEF0
MANY = 200_000


def number(*words: int) -> int:
    return sum(word << 32 * i for i, word in enumerate(words))


#: Counter, key and block of kat_vectors in https://github.com/DEShawResearch/random123.
KNOWN = [
    (number(0, 0, 0, 0), number(0, 0), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (2**128 - 1, 2**64 - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        number(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        number(0xA4093822, 0x299F31D0),
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_known_answers(counter: int, key: int, block: list[int]) -> None:
    found = philox.words(key, counter, 4)
    assert found.dtype == np.uint32
    assert found.tolist() == block


@pytest.mark.parametrize("counter", [0, 2**32 - 3, 2**64 - 3, 2**96 - 3, 2**128 - 3])
def test_counters_carry(counter: int) -> None:
    found = philox.words(KEY, counter, 40).reshape(-1, 4)
    one_by_one = [philox.words(KEY, (counter + i) % 2**128, 4) for i in range(10)]
    assert (found == one_by_one).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 1001])
def test_a_shorter_draw_is_the_start_of_a_longer_one(n: int) -> None:
    for draw in (philox.words, philox.uniform, philox.normal, philox.exponential):
        found = draw(KEY, 5, n)
        assert found.shape == (n,)
        assert (found == draw(KEY, 5, 1002)[:n]).all()
    found = philox.integers(KEY, 5, n, -3, 100)
    assert (found == philox.integers(KEY, 5, 1002, -3, 100)[:n]).all()


def test_blocks_that_a_draw_takes() -> None:
    assert [philox.blocks_for("normal", n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [philox.blocks_for("integers", n) for n in (0, 1, 4, 5)] == [0, 2, 2, 4]
    for name in philox.BLOCKS.keys() - {"integers"}:
        draw = getattr(philox, name)
        later = draw(KEY, 7 + philox.blocks_for(name, 8), 5)
        assert (draw(KEY, 7, 13)[8:] == later).all(), name
    later = philox.integers(KEY, 7 + philox.blocks_for("integers", 8), 5, 0, 10**6)
    assert (philox.integers(KEY, 7, 13, 0, 10**6)[8:] == later).all()


def ulp(values: np.ndarray) -> np.ndarray:
    return np.spacing(np.abs(values).astype(np.float32)).astype(np.float64)


def test_exponential_is_minus_the_logarithm() -> None:
    u = (philox.words(KEY, 0, MANY).astype(np.float64) + (philox.words(KEY, 0, MANY) % 2 == 0)) / (
        2.0**32
    )
    expected = -np.log(u)
    assert (np.abs(philox.exponential(KEY, 0, MANY) - expected) <= ulp(expected)).all()


def test_the_logarithm_of_the_first_and_last_words() -> None:
    words = np.array([0, 1, 2, 2**32 - 1, 2**32 - 2, 2**31, 2**31 - 1, 0xB504F333, 0xB504F334])
    mantissa, point = philox._negative_log(words.astype(np.uint64))
    found = mantissa / 2.0**point
    u = (words | 1) / 2.0**32
    np.testing.assert_allclose(found, -np.log1p(u - 1), rtol=2**-24)


def test_normal_is_that_of_box_and_muller() -> None:
    words = philox.words(KEY, 0, MANY).astype(np.uint64).reshape(-1, 2)
    radius = np.sqrt(-2 * np.log((words[:, 0] | np.uint64(1)) / 2.0**32))
    octant = words[:, 1] >> np.uint64(29)
    angle = ((words[:, 1] % np.uint64(2**29)) + 0.5) / 2**29 * pi / 4
    both = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    both = np.where((octant % 2 == 1)[:, None], both[:, ::-1], both)
    signs = 1.0 - 2.0 * np.stack([octant >> np.uint64(1) & 1, octant >> np.uint64(2)], axis=1)
    expected = (radius[:, None] * both * signs).reshape(-1)
    found = philox.normal(KEY, 0, MANY)
    assert found.dtype == np.float32
    assert (np.abs(found - expected) <= 2 * ulp(expected)).all()


def distance(sample: np.ndarray, cumulative: np.ndarray) -> float:
    """Return Kolmogorov's statistic. It exceeds 1.95 once in a thousand times."""
    n = len(sample)
    steps = np.arange(n + 1) / n
    return float(np.maximum(steps[1:] - cumulative, cumulative - steps[:-1]).max() * sqrt(n))


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
def test_distributions(key: int) -> None:
    uniform = np.sort(philox.uniform(key, 0, MANY))
    assert 0 <= uniform[0] <= uniform[-1] < 1
    assert distance(uniform, uniform) < 1.95
    normal = np.sort(philox.normal(key, 0, MANY))
    below = np.array([0.5 * (1 + erf(z / sqrt(2))) for z in normal.tolist()])
    assert distance(normal, below) < 1.95
    exponential = np.sort(philox.exponential(key, 0, MANY))
    assert distance(exponential, -np.expm1(-exponential.astype(np.float64))) < 1.95


def test_moments_of_normal() -> None:
    z = philox.normal(3, 0, MANY).astype(np.float64)
    # Four standard deviations of each mean of z^k: sqrt(variance / n).
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - expected) < 4 * sqrt(variance / MANY)
    assert abs((z[::2] * z[1::2]).mean()) < 4 * sqrt(2 / MANY), "a pair's numbers are correlated"


@pytest.mark.parametrize("span", [2, 3, 7, 100, 1000])
def test_integers_are_equally_frequent(span: int) -> None:
    found = philox.integers(KEY, 9, MANY, -5, span).view(np.int32)
    counts = np.bincount(found + 5, minlength=span)
    assert len(counts) == span
    expected = MANY / span
    statistic = float(((counts - expected) ** 2 / expected).sum())
    # χ² has mean span - 1 and variance 2 (span - 1).
    assert abs(statistic - (span - 1)) < 4 * sqrt(2 * (span - 1))


def test_integers_of_every_size() -> None:
    assert not philox.integers(KEY, 0, 100, 0, 1).any()
    every = philox.integers(KEY, 0, 100, 0, 2**32)
    assert (every == philox.words(KEY, 0, 200)[::2]).all()
    large = philox.integers(KEY, 0, 1000, -(2**31), 2**32 - 1).view(np.int32)
    assert large.min() < -(2**30)
    assert large.max() > 2**30
    words = philox.words(KEY, 0, 20).tolist()
    pairs = zip(words[::2], words[1::2], strict=True)
    draws = [(upper << 32 | lower) * 1000 >> 64 for upper, lower in pairs]
    assert philox.integers(KEY, 0, 10, 0, 1000).tolist() == draws


def test_words_of_a_number() -> None:
    assert philox.split(0x1_0000_0002, 4) == (2, 1, 0, 0)
