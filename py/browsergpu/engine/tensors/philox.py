"""Counter-based random numbers on the host, bit-identical to the kernels' numbers.

The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
as 1, 2, 3" (https://doi.org/10.1145/2063384.2063405). A 64-bit key and a 128-bit counter give a
block of four words, and the next counter gives the next block. The position of a block in memory is
its counter minus the first one, so any device makes the same numbers in any order.

Distributions are computed in integers, which wrap around identically everywhere. WGSL guarantees
neither the rounding of floats nor that operations are not contracted. Only the last step makes a
float, which represents the number exactly.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: Distributions, and the blocks for four elements of each.
BLOCKS = {"words": 1, "uniform": 1, "integers": 2, "normal": 1, "exponential": 1}
COUNTERS = 2**128  # wraps around to 0

_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85  # added to the key in each round: golden ratio, sqrt(3) - 1
_MASK = 0xFFFFFFFF

#: -ln(1 - f) / f for f up to 1 - sqrt(1/2), within 2^-32.6: coefficients of f to the power of 8 and
#: of 6 down to 0, times 2^31.
_LOG = (0x2C8CC8E7, 0x15CB36CE, 0x1512AC2A, 0x19940F5B, 0x20013894, 0x2AAA99B5, 0x40000045, 2**31)
_ROOT_OF_TWO = 0xB504F334  # sqrt(2) times 2^31, and sqrt(1/2) times 2^32
_HALF_LN_2 = 46516320  # ln(2) / 2 times 2^27
#: sin(π/4 t) / t and cos(π/4 t) by powers of t², within 2^-34, times 2^32; signs alternate.
_SIN = (0x52F, 0x26595, 0xA335DD, 0x14ABBCE5, 0xC90FDAA2)
_COS = (0x3B38, 0x155C58, 0x40F0770, 0x4EF4F31D, 0xFFFFFFFF)

Words: TypeAlias = npt.NDArray[np.uint32]
Floats: TypeAlias = npt.NDArray[np.float32]
# 32-bit words, or products of two, in 64 bits each.
_Wide: TypeAlias = npt.NDArray[np.uint64]


def split(number: int, words: int) -> tuple[int, ...]:
    """Split a number into 32-bit words, least significant first."""
    return tuple(number >> 32 * i & _MASK for i in range(words))


def blocks_for(distribution: str, n: int) -> int:
    """Return the number of blocks that a draw of n elements takes. It advances the counter."""
    return -(-n // 4) * BLOCKS[distribution]


def words(key: int, counter: int, n: int) -> Words:
    """Return n words of the blocks from ``counter``. key < 2^64 and counter < 2^128."""
    return _words(key, counter, n).astype(np.uint32)


def uniform(key: int, counter: int, n: int) -> Floats:
    """Return n float32 uniform in [0, 1): multiples of 2^-24, from one word each."""
    return (_words(key, counter, n) >> np.uint64(8)).astype(np.float32) * np.float32(2**-24)


def integers(key: int, counter: int, n: int, low: int, span: int) -> Words:
    """Return n integers from ``low`` to ``low + span - 1``, modulo 2^32; 0 < span <= 2^32.

    Each is the upper part of 64 random bits times span (D. Lemire,
    https://doi.org/10.1145/3230636). The probability of an integer is off by less than 2^-64, a
    relative error of less than 2^-32.
    """
    upper, lower = _words(key, counter, 2 * n).reshape(-1, 2).T
    wide = np.uint64(span)
    product = upper * wide + (lower * wide >> np.uint64(32))
    return ((product >> np.uint64(32)) + np.uint64(low & _MASK)).astype(np.uint32)


def exponential(key: int, counter: int, n: int) -> Floats:
    """Return n float32 of the standard exponential distribution, within 1 ULP of -ln u.

    u is an odd multiple of 2^-32, from one word each.
    """
    mantissa, shift = _negative_log(_words(key, counter, n))
    return _float(mantissa, -shift)


def normal(key: int, counter: int, n: int) -> Floats:
    """Return n float32 of the standard normal distribution, within 2 ULP and up to 6.67 in size.

    Box-Muller (https://doi.org/10.1214/aoms/1177706645) makes two numbers of two words.
    """
    pairs = _words(key, counter, n + n % 2).reshape(-1, 2)
    radius, scale = _radius(pairs[:, 0])
    octant = pairs[:, 1] >> np.uint64(29)
    t = (pairs[:, 1] << np.uint64(3)) & np.uint64(_MASK) | np.uint64(4)
    square = _high(t, t)
    zeros = _leading_zeros(t)
    sine, cosine = _high(t << zeros, _alternating(_SIN, square)), _alternating(_COS, square)
    found = []
    for part, less in ((cosine, np.zeros_like(zeros)), (sine, zeros)):
        exponent = -7 - scale - less.astype(np.int64)
        found.append(_float(_high(radius << np.uint64(7), part), exponent))
    swapped = octant & np.uint64(1) != 0
    both = np.stack([np.where(swapped, *found[::-1]), np.where(swapped, *found)], axis=1)
    for column, bit in ((0, 2), (1, 4)):
        both[:, column] *= np.where(octant & np.uint64(bit) != 0, np.float32(-1), np.float32(1))
    return both.reshape(-1)[:n]


def one(
    distribution: str,
    key: int,
    counter: int,
    shift: int,
    scale: int,
    last: int,
    *,
    is_signed: bool = False,
) -> int | float:
    """Return the first number that a kernel draws with these parameters.

    ``shift``, ``scale`` and ``last`` are words, as the kernels take them. Integers are int32 if
    ``is_signed``, else uint32.
    """
    if distribution in ("words", "integers"):
        if distribution == "words":
            found = int(words(key, counter, 1)[0])
        else:
            found = int(integers(key, counter, 1, shift, scale or 2**32)[0])
        return found - 2**32 if is_signed and found >= 2**31 else found
    shifted, scaled, most = np.array([shift, scale, last], np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        if distribution == "uniform":
            return float(min(shifted + scaled * uniform(key, counter, 1)[0], most))
        drawn = normal if distribution == "normal" else exponential
        return float(shifted + scaled * drawn(key, counter, 1)[0])


#: Blocks that are computed at once for draws of up to a block, which loops often repeat.
_AHEAD = 256
#: The key, the first counter and the words of the last such blocks.
_known: tuple[int, int, _Wide] = (-1, 0, np.zeros(0, np.uint64))


def _words(key: int, counter: int, n: int) -> _Wide:
    global _known
    if n > 4:
        return _computed_words(key, counter, n)
    of, first, ahead = _known
    at = 4 * (counter - first)
    if of != key or not 0 <= at < len(ahead):
        at, ahead = 0, _computed_words(key, counter, 4 * _AHEAD)
        _known = key, counter, ahead
    return ahead[at : at + n]


def _computed_words(key: int, counter: int, n: int) -> _Wide:
    count = -(-n // 4)
    keys = split(key, 2)
    a, b, c, d = _counters(counter, count)
    for i in range(_ROUNDS):
        k0, k1 = (np.uint64(k + i * w & _MASK) for k, w in zip(keys, _WEYL, strict=True))
        p, q = a * np.uint64(_MULTIPLIERS[0]), c * np.uint64(_MULTIPLIERS[1])
        a, b, c, d = _upper(q) ^ b ^ k0, _lower(q), _upper(p) ^ d ^ k1, _lower(p)
    return np.stack([a, b, c, d], axis=1).reshape(-1)[:n]


def _counters(first: int, count: int) -> list[_Wide]:
    """Return the words of ``count`` < 2^32 counters."""
    low, *others = split(first, 4)
    numbers = np.uint64(low) + np.arange(count, dtype=np.uint64)
    found = [_lower(numbers)]
    for other in others:
        numbers = np.uint64(other) + _upper(numbers)
        found.append(_lower(numbers))
    return found


def _negative_log(word: _Wide) -> tuple[_Wide, npt.NDArray[np.int64]]:
    """Return (g, x) with -ln u = g / 2^x for u = (word | 1) / 2^32, and 2^31 <= g < 2^32."""
    odd = word | np.uint64(1)
    zeros = _leading_zeros(odd)
    u = odd << zeros  # u × 2^zeros, from 1/2 to 1
    small = u < _ROOT_OF_TWO  # scaled to at least sqrt(1/2)
    u = np.where(small, _high(u, np.uint64(_ROOT_OF_TWO)) << np.uint64(1), u)
    halves = 2 * zeros + small
    f = np.uint64(2**32) - u
    ratio = _high(f, _high(f, np.uint64(_LOG[0]))) + np.uint64(_LOG[1])
    for coefficient in _LOG[2:]:
        ratio = _high(f, ratio) + np.uint64(coefficient)
    # Near 1, -ln u is f × ratio with all digits. Otherwise multiples of ln 2 are added.
    near = _leading_zeros(f)
    added = halves * np.uint64(_HALF_LN_2) + (_high(f, ratio) + np.uint64(8) >> np.uint64(4))
    value = np.where(halves == 0, _high(f << near, ratio), added)
    point = np.where(halves == 0, np.uint64(31) + near, np.uint64(27))
    zeros = _leading_zeros(value)
    return value << zeros, (point + zeros).astype(np.int64)


def _radius(word: _Wide) -> tuple[_Wide, npt.NDArray[np.int64]]:
    """Return (s, a) with sqrt(-2 ln u) = s / 2^a, s rounded from 2^23 to 2^24."""
    g, x = _negative_log(word)
    is_odd = x % 2 == 0  # -2 ln u = g / 2^(x - 1)
    square = g << np.where(is_odd, np.uint64(15), np.uint64(16))
    root = np.sqrt(square.astype(np.float64)).astype(np.uint64)  # below 2^48, so exact
    root += square - root * root > root
    return root, np.where(is_odd, x // 2 + 7, (x - 1) // 2 + 8)


def _alternating(coefficients: tuple[int, ...], x: _Wide) -> _Wide:
    """Evaluate the polynomial c[-1] - x (c[-2] - x (…)), in fractions of 2^32."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = np.uint64(coefficient) - _high(x, value)
    return value


def _float(mantissa: _Wide, exponent: npt.NDArray[np.int64]) -> Floats:
    """Return mantissa × 2^exponent, rounded to 24 bits, ties up."""
    zeros = _leading_zeros(mantissa)
    value = mantissa << zeros
    digits = (value >> np.uint64(8)) + (value >> np.uint64(7) & np.uint64(1))
    power = exponent + 8 - zeros.astype(np.int64)
    return np.ldexp(digits.astype(np.float32), power.astype(np.int32))


def _leading_zeros(word: _Wide) -> _Wide:
    """Return the number of leading zeros of nonzero words."""
    return (32 - np.frexp(word.astype(np.float64))[1]).astype(np.uint64)


def _high(a: Any, b: Any) -> Any:
    return _upper(a * b)


def _upper(product: Any) -> Any:
    return product >> np.uint64(32)


def _lower(product: Any) -> Any:
    return product & np.uint64(_MASK)
