"""Uniform and normal numbers, and integers, with JAX's bits."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, elementwise, manipulation, special
from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax, cast, unwrapped
from browsergpu.jax.arrays.operands import array
from browsergpu.jax.random.keys import bits, check_sharding, split

Shape = tuple[int, ...]


def shape_of(shape: Any) -> Shape:
    """Return a shape as a tuple. An integer is the length of one axis."""
    if isinstance(shape, list | tuple):
        return tuple([index(n) for n in shape])
    return (index(shape),)


def float_of(op: str, dtype: Any) -> Any:
    """Return float32 or the requested float dtype."""
    kind = dtypes.FLOAT32 if dtype is None else dtypes.dtype_of(op, dtype)
    if kind.kind != "f":
        raise InvalidType(op, "dtype", kind, "float32 or float16")
    return kind


def shape_for(op: str, shape: Any, *parameters: Any) -> Shape:
    """Return the shape of a call with array parameters, which must broadcast to it."""
    own = manipulation.broadcast_shapes(*[tuple(np.shape(x)) for x in parameters])
    if shape is None:
        return own
    given = shape_of(shape)
    if manipulation.broadcast_shapes(given, own) != given:
        raise InvalidArgument(op, "shape", given, f"one to which {own} broadcasts")
    return given


def parameter(op: str, x: Any, kind: Any, shape: Shape) -> Any:
    """Return a parameter in a dtype and a shape."""
    return as_jax(manipulation.broadcast_to(cast(array(op, x), kind), shape))


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return numbers from the uniform distribution on [minval, maxval).

    Parameters
    ----------
    key : Array
        A key.
    shape : int or tuple of int
        The shape of the result.
    dtype : dtype, optional
        float32, the default, or float16.
    minval, maxval : float or Array
        The bounds.

    Returns
    -------
    Array
        The numbers are those of JAX. With other bounds than 0 and 1, the last bit may differ.

    Raises
    ------
    InvalidType
        For another dtype.
    """
    check_sharding("uniform", out_sharding)
    kind = float_of("uniform", dtype)
    own = shape_for("uniform", shape_of(shape), minval, maxval)
    random = unwrapped(bits(key, own))
    return as_jax(_between(_fractions(random, kind), kind, minval, maxval))


def _fractions(random: Any, kind: Any) -> Any:
    """Return random bits as floats on [0, 1)."""
    if kind == dtypes.FLOAT32:
        return (random >> 9).astype(np.float32) * 2.0**-23
    return ((random & 0xFFFF) >> 6).astype(np.float16) * 2.0**-10


