"""How the length of a Fourier transform is taken apart: pure numbers."""

from __future__ import annotations

from browsergpu.core.remembered import remembered

ROOM = 1024  # complex numbers that a workgroup of fft.wgsl transforms in its memory
_THREADS = 256
#: Points of a transform whose numbers are not neighbours: four that lie side by side fit, so that
#: reads of a number of each take whole sectors of memory.
_SIDE_BY_SIDE = ROOM // 4


@remembered
def passes(n: int, inner: int = 1) -> tuple[int, ...] | None:
    """The points of each pass over [outer, n, inner] numbers, n > 0, whose product is n, or None
    where n has a prime factor above 7."""
    factors, rest = _factors(n)
    if rest > 1:
        return None
    if n <= (ROOM if inner == 1 else _SIDE_BY_SIDE):
        return (n,)
    count = 2
    while True:
        points = [1] * count
        for factor in factors:  # each to what is smallest by then
            points[points.index(min(points))] *= factor
        if max(points) <= _SIDE_BY_SIDE:
            return tuple(points)
        count += 1


@remembered
def radices(points: int) -> tuple[int, ...]:
    """The steps of a transform in a workgroup's memory: few, of 8, 7, 5, 4, 3 or 2 each."""
    factors, _ = _factors(points)
    twos = factors.count(2)
    steps = tuple(factors[: len(factors) - twos])
    if twos % 3 == 1 and twos > 1:  # 8 × 2 = 4 × 4
        return (*steps, *(8,) * (twos // 3 - 1), 4, 4)
    return (*steps, *(8,) * (twos // 3), *(2 ** (twos % 3),) * (twos % 3 > 0))


def together(points: int) -> int:
    """The transforms that a workgroup does at once: a power of two, no more than it has threads."""
    return min(_THREADS, 1 << (ROOM // points).bit_length() - 1)


@remembered
def padded(least: int) -> int:
    """A length of at least so many numbers that is quick to transform."""
    power = 1 << max(least - 1, 0).bit_length()
    parts = [power] + [power // d * n for d, n in ((8, 5), (4, 3), (8, 7)) if power % d == 0]
    return min(length for length in parts if length >= least)


def in_a_word(steps: tuple[int, ...]) -> int:
    """At most eight radices in a word, four bits each, the first one lowest."""
    return sum(radix << 4 * i for i, radix in enumerate(steps))


def _factors(n: int) -> tuple[list[int], int]:
    """The prime factors up to 7, the largest first, and what is left of n."""
    factors = []
    for prime in (7, 5, 3, 2):
        while n % prime == 0:
            factors.append(prime)
            n //= prime
    return factors, n
