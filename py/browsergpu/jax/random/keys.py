"""Random numbers with JAX's keys.

A key is an array of two uint32, as ``jax.random.PRNGKey`` returns. The same key gives the same
numbers in each call. The bits are those of JAX with ``jax_threefry_partitionable``, its default.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011 (Threefry-2x32-20).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.checks import dimensions, product
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax, cast, unwrapped

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_MASK = 0xFFFFFFFF


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Return a key for a seed.

    Parameters
    ----------
    seed : int
        An integer. Its lowest 32 bits count, as in JAX without 64-bit types.
    impl, dtype : optional
        None or "threefry2x32".

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
    if impl not in (None, "threefry2x32") or dtype is not None:
        raise InvalidArgument("key", "impl", impl or dtype, "None or 'threefry2x32'")
    if isinstance(seed, Array):
        if seed.dtype.kind not in "iu" or seed.ndim:
            raise InvalidType("key", "seed", seed, "an integer")
        low = cast(seed, np.dtype("uint32"))
        return as_jax(manipulation.stack([elementwise.multiply(low, 0), low]))
    try:
        number = index(seed)
    except TypeError:
        raise InvalidType("key", "seed", seed, "an integer") from None
    return as_jax(creation.asarray(np.array([0, number & _MASK], np.uint32)))


PRNGKey = key


def key_data(keys: Any) -> Any:
    """Return the uint32 of keys: the keys themselves."""
    return as_jax(_checked("key_data", keys))


def wrap_key_data(key_bits_array: Any, *, impl: Any = None) -> Any:
    """Return the keys of uint32: the array itself."""
    if impl not in (None, "threefry2x32"):
        raise InvalidArgument("wrap_key_data", "impl", impl, "None or 'threefry2x32'")
    return as_jax(_checked("wrap_key_data", key_bits_array))


def key_impl(keys: Any) -> str:
    """Return "threefry2x32", the function of all keys."""
    _checked("key_impl", keys)
    return "threefry2x32"


def clone(key: Any) -> Any:
    """Return the key."""
    return as_jax(_checked("clone", key))


def _checked(op: str, keys: Any) -> Array:
    if not isinstance(keys, Array) or keys.dtype != np.uint32 or keys.shape[-1:] != (2,):
        raise InvalidType(op, "key", keys, "a key, as key(0) makes")
    return keys


def _one(op: str, keys: Any) -> tuple[Array, Array]:
    """Return the two words of one key."""
    if _checked(op, keys).ndim != 1:
        raise InvalidArgument(op, "key", keys, "a single key", "Use vmap() for several keys.")
    own = unwrapped(keys)
    return own[0], own[1]


def _rotated(x: Any, by: int) -> Any:
    return (x << by) | (x >> (32 - by))


def threefry(words: tuple[Any, Any], high: Any, low: Any) -> tuple[Any, Any]:
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
    return threefry(words, creation.zeros_like(low), low)


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
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
    return as_jax(manipulation.stack([*_encrypted("split", key, num)], axis=-1))


def fold_in(key: Any, data: Any) -> Any:
    """Return the key for a key and an integer, such as the number of a step."""
    words = _one("fold_in", key)
    if isinstance(data, Array):
        low = unwrapped(cast(data, dtypes.UINT32))
    else:
        low = creation.asarray(np.uint32(index(data) & _MASK), device=key.device)
    return as_jax(manipulation.stack([*threefry(words, elementwise.multiply(low, 0), low)]))


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return random bits, as uint32 of a shape, or as uint8 or uint16."""
    check_sharding("bits", out_sharding)
    kind = dtypes.dtype_of("bits", dtype) or dtypes.UINT32
    if kind.kind != "u":
        raise InvalidType("bits", "dtype", kind, "an unsigned integer")
    high, low = _encrypted("bits", key, shape)
    return cast(as_jax(elementwise.bitwise_xor(high, low)), kind)


def check_sharding(op: str, out_sharding: Any) -> None:
    """Raise InvalidArgument for a sharding."""
    if out_sharding is not None:
        raise InvalidArgument(op, "out_sharding", out_sharding, "None, as there is one device")