def _between(fraction: Any, kind: Any, minval: Any, maxval: Any) -> Any:
    if not isinstance(minval, Array) and not isinstance(maxval, Array):
        low, high = kind.type(minval), kind.type(maxval)
        return elementwise.maximum(fraction * (high - low) + low, low)
    low, high = (cast(array("uniform", x), kind) for x in (minval, maxval))
    return elementwise.maximum(as_jax(fraction) * (high - low) + low, low)


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return numbers from the standard normal distribution.

    They are those of JAX but for the rounding of the inverse error function.
    """
    check_sharding("normal", out_sharding)
    kind = dtypes.FLOAT32 if dtype is None else dtypes.dtype_of("normal", dtype)
    if kind.kind == "c":
        keys = split(key)
        parts = [normal(keys[n], shape) for n in range(2)]
        return as_jax((parts[0] + 1j * parts[1]) / math.sqrt(2))
    kind = float_of("normal", kind)
    below = float(np.nextafter(kind.type(-1), kind.type(0)))
    found = special.erfinv(uniform(key, shape, kind, below, 1.0)) * math.sqrt(2)
    return as_jax(found)


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Return numbers from the normal distribution between ``lower`` and ``upper``."""
    check_sharding("truncated_normal", out_sharding)
    kind = float_of("truncated_normal", dtype)
    own = shape_for("truncated_normal", shape, lower, upper)
    low, high = (cast(array("truncated_normal", x), kind) for x in (lower, upper))
    root = kind.type(math.sqrt(2))
    ends = [as_jax(special.erf(x / root)) for x in (low, high)]
    found = special.erfinv(uniform(key, own, kind, *ends)) * float(root)
    inside = [
        elementwise.nextafter(x.detach(), as_jax(creation.full_like(x, end)))
        for x, end in ((low, math.inf), (high, -math.inf))
    ]
    return as_jax(elementwise.minimum(elementwise.maximum(found, inside[0]), inside[1]))


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Return integers from ``minval`` to ``maxval - 1``.

    Parameters
    ----------
    key : Array
        A key.
    shape : int or tuple of int
        The shape of the result.
    minval, maxval : int or Array
        The bounds. If ``maxval`` is not larger, all results are ``minval``.
    dtype : dtype, optional
        int32, the default, or another integer dtype.

    Returns
    -------
    Array
        The numbers are those of JAX.

    Raises
    ------
    InvalidType
        If a bound is not an integer.
    """
    check_sharding("randint", out_sharding)
    kind = dtypes.INT32 if dtype is None else dtypes.dtype_of("randint", dtype)
    if kind.kind not in "iu":
        raise InvalidType("randint", "dtype", kind, "an integer dtype")
    own = shape_for("randint", shape_of(shape), minval, maxval)
    keys = split(key)
    high, low = (unwrapped(bits(keys[n], own)) for n in range(2))
    wide = kind if kind.itemsize == 4 else dtypes.INT32
    limits, sampled = np.iinfo(kind), np.iinfo(wide)
    if not isinstance(minval, Array) and not isinstance(maxval, Array):
        first, last = (_whole(x) for x in (minval, maxval))
        top = limits.max if kind.itemsize == 4 else limits.max + 1
        is_over = last > sampled.max
        first = min(max(first, limits.min), limits.max)
        last = min(max(last, limits.min), top)
        span = (last - first if last > first else 1) + (is_over and last > first)
        span &= 0xFFFFFFFF
        if not span:  # all integers of the dtype
            return cast(as_jax(low), wide)
        factor = (pow(2**16 % span, 2, 2**32)) % span
        offset = ((high % span) * factor + low % span) % span
        return cast(cast(as_jax(offset), wide) + first, kind)
    bounds = [cast(array("randint", x), wide) for x in (minval, maxval)]
    spans = elementwise.where(
        elementwise.less_equal(bounds[1], bounds[0]), 1, bounds[1] - bounds[0]
    )
    own_span = unwrapped(cast(as_jax(spans), dtypes.UINT32))
    factors = (65536 % own_span) ** 2 % own_span
    offset = ((high % own_span) * factors + low % own_span) % own_span
    return cast(cast(as_jax(offset), wide) + bounds[0], kind)


def _whole(x: Any) -> int:
    try:
        return index(x)
    except TypeError:
        raise InvalidType("randint", "minval, maxval", x, "integers") from None


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Any:
    """Return bools that are true with probability ``p``."""
    check_sharding("bernoulli", out_sharding)
    if mode not in ("high", "low"):
        raise InvalidArgument("bernoulli", "mode", mode, "'high' or 'low'")
    given = array("bernoulli", p, "p")
    if given.dtype.kind != "f":
        raise InvalidType("bernoulli", "p", given.dtype, "floats")
    own = shape_for("bernoulli", shape, given)
    if mode == "low":
        return uniform(key, own, given.dtype) < given
    drawn = uniform(key, (2, *own), given.dtype)
    return drawn[1] * 2.0 ** -np.finfo(given.dtype).nmant < given - drawn[0]


def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Return -1 and 1 with equal probabilities."""
    kind = dtypes.INT32 if dtype is None else dtypes.dtype_of("rademacher", dtype)
    drawn = bernoulli(key, 0.5, shape_of(shape), out_sharding=out_sharding)
    return cast(2 * cast(drawn, kind) - 1, kind)
