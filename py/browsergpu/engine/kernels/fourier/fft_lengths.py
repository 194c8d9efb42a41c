"""Factorization of the length of a Fourier transform."""

from __future__ import annotations

from browsergpu.engine.core.remembered import remembered

ROOM = 1024  # complex numbers that a workgroup of fft.wgsl transforms in its memory
_THREADS = 256
#: Points of a strided transform. Four such transforms fit side by side, so that reading one element
#: of each takes whole memory sectors.
_SIDE_BY_SIDE = ROOM // 4


@remembered
def passes(n: int, inner: int = 1) -> tuple[int, ...] | None:
    """Return the points of each pass over [outer, n, inner] numbers, n > 0.

    Their product is n. The result is None if n has a prime factor above 7.
    """
    factors, rest = _factors(n)
    if rest > 1:
        return None
    if n <= (ROOM if inner == 1 else _SIDE_BY_SIDE):
        return (n,)
    count = 2
    while True:
        points = [1] * count
        for factor in factors:  # assign each factor to the smallest pass
            points[points.index(min(points))] *= factor
        if max(points) <= _SIDE_BY_SIDE:
            return tuple(points)
        count += 1


@remembered
def radices(points: int) -> tuple[int, ...]:
    """Return the radices of a transform in workgroup memory: few, each of 8, 7, 5, 4, 3 or 2."""
    factors, _ = _factors(points)
    twos = factors.count(2)
    steps = tuple(factors[: len(factors) - twos])
    if twos % 3 == 1 and twos > 1:  # 8 × 2 = 4 × 4
        return (*steps, *(8,) * (twos // 3 - 1), 4, 4)
    return (*steps, *(8,) * (twos // 3), *(2 ** (twos % 3),) * (twos % 3 > 0))


def together(points: int) -> int:
    """Return how many transforms a workgroup runs at once: a power of two, at most its threads."""
    return min(_THREADS, 1 << (ROOM // points).bit_length() - 1)


@remembered
def padded(least: int) -> int:
    """Return a length that is fast to transform and at least ``least``."""
    power = 1 << max(least - 1, 0).bit_length()
    parts = [power] + [power // d * n for d, n in ((8, 5), (4, 3), (8, 7)) if power % d == 0]
    return min(length for length in parts if length >= least)


def in_a_word(steps: tuple[int, ...]) -> int:
    """Pack at most eight radices into a word, four bits each, the first one lowest."""
    return sum(radix << 4 * i for i, radix in enumerate(steps))


def _factors(n: int) -> tuple[list[int], int]:
    """Return the prime factors up to 7, largest first, and the remaining cofactor."""
    factors = []
    for prime in (7, 5, 3, 2):
        while n % prime == 0:
            factors.append(prime)
            n //= prime
    return factors, n
