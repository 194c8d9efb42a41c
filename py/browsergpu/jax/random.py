"""Random numbers with JAX's keys.

A key is an array of two uint32, as ``jax.random.PRNGKey`` returns. The same key gives the same
numbers in each call. The bits are those of JAX with ``jax_threefry_partitionable``, its default.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011 (Threefry-2x32-20).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.checks import dimensions, product
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, special
from browsergpu.functions.ordering import sorting

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_MASK = 0xFFFFFFFF
_SMALLEST = float(np.finfo(np.float32).tiny)


def key(seed: Any) -> Array:
    """Return a key for a seed.

    Parameters
    ----------
    seed : int
        An integer. Its lowest 32 bits count, as in JAX without 64-bit types.

    Returns
    -------
    Array
        uint32 of shape [2].

    Raises
    ------
    InvalidType
        If the seed is not an integer.

    Examples
    --------
    >>> bg.jax.random.key(7).tolist()
    [0, 7]
    """
    if isinstance(seed, Array):
        if seed.dtype.kind not in "iu" or seed.ndim:
            raise InvalidType("key", "seed", seed, "an integer")
        low = seed.astype(np.uint32)
        return manipulation.stack([elementwise.multiply(low, 0), low])
    try:
        number = index(seed)
    except TypeError:
        raise InvalidType("key", "seed", seed, "an integer") from None
    return creation.asarray(np.array([0, number & _MASK], np.uint32))


PRNGKey = key


def key_data(keys: Array) -> Array:
    """Return the uint32 of keys: the keys themselves."""
    return _checked("key_data", keys)


def _checked(op: str, keys: Any) -> Array:
    if not isinstance(keys, Array) or keys.dtype != np.uint32 or keys.shape[-1:] != (2,):
        raise InvalidType(op, "key", keys, "a key, as key(0) makes")
    return keys


def _one(op: str, keys: Any) -> tuple[Array, Array]:
    """Return the two words of one key."""
    if _checked(op, keys).ndim != 1:
        raise InvalidArgument(op, "key", keys, "a single key", "Use vmap() for several keys.")
    return keys[0], keys[1]


def _rotated(x: Any, by: int) -> Any:
    return (x << by) | (x >> (32 - by))


def _threefry(words: tuple[Array, Array], high: Any, low: Any) -> tuple[Array, Array]:
    """Encrypt counters, which are arrays of uint32."""
    schedule = (*words, words[0] ^ words[1] ^ 0x1BD11BDA)
    x0, x1 = high + schedule[0], low + schedule[1]
    for step in range(5):
        for by in _ROTATIONS[step % 2]:
            x0 = x0 + x1
            x1 = _rotated(x1, by) ^ x0
        x0 = x0 + schedule[(step + 1) % 3]
        x1 = x1 + schedule[(step + 2) % 3] + (step + 1)
    return x0, x1


def _encrypted(op: str, keys: Array, shape: Any) -> tuple[Array, Array]:
    """Encrypt the numbers from 0 of the elements of a shape."""
    own = dimensions(op, "shape", shape if isinstance(shape, list | tuple) else (shape,))
    count = product(own)
    if count > _MASK:
        raise InvalidArgument(op, "shape", shape, f"at most {_MASK} elements")
    words = _one(op, keys)
    low = creation.arange(count, dtype="uint32", device=keys.device).reshape(own)
    return _threefry(words, creation.zeros_like(low), low)


def split(key: Array, num: int | Sequence[int] = 2) -> Array:
    """Return new keys.

    Parameters
    ----------
    key : Array
        A key.
    num : int or tuple of int
        The number of keys, or their shape.

    Returns
    -------
    Array
        uint32 of shape [num, 2].

    Raises
    ------
    InvalidType
        If ``key`` is not a key.

    Examples
    --------
    >>> first, second = bg.jax.random.split(bg.jax.random.key(0))
    >>> first.tolist()
    [1797259609, 2579123966]
    """
    return manipulation.stack([*_encrypted("split", key, num)], axis=-1)


def fold_in(key: Array, data: Any) -> Array:
    """Return the key for a key and an integer, such as the number of a step."""
    words = _one("fold_in", key)
    if isinstance(data, Array):
        low = data.astype(np.uint32)
    else:
        low = creation.asarray(np.uint32(index(data) & _MASK), device=key.device)
    return manipulation.stack([*_threefry(words, elementwise.multiply(low, 0), low)])


def bits(key: Array, shape: Any = ()) -> Array:
    """Return random bits, as uint32 of a shape."""
    high, low = _encrypted("bits", key, shape)
    return elementwise.bitwise_xor(high, low)


def uniform(
    key: Array, shape: Any = (), dtype: Any = np.float32, minval: Any = 0.0, maxval: Any = 1.0
) -> Array:
    """Return numbers from the uniform distribution on [minval, maxval).

    Parameters
    ----------
    key : Array
        A key.
    shape : int or tuple of int
        The shape of the result.
    dtype : dtype
        float32.
    minval, maxval : float or Array
        The bounds.

    Returns
    -------
    Array
        float32. The numbers are those of JAX. With other bounds than 0 and 1, the last bit may
        differ.

    Raises
    ------
    InvalidType
        For another dtype.
    """
    if np.dtype(dtype) != np.float32:
        raise InvalidType("uniform", "dtype", dtype, "float32")
    fraction: Any = (bits(key, shape) >> 9).astype(np.float32) * 2.0**-23
    if not isinstance(minval, Array) and not isinstance(maxval, Array):
        minval, maxval = np.float32(minval), np.float32(maxval)
    found = fraction * (maxval - minval) + minval
    return elementwise.maximum(found, minval)


def normal(key: Array, shape: Any = (), dtype: Any = np.float32) -> Array:
    """Return numbers from the standard normal distribution.

    They are those of JAX but for the rounding of the inverse error function.
    """
    below = float(np.nextafter(np.float32(-1), np.float32(0)))
    found: Array = special.erfinv(uniform(key, shape, dtype, below, 1.0)) * math.sqrt(2)
    return found


def bernoulli(key: Array, p: Any = 0.5, shape: Any = None) -> Array:
    """Return bools that are true with probability ``p``."""
    own = (p.shape if isinstance(p, Array) else ()) if shape is None else shape
    return elementwise.less(uniform(key, own), p)


def randint(key: Array, shape: Any, minval: int, maxval: int) -> Array:
    """Return integers from ``minval`` to ``maxval - 1``, as int32.

    Parameters
    ----------
    key : Array
        A key.
    shape : int or tuple of int
        The shape of the result.
    minval, maxval : int
        The bounds. If ``maxval`` is not larger, all results are ``minval``.

    Returns
    -------
    Array
        int32. The numbers are those of JAX.

    Raises
    ------
    InvalidType
        If a bound is not an integer of the host.
    """
    try:
        first, last = index(minval), index(maxval)
    except TypeError:
        raise InvalidType("randint", "minval, maxval", (minval, maxval), "integers") from None
    span = last - first if last > first else 1
    keys = split(key)
    high, low = bits(keys[0], shape), bits(keys[1], shape)
    factor = pow(2**16 % span, 2, 2**32) % span
    offset: Any = ((high % span) * factor + low % span) % span
    found: Array = offset.astype(np.int32) + first
    return found


def exponential(key: Array, shape: Any = ()) -> Array:
    """Return numbers from the exponential distribution with rate 1."""
    return -elementwise.log1p(-uniform(key, shape))


def gumbel(key: Array, shape: Any = ()) -> Array:
    """Return numbers from the standard Gumbel distribution."""
    return -elementwise.log(-elementwise.log(uniform(key, shape, minval=_SMALLEST)))


def laplace(key: Array, shape: Any = ()) -> Array:
    """Return numbers from the standard Laplace distribution."""
    below = float(np.float32(-1) + np.finfo(np.float32).eps)
    own = uniform(key, shape, minval=below)
    found: Array = elementwise.sign(own) * elementwise.log1p(-elementwise.abs(own))
    return found


def categorical(key: Array, logits: Array, axis: int = -1, shape: Any = None) -> Array:
    """Return indices along an axis of logits, drawn with probabilities ``softmax(logits)``.

    Parameters
    ----------
    key : Array
        A key.
    logits : Array
        Unnormalized logarithms of probabilities.
    axis : int
        The axis of the categories.
    shape : tuple of int, optional
        The shape of the result. It ends as the shape of ``logits`` without the axis.

    Returns
    -------
    Array
        int32.
    """
    at = axis % logits.ndim
    rest = (*logits.shape[:at], *logits.shape[at + 1 :])
    own = rest if shape is None else tuple(shape)
    ahead = own[: len(own) - len(rest)]
    drawn = gumbel(key, (*ahead, *logits.shape))
    found = sorting.argmax(drawn + logits, axis=at - logits.ndim)
    return found.astype(np.int32)


def permutation(key: Array, x: Any) -> Array:
    """Return the elements of a vector, or the integers below ``x``, in random order."""
    own = x if isinstance(x, Array) else creation.arange(index(x), dtype="int32")
    if own.ndim != 1:
        raise InvalidArgument("permutation", "x", x, "an integer or a vector")
    rounds = math.ceil(3 * math.log(max(1, own.size)) / math.log(_MASK))
    for _ in range(rounds):
        keys = split(key)
        key = keys[0]
        own = own[sorting.argsort(bits(keys[1], own.shape))]
    return own
